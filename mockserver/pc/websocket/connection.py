"""One socket: the responses created on it one after the other, and what a client may do to the one being made (1:6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mockserver.pc.errors import RESPONSE_ALREADY_COMPLETED, RESPONSE_UNKNOWN_HERE, PcError
from mockserver.pc.response_request import check_response, text_of
from mockserver.pc.websocket import messages
from mockserver.pc.websocket.frames import frame, limit_reached, response_not_found, told
from mockserver.pc.websocket.lane import Known, Made
from mockserver.pc.websocket.model import pieces

if TYPE_CHECKING:
    from mockserver.pc.call import Call
    from mockserver.sockets import Socket

LIMIT_S = 60 * 60
"""How long a socket may be open (2:8.1)."""

PACE_S = 0.002
"""Between two pieces of a response the model takes a breath, in which it hears what its client says."""

LIMIT_CLOSE = (1000, "the socket has reached its limit of 60 minutes")
"""The documents do not say how the socket ends; they only say to open a new one."""


class Connection:
    """Serves one socket until its client leaves, or its time is up."""

    def __init__(self, socket: Socket, call: Call, age_s: float) -> None:
        self._socket = socket
        self._call = call
        self._opened_at = socket.now - age_s
        self._known = Known(call.session, call.project)
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
        check_response(self._call, asked)
        previous = asked.get("previous_response_id")
        if previous is not None and not self._known.has(previous):
            raise response_not_found(previous)
        await self._make(asked)

    async def _make(self, asked: Mapping[str, Any]) -> None:
        """Make a response, and the one that continues it where it was steered."""
        made: Made | None = self._begun(asked)
        while made is not None:
            await self._stream(made)
            made = self._successor(made)

    def _begun(self, asked: Mapping[str, Any]) -> Made:
        session = self._socket.context.session
        made = Made(
            id=session.new_id("resp_", 32),
            item_id=session.new_id("msg_", 32),
            asked=asked,
            heard=text_of(asked.get("input", "")),
            created_at=int(self._socket.now),
        )
        self._known.begin(made)
        return made

    def _successor(self, made: Made) -> Made | None:
        if made.steered is None:
            return None
        return self._begun({**made.asked, "input": made.steered, "previous_response_id": made.id})

    async def _stream(self, made: Made) -> None:
        at = {"output_index": 0, "item_id": made.item_id, "content_index": 0}
        await self._tell("response.created", response=made.on_the_wire())
        await self._tell("response.in_progress", response=made.on_the_wire())
        await self._tell("response.output_item.added", output_index=0, item=made.item())
        await self._tell("response.content_part.added", **at, part=made.part())
        await self._speak(made, at)
        self._known.store(made)
        await self._tell("response.output_text.done", **at, text=made.text, logprobs=[])
        await self._tell("response.content_part.done", **at, part=made.part())
        await self._tell("response.output_item.done", output_index=0, item=made.item())
        await self._tell(f"response.{made.status}", response=made.on_the_wire())

    async def _speak(self, made: Made, at: Mapping[str, Any]) -> None:
        """Say piece by piece what there is to say, hearing the client in between."""
        for piece in pieces(made.heard):
            await self._listen(made)
            if made.steered is not None:
                made.end("steered")
                return
            if made.over_budget():
                made.end("max_output_tokens")
                return
            made.text += piece
            await self._tell("response.output_text.delta", **at, delta=piece, logprobs=[])
        made.end()

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
            await self._tell("response.steer.failed", error=error, steer=given)
            return
        made.steered = text_of(message["input"])
        steer = {"id": self._socket.context.session.new_id("steer_"), "previous_response_id": made.id}
        await self._tell("response.steer.accepted", steer=steer)

    async def _inject(self, message: Mapping[str, Any]) -> None:
        """Hand items to the response that is being made; one that is done takes none (1:6, 2:7.5)."""
        made = self._known.active(message["response_id"])
        if made is None:
            given = {name: message[name] for name in ("response_id", "input")}
            await self._tell("response.inject.failed", error=self._refused(message["response_id"]), **given)
            return
        made.injected.append(text_of(message["input"]))
        await self._tell("response.inject.created", response_id=made.id)

    async def _tell(self, event: str, **fields: Any) -> None:
        await self._socket.say({"type": event, "sequence_number": self._sequence, **fields})
        self._sequence += 1

    def _refused(self, response_id: str) -> dict[str, Any]:
        """Why a response takes nothing more: it is done, or there is none."""
        if self._known.has(response_id):
            return told(RESPONSE_ALREADY_COMPLETED("The response has already completed."))
        return told(RESPONSE_UNKNOWN_HERE("There is no such response on this socket."))
