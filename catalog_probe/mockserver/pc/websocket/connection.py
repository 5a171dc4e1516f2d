"""One socket: the responses created on it one after the other, and what a client may do to the one being made (1:6)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.world import SCENARIO_HEADER
from catalog_probe.mockserver.pc.causes import raise_failure
from catalog_probe.mockserver.pc.errors import RESPONSE_ALREADY_COMPLETED, RESPONSE_UNKNOWN_HERE, PcError
from catalog_probe.mockserver.pc.generation import response_stream
from catalog_probe.mockserver.pc.generation.answering import answer
from catalog_probe.mockserver.pc.generation.response_request import text_of
from catalog_probe.mockserver.pc.limits import rates
from catalog_probe.mockserver.pc.websocket import messages
from catalog_probe.mockserver.pc.websocket.frames import frame, limit_reached, told
from catalog_probe.mockserver.pc.websocket.lane import Known, Made, succeeding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.mockserver.core.sockets import Socket
    from catalog_probe.mockserver.core.world import Context, World
    from catalog_probe.mockserver.pc.call import Call

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
        self._known = Known(call)
        self._waiting: list[Mapping[str, Any]] = []
        self._sequence = 0

    async def serve(self) -> None:
        """Answer messages.

        Raises:
            Gone: the client left.
        """
        while True:
            left_s = self._opened_at + LIMIT_S - self._socket.now
            if left_s <= 0:
                await self._socket.say(frame(limit_reached()))
                await self._socket.close(*LIMIT_CLOSE)
                return
            message = self._waiting.pop(0) if self._waiting else await self._heard(left_s)
            if message is not None:
                await self._obey(message)

    async def _heard(self, within_s: float) -> dict[str, Any] | None:
        """The next message, or None where none came in time, or one that was no good."""
        try:
            return messages.read(await self._socket.hear(within_s))
        except TimeoutError:
            return None
        except PcError as error:
            await self._socket.say(frame(error))
            return None

    async def _obey(self, message: Mapping[str, Any], active: Made | None = None) -> None:
        """Do what a message asks for; one that must wait until the active response is done is put by."""
        try:
            match message["type"]:
                case messages.CREATE if active is not None:
                    self._waiting.append(message)
                case messages.CREATE:
                    await self._create(messages.response_of(message))
                case messages.STEER:
                    await self._steer(message)
                case messages.INJECT:
                    await self._inject(message)
        except PcError as error:
            await self._socket.say(frame(error))

    async def _create(self, asked: Mapping[str, Any]) -> None:
        """Make a response, and the one that continues it where it was steered."""
        made = await self._begun(asked)
        while made is not None:
            await self._stream(*made)
            steered, _ = made
            made = await self._begun(succeeding(steered)) if steered.steered is not None else None

    async def _begun(self, asked: Mapping[str, Any]) -> tuple[Made, PcError | None] | None:
        """A response admitted as over HTTP, with what ends its stream early; None where the mock was misused."""
        call = replace(self._call, context=self._next_context(), meters={})
        body = dict(asked)
        await self._suffer_fault(call.context)
        raise_failure(call.context)
        rates.count(call, body)
        made = answer(call, body, self._known.own, streamed=True)
        ignored = call.context.ignored
        if ignored is not None:
            await self._socket.say({"mock_error": f"scenario {ignored!r} has nothing to act on here"})
            return None
        return Made(call, body, made.response), made.failure

    def _next_context(self) -> Context:
        """The context of one more request; the first suffers what the handshake was asked to, and did not suffer."""
        handshake = self._socket.context
        held = handshake.scenario
        if held is None or not held.later:
            return self._world.open("pc", COUNTED_AS, handshake.said)
        handshake.scenario = None
        said = {name: value for name, value in handshake.said.items() if name != SCENARIO_HEADER}
        context = self._world.open("pc", COUNTED_AS, said)
        context.scenario = held
        return context

    async def _suffer_fault(self, context: Context) -> None:
        fault = context.take("latency", "hang", "close_without_answer")
        if fault is None:
            return
        if fault.name == "close_without_answer":
            await self._socket.drop()
        await asyncio.sleep(fault.params["ms"] / 1000 if fault.name == "latency" else float("inf"))

    async def _stream(self, made: Made, failure: PcError | None) -> None:
        self._known.begin(made)
        try:
            if failure is not None:
                await self._fail(made, failure)
                return
            for event in response_stream.begun(made.response):
                await self._tell(event)
            for index, item in enumerate(made.response["output"]):
                if item["type"] == "function_call":
                    await self._tell_all(response_stream.of_call(item, index))
                else:
                    await self._say(made, item, index)
            self._known.end(made)
            await self._tell(response_stream.end(made.response))
        finally:
            if made.active:
                self._known.end(made, failed=True)

    async def _say(self, made: Made, item: Mapping[str, Any], index: int) -> None:
        """Say word by word what there is to say, hearing the client in between."""
        said = ""
        await self._tell_all(response_stream.opening(item, index))
        for word in made.words():
            await self._listen(made)
            if made.steered is not None:
                made.cut(said)
                break
            said += word
            await self._tell(response_stream.delta(item, index, word))
        await self._tell_all(response_stream.closing(made.response["output"][index], index))

    async def _fail(self, made: Made, failure: PcError) -> None:
        """What fails after it has begun; the error is nested here, unlike that of a stream over HTTP."""
        for event in response_stream.failing(made.response, failure):
            if event["type"] == "error":
                failure.code = event["code"]
                await self._socket.say(frame(failure))
            else:
                await self._tell(event)

    async def _listen(self, made: Made) -> None:
        message = await self._heard(PACE_S)
        if message is not None:
            await self._obey(message, made)

    async def _steer(self, message: Mapping[str, Any]) -> None:
        """Take in what the client would rather hear about; the response then ends as incomplete (1:6)."""
        made = self._known.active(message["previous_response_id"])
        if made is None:
            given = {name: message[name] for name in ("previous_response_id", "input")}
            error = self._refused(message["previous_response_id"])
            await self._tell({"type": "response.steer.failed", "error": error, "steer": given})
            return
        made.steered = text_of(message["input"])
        steer = {"id": self._socket.context.session.new_id("steer_"), "previous_response_id": made.id}
        await self._tell({"type": "response.steer.accepted", "steer": steer})

    async def _inject(self, message: Mapping[str, Any]) -> None:
        """Hand items to the response that is being made; one that is done takes none (1:6, 2:7.5)."""
        made = self._known.active(message["response_id"])
        if made is None:
            given = {name: message[name] for name in ("response_id", "input")}
            refused = self._refused(message["response_id"])
            await self._tell({"type": messages.INJECT_FAILED, "error": refused, **given})
            return
        made.injected.append(text_of(message["input"]))
        await self._tell({"type": "response.inject.created", "response_id": made.id})

    async def _tell_all(self, events: Iterable[Mapping[str, Any]]) -> None:
        for event in events:
            await self._tell(event)

    async def _tell(self, event: Mapping[str, Any]) -> None:
        await self._socket.say({**event, "sequence_number": self._sequence})
        self._sequence += 1

    def _refused(self, response_id: str) -> dict[str, Any]:
        """Why a response takes nothing more: it is done, or there is none."""
        if self._known.has(response_id):
            return told(RESPONSE_ALREADY_COMPLETED("The response has already completed."))
        return told(RESPONSE_UNKNOWN_HERE("There is no such response on this socket."))
