"""PC's WebSocket mode of responses: path, key, messages and steering (1:4.3, 1:6)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from starlette.requests import HTTPConnection

from catalog_probe.mockserver.core import bodies
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.faults import ENDPOINT
from catalog_probe.mockserver.core.generation import (
    count_tokens,
    make_call_events,
    make_message_end,
    make_message_start,
    make_response_end,
    make_response_start,
    make_text_delta,
)
from catalog_probe.mockserver.core.sessions import BoundedStore
from catalog_probe.mockserver.core.sockets import Disconnected, Socket
from catalog_probe.mockserver.core.world import SCENARIO_HEADER
from catalog_probe.mockserver.pc import limits
from catalog_probe.mockserver.pc.call import Call, check_object
from catalog_probe.mockserver.pc.errors import (
    INVALID_JSON,
    RESPONSE_ALREADY_COMPLETED,
    RESPONSE_UNKNOWN_HERE,
    UNKNOWN_URL,
    WEBSOCKET_CONNECTION_LIMIT_REACHED,
    envelope,
    error_message,
    make_response,
)
from catalog_probe.mockserver.pc.fields import CREATE_EVENT, EVENT, EVENTS, INJECT_EVENT, STEER_EVENT
from catalog_probe.mockserver.pc.gateway import authenticate
from catalog_probe.mockserver.pc.generation import text_of
from catalog_probe.mockserver.pc.responses import (
    Body,
    generate_response,
    make_failing_events,
    output_text,
    store,
    stored_responses,
)
from catalog_probe.mockserver.pc.scenarios import SESSION_AGE, raise_failure, refuse_region

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.world import Context, World


SOCKET_FIELDS = ("type", "stream_id", "generate")  # fields of response.create that POST /v1/responses does not have


def read_message(raw: str | bytes) -> dict[str, Any]:
    """Read a message.

    Raises:
        Refusal: it is no JSON, has an unknown type, or breaks the table of its type.
    """
    try:
        value = bodies.loads(raw)
    except ValueError as error:
        raise INVALID_JSON(reason=error) from None
    message = check_object(value, EVENT)
    table = EVENTS.get(message["type"])
    return message if table is None else check_object(message, table)


def read_response_body(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of POST /v1/responses that a response.create stands for."""
    return {name: value for name, value in message.items() if name not in SOCKET_FIELDS}


_WORD = re.compile(r"\S+\s*|\s+")
STEERED = "steered"


@dataclass
class SocketResponse:
    """A response. `new_input` is the input with which the client steers it."""

    call: Call
    request_body: Body
    body: Body
    active: bool = True
    new_input: str | None = None

    @property
    def id(self) -> str:
        return str(self.body["id"])

    def words(self) -> Iterator[str]:
        """Yield the words of its text."""
        return (match[0] for match in _WORD.finditer(output_text(self.body)))

    def truncate(self, text: str) -> None:
        """End it as incomplete: it was steered after this text (1:3)."""
        (item,) = self.body["output"]
        part = {**item["content"][0], "text": text}
        usage = {**self.body["usage"], "output_tokens": count_tokens(text)}
        usage["total_tokens"] = usage["input_tokens"] + usage["output_tokens"]
        self.body |= {
            "status": "incomplete",
            "incomplete_details": {"reason": STEERED},
            "output": [{**item, "status": "incomplete", "content": [part]}],
            "usage": usage,
        }

    def make_successor(self) -> Mapping[str, Any]:
        """Return the request body of the response that continues it after steering."""
        return {**self.request_body, "input": self.new_input, "previous_response_id": self.id}


@dataclass
class SocketResponses:
    """The active responses of a WebSocket, and those that are done, stored or not."""

    call: Call
    active: dict[str, SocketResponse] = field(default_factory=dict)
    done: BoundedStore[str, Body] = field(default_factory=BoundedStore)

    def begin(self, response: SocketResponse) -> None:
        """Add an active response."""
        self.active[response.id] = response

    def end(self, response: SocketResponse, *, failed: bool = False) -> None:
        """End a response; one that did not fail can be continued."""
        response.active = False
        del self.active[response.id]
        if not failed:
            self.done[response.id] = response.body
            store(response.call, response.request_body, response.body)

    def has(self, response_id: str) -> bool:
        """Return whether a response of this id is done."""
        return response_id in self.done or response_id in stored_responses(self.call)


