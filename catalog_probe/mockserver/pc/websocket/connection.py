"""One socket: the responses created on it one after the other, and what a client may do to the one being made (1:6)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from starlette.requests import HTTPConnection

from catalog_probe.mockserver.core.completions import (
    make_call_events,
    make_message_end,
    make_message_start,
    make_response_end,
    make_response_start,
    make_text_delta,
)
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.world import SCENARIO_HEADER
from catalog_probe.mockserver.pc.causes import raise_failure
from catalog_probe.mockserver.pc.envelopes import envelope, error_message
from catalog_probe.mockserver.pc.errors import (
    RESPONSE_ALREADY_COMPLETED,
    RESPONSE_UNKNOWN_HERE,
    WEBSOCKET_CONNECTION_LIMIT_REACHED,
)
from catalog_probe.mockserver.pc.fields import CREATE_EVENT, INJECT_EVENT, STEER_EVENT
from catalog_probe.mockserver.pc.generation.failing import failing_events
from catalog_probe.mockserver.pc.generation.inputs import text_of
from catalog_probe.mockserver.pc.generation.response import answer
from catalog_probe.mockserver.pc.limits import rates
from catalog_probe.mockserver.pc.websocket.messages import read_message, response_asked_by
from catalog_probe.mockserver.pc.websocket.responses import SocketResponse, SocketResponses

if TYPE_CHECKING:
    from starlette.requests import Request

    from catalog_probe.mockserver.core.sockets import Socket
    from catalog_probe.mockserver.core.world import Context, World
    from catalog_probe.mockserver.pc.call import Call

INJECT_FAILED = "response.inject.failed"
"""1:6: "emitted when response.inject targets a response that already completed"."""

COUNTED_AS = "WS /pc/v1/responses response.create"

LIMIT_S = 60 * 60
"""How long a socket may be open (2:8.1)."""

PACE_S = 0.002
"""Between two pieces of a response the model takes a breath, in which it hears what its client says."""

LIMIT_CLOSE = (1000, "the socket has reached its limit of 60 minutes")
"""The documents do not say how the socket ends; they only say to open a new one."""


class Connection:
    """Serves one socket until its client leaves, or its time is up."""

    def __init__(self, socket: Socket, call: Call, world: World, age_s: float) -> None:
        self._socket = socket
        self._call = call
        self._world = world
        self._opened_at = socket.now - age_s
        self._responses = SocketResponses(call)
        self._waiting: list[Mapping[str, Any]] = []
        self._sequence = 0

    async def serve(self) -> None:
        """Answer messages.

        Raises:
            Disconnected: the client left.
        """
        while True:
            left_s = self._opened_at + LIMIT_S - self._socket.now
            if left_s <= 0:
                await self._refuse(WEBSOCKET_CONNECTION_LIMIT_REACHED())
                await self._socket.close(*LIMIT_CLOSE)
                return
            message = self._waiting.pop(0) if self._waiting else await self._hear(left_s)
            if message is not None:
                await self._obey(message)

    async def _hear(self, within_s: float) -> dict[str, Any] | None:
        """The next message, or None where none came in time, or one that was no good."""
        try:
            return read_message(await self._socket.receive(within_s))
        except TimeoutError:
            return None
        except Refusal as refusal:
            await self._refuse(refusal)
            return None

    async def _refuse(self, refusal: Refusal) -> None:
        await self._socket.send_json(error_message(refusal))

    async def _obey(self, message: Mapping[str, Any], active: SocketResponse | None = None) -> None:
        """Do what a message asks for; one that must wait until the active response is done is put by."""
        kind = message["type"]
        try:
            if kind == STEER_EVENT:
                await self._steer(message)
            elif kind == INJECT_EVENT:
                await self._inject(message)
            elif kind == CREATE_EVENT and active is not None:
                self._waiting.append(message)
            else:
                await self._create(response_asked_by(message))
        except Refusal as refusal:
            await self._refuse(refusal)

    async def _create(self, request_body: Mapping[str, Any]) -> None:
        """Make a response, and the one that continues it where it was steered."""
        begun = await self._begin(request_body)
        while begun is not None:
            response, failure = begun
            await self._tell_response(response, failure)
            begun = await self._begin(response.successor()) if response.new_input is not None else None

    async def _begin(self, request_body: Mapping[str, Any]) -> tuple[SocketResponse, Refusal | None] | None:
        """A response admitted as over HTTP, with what ends its stream early; None where the mock was misused."""
        request = cast("Request", HTTPConnection({**self._call.request.scope, "mock": self._next_context()}))
        call = replace(self._call, request=request, meters={})
        body = dict(request_body)
        await self._suffer_fault(call.context)
        raise_failure(call.context)
        rates.count_request(call, body)
        answered = answer(call, body, self._responses.own, streamed=True)
        ignored = call.context.release_scenario()
        if ignored is not None:
            await self._socket.send_json({"mock_error": f"scenario {ignored!r} has nothing to act on here"})
            return None
        return SocketResponse(call, body, answered.response), answered.failure

    def _next_context(self) -> Context:
        """The context of one more request; the first suffers what the handshake was asked to, and did not suffer."""
        handshake = self._socket.context
        scenario = handshake.scenario
        if scenario is None or not scenario.deferred:
            return self._world.open_context("pc", COUNTED_AS, handshake.mock_headers)
        handshake.scenario = None
        headers = {name: value for name, value in handshake.mock_headers.items() if name != SCENARIO_HEADER}
        context = self._world.open_context("pc", COUNTED_AS, headers)
        context.scenario = scenario
        return context

    async def _suffer_fault(self, context: Context) -> None:
        fault = context.take("latency", "hang", "close_without_answer")
        if fault is None:
            return
        if fault.name == "close_without_answer":
            await self._socket.abort()
        await asyncio.sleep(fault.params["ms"] / 1000 if fault.name == "latency" else float("inf"))

    async def _tell_response(self, response: SocketResponse, failure: Refusal | None) -> None:
        self._responses.begin(response)
        try:
            if failure is not None:
                await self._fail(response, failure)
                return
            await self._tell_all(make_response_start(response.body))
            for index, item in enumerate(response.body["output"]):
                if item["type"] == "function_call":
                    await self._tell_all(make_call_events(item, index))
                else:
                    await self._say(response, item, index)
            self._responses.end(response)
            await self._tell_all([make_response_end(response.body)])
        finally:
            if response.active:
                self._responses.end(response, failed=True)

    async def _say(self, response: SocketResponse, item: Mapping[str, Any], index: int) -> None:
        """Say word by word what there is to say, hearing the client in between."""
        text = ""
        await self._tell_all(make_message_start(item, index))
        for word in response.words():
            message = await self._hear(PACE_S)
            if message is not None:
                await self._obey(message, response)
            if response.new_input is not None:
                response.cut(text)
                break
            text += word
            await self._tell_all([make_text_delta(item, index, word)])
        await self._tell_all(make_message_end(response.body["output"][index], index))

    async def _fail(self, response: SocketResponse, failure: Refusal) -> None:
        """Tell what fails after it has begun; the error is nested here, unlike that of a stream over HTTP."""
        for event in failing_events(response.body, failure):
            if event["type"] == "error":
                coded = replace(failure.row, code=event["code"])
                await self._refuse(Refusal(coded, failure.message, failure.param, extra=failure.extra))
            else:
                await self._tell_all([event])

    async def _steer(self, message: Mapping[str, Any]) -> None:
        """Take in what the client would rather hear about; the response then ends as incomplete (1:6)."""
        response_id = message["previous_response_id"]
        response = self._responses.active.get(response_id)
        if response is None:
            echo = {"previous_response_id": response_id, "input": message["input"]}
            error = self._refusal_of(response_id)
            await self._tell_all([{"type": "response.steer.failed", "error": error, "steer": echo}])
            return
        response.new_input = text_of(message["input"])
        steer = {"id": self._socket.context.session.new_id("steer_"), "previous_response_id": response_id}
        await self._tell_all([{"type": "response.steer.accepted", "steer": steer}])

    async def _inject(self, message: Mapping[str, Any]) -> None:
        """Take items into the response that is being made; one that is done takes none (1:6, 2:7.5)."""
        response_id = message["response_id"]
        if response_id in self._responses.active:
            await self._tell_all([{"type": "response.inject.created", "response_id": response_id}])
            return
        echo = {"response_id": response_id, "input": message["input"]}
        await self._tell_all([{"type": INJECT_FAILED, "error": self._refusal_of(response_id), **echo}])

    async def _tell_all(self, events: Iterable[Mapping[str, Any]]) -> None:
        for event in events:
            await self._socket.send_json({**event, "sequence_number": self._sequence})
            self._sequence += 1

    def _refusal_of(self, response_id: str) -> dict[str, Any]:
        """Why a response takes nothing more: it is done, or there is none."""
        is_done = self._responses.has(response_id)
        error: dict[str, Any] = envelope((RESPONSE_ALREADY_COMPLETED if is_done else RESPONSE_UNKNOWN_HERE)())["error"]
        return error