INJECT_FAILED = "response.inject.failed"
"""1:6: "emitted when response.inject targets a response that already completed"."""

COUNTED_AS = "WS /pc/v1/responses response.create"  # in the list of requests
LIMIT_S = 60 * 60  # that a socket may be open (2:8.1)
PACE_S = 0.002  # between two words, in which a message of the client is received

LIMIT_CLOSE = (1000, "the socket has reached its limit of 60 minutes")
"""Close code and reason: the documents only say to open a new socket."""


class ResponsesConnection:
    """Serves one socket until its client leaves or its time is up.

    Args:
        call: the handshake, authenticated.
        age_s: how long the socket has been open before, by a scenario.
    """

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
            message = self._waiting.pop(0) if self._waiting else await self._receive(left_s)
            if message is not None:
                await self._handle(message)

    async def _receive(self, timeout_s: float) -> dict[str, Any] | None:
        """Return the next message; None after a timeout or an invalid one."""
        try:
            return read_message(await self._socket.receive(timeout_s))
        except TimeoutError:
            return None
        except Refusal as refusal:
            await self._refuse(refusal)
            return None

    async def _refuse(self, refusal: Refusal) -> None:
        await self._socket.send_json(error_message(refusal))

    async def _handle(self, message: Mapping[str, Any], active: SocketResponse | None = None) -> None:
        """Handle a message; response.create waits until the active response is done."""
        kind = message["type"]
        try:
            if kind == STEER_EVENT:
                await self._steer(message)
            elif kind == INJECT_EVENT:
                await self._inject(message)
            elif kind == CREATE_EVENT and active is not None:
                self._waiting.append(message)
            else:
                await self._create(read_response_body(message))
        except Refusal as refusal:
            await self._refuse(refusal)

    async def _create(self, request_body: Mapping[str, Any]) -> None:
        """Make a response, and the one that continues it if it was steered."""
        started = await self._start(request_body)
        while started is not None:
            response, failure = started
            await self._send_response(response, failure)
            started = await self._start(response.make_successor()) if response.new_input is not None else None

    async def _start(self, request_body: Mapping[str, Any]) -> tuple[SocketResponse, Refusal | None] | None:
        """Admit and generate a response as over HTTP.

        Returns:
            The response and the failure of its stream, if any; None after a misuse of the mock.
        """
        request = cast("Request", HTTPConnection({**self._call.request.scope, "mock": self._open_context()}))
        call = replace(self._call, request=request, shown_buckets={})
        body = dict(request_body)
        await self._apply_fault(call.context)
        raise_failure(call.context)
        fault = call.context.take_fault(ENDPOINT, PATH)
        if fault is not None:
            raise fault
        limits.count_request(call, body)
        generated = generate_response(call, body, self._responses.done, streamed=True)
        scenario_name = call.context.release_scenario()
        if scenario_name is not None:
            await self._socket.send_json({"mock_error": f"scenario {scenario_name!r} has nothing to act on here"})
            return None
        return SocketResponse(call, body, generated.response), generated.failure

    def _open_context(self) -> Context:
        """Return the context of a request; the first has the handshake's scenario."""
        handshake = self._socket.context
        scenario = handshake.scenario
        if scenario is None or not scenario.deferred:
            return self._world.open_context("pc", COUNTED_AS, handshake.mock_headers)
        handshake.scenario = None
        headers = {name: value for name, value in handshake.mock_headers.items() if name != SCENARIO_HEADER}
        context = self._world.open_context("pc", COUNTED_AS, headers)
        context.scenario = scenario
        return context

    async def _apply_fault(self, context: Context) -> None:
        fault = context.take("latency", "hang", "close_without_answer")
        if fault is None:
            return
        if fault.name == "close_without_answer":
            await self._socket.abort()
        await asyncio.sleep(fault.params["ms"] / 1000 if fault.name == "latency" else float("inf"))

    async def _send_response(self, response: SocketResponse, failure: Refusal | None) -> None:
        self._responses.begin(response)
        try:
            if failure is not None:
                await self._fail(response, failure)
                return
            await self._send_events(make_response_start(response.body))
            for index, item in enumerate(response.body["output"]):
                if item["type"] == "function_call":
                    await self._send_events(make_call_events(item, index))
                else:
                    await self._send_text(response, item, index)
            self._responses.end(response)
            await self._send_events([make_response_end(response.body)])
        finally:
            if response.active:
                self._responses.end(response, failed=True)

    async def _send_text(self, response: SocketResponse, item: Mapping[str, Any], index: int) -> None:
        """Send a message word by word, and handle the client's messages in between."""
        text = ""
        await self._send_events(make_message_start(item, index))
        for word in response.words():
            message = await self._receive(PACE_S)
            if message is not None:
                await self._handle(message, response)
            if response.new_input is not None:
                response.truncate(text)
                break
            text += word
            await self._send_events([make_text_delta(item, index, word)])
        await self._send_events(make_message_end(response.body["output"][index], index))

    async def _fail(self, response: SocketResponse, failure: Refusal) -> None:
        """Send the events of a failing response, its error nested."""
        for event in make_failing_events(response.body, failure):
            if event["type"] == "error":
                row = replace(failure.row, code=event["code"])
                await self._refuse(Refusal(row, failure.message, failure.param, extra=failure.extra))
            else:
                await self._send_events([event])

    async def _steer(self, message: Mapping[str, Any]) -> None:
        """Steer the active response, which then ends as incomplete (1:6)."""
        response_id = message["previous_response_id"]
        response = self._responses.active.get(response_id)
        if response is None:
            echo = {"previous_response_id": response_id, "input": message["input"]}
            error = self._describe_inactive(response_id)
            await self._send_events([{"type": "response.steer.failed", "error": error, "steer": echo}])
            return
        response.new_input = text_of(message["input"])
        steer = {"id": self._socket.context.session.new_id("steer_"), "previous_response_id": response_id}
        await self._send_events([{"type": "response.steer.accepted", "steer": steer}])

    async def _inject(self, message: Mapping[str, Any]) -> None:
        """Accept items for the active response, but not for one that is done (1:6, 2:7.5)."""
        response_id = message["response_id"]
        if response_id in self._responses.active:
            await self._send_events([{"type": "response.inject.created", "response_id": response_id}])
            return
        echo = {"response_id": response_id, "input": message["input"]}
        await self._send_events([{"type": INJECT_FAILED, "error": self._describe_inactive(response_id), **echo}])

    async def _send_events(self, events: Iterable[Mapping[str, Any]]) -> None:
        for event in events:
            await self._socket.send_json({**event, "sequence_number": self._sequence})
            self._sequence += 1

    def _describe_inactive(self, response_id: str) -> dict[str, Any]:
        """Return the error for a response that is done or unknown."""
        is_done = self._responses.has(response_id)
        error: dict[str, Any] = envelope((RESPONSE_ALREADY_COMPLETED if is_done else RESPONSE_UNKNOWN_HERE)())["error"]
        return error


PATH = "/v1/responses"  # the documents show no path; clients connect to the one that creates responses over HTTP


class ResponsesSocketApp:
    """The ASGI app of PC's WebSockets."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket until it ends."""
        socket = Socket(scope, receive, send)
        # A call reads headers and context of its request; a handshake has both.
        request = cast("Request", HTTPConnection(scope))
        call = Call(request=request, header_prefix=self._world.settings["pc"]["header_prefix"])
        try:
            if scope["path"].removeprefix(scope.get("root_path", "")) != PATH:
                raise UNKNOWN_URL()
            authenticate(call)
            refuse_region(call.context)
        except Refusal as refusal:
            await socket.refuse(make_response(refusal))
            return
        scenario = socket.context.take(SESSION_AGE)
        socket.defer_scenario()
        await socket.accept()
        with suppress(Disconnected):
            await ResponsesConnection(
                socket, call, self._world, float(scenario.params["age"]) if scenario else 0.0
            ).serve()
