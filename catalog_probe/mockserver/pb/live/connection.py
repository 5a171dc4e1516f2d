"""One live connection: setup, turns, and goAway before its end (1:3, 1:6)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.echo import count_tokens, echo_text
from catalog_probe.mockserver.pb import ephemeral
from catalog_probe.mockserver.pb.errors import BAD_EPHEMERAL_TOKEN, NO_SETUP, SECOND_SETUP
from catalog_probe.mockserver.pb.generation.contents import read_turn
from catalog_probe.mockserver.pb.live import lifetimes, messages
from catalog_probe.mockserver.pb.live.setup import TEXT, Setup, read_setup
from catalog_probe.mockserver.pb.scenarios import CONNECTION_AGE, CONNECTION_RESET, SESSION_AGE, raise_failure
from catalog_probe.mockserver.schema.requested_output import RequestedOutput

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from catalog_probe.mockserver.core.scenarios import ActiveScenario
    from catalog_probe.mockserver.core.sockets import Socket
    from catalog_probe.mockserver.pb.keys import Project

GOING_AWAY = 1001  # close code
SPEECH = {"mimeType": "audio/pcm;rate=24000", "data": "AAAAAAAAAAA="}  # a very short silence


class LiveConnection:
    """Serves one socket from its setup to its end."""

    def __init__(
        self, socket: Socket, version: str, project: Project, token: str | None, scenario: ActiveScenario | None
    ) -> None:
        self._socket = socket
        self._version = version
        self._project = project
        self._token = token
        self._resets = scenario is not None and scenario.name == CONNECTION_RESET
        self._opened_at = socket.now - _read_age(scenario, CONNECTION_AGE)
        self._session_began_at = socket.now - _read_age(scenario, SESSION_AGE)
        self._go_away_sent = False

    async def serve(self, first: str | bytes) -> None:
        """Answer messages until the time is up; `first` has been received already.

        Raises:
            Refusal: the client sent what it may not; it becomes the close.
            Disconnected: the client went away.
        """
        name, content = messages.read_message(first)
        if name != messages.SETUP:
            raise NO_SETUP()
        await self._set_up(content)
        while (message := await self._receive()) is not None:
            name, content = messages.read_message(message)
            await self._handlers[name](self, content)

    async def _set_up(self, content: Mapping[str, Any]) -> None:
        context = self._socket.context
        self._setup: Setup = read_setup(content, self._version, self._project, context.session, context.now)
        if not self._setup.resumed and self._token is not None:
            self._redeem(self._token)
        self._state = self._setup.state
        self._session_began_at -= lifetimes.count_carried_s(self._state.used_s, video=self._state.video)
        raise_failure(context, content["model"].removeprefix("models/"))
        await self._socket.send_json({"setupComplete": {}})
        await self._offer_resumption()

    def _redeem(self, token: str) -> None:
        """Spend one use of the ephemeral token on a new session."""
        state = ephemeral.redeem(self._socket.context.session, token, self._socket.context.now)
        if state is not ephemeral.TokenState.GOOD:
            raise BAD_EPHEMERAL_TOKEN(fault=state)

    async def _receive(self) -> str | bytes | None:
        """Return the next message, or None after closing: the time is up."""
        while True:
            end = self._find_end()
            left_s = end.at - self._socket.now
            if left_s <= lifetimes.NOTICE_S and not self._go_away_sent:
                self._go_away_sent = True
                await self.send_go_away(left_s)
            if left_s <= 0:
                await self._socket.close(GOING_AWAY, end.reason)
                return None
            try:
                return await self._socket.receive(left_s if self._go_away_sent else left_s - lifetimes.NOTICE_S)
            except TimeoutError:
                continue

    async def send_go_away(self, left_s: float) -> None:
        """Announce the end of the connection (1:6)."""
        await self._socket.send_json({"goAway": {"timeLeft": f"{max(0, left_s):.3f}s"}})

    def _find_end(self) -> lifetimes.End:
        return lifetimes.find_end(
            self._opened_at, self._session_began_at, video=self._state.video, compressed=self._setup.compressed
        )

    async def _refuse_setup(self, content: Mapping[str, Any]) -> None:
        raise SECOND_SETUP()

    async def _handle_content(self, content: Mapping[str, Any]) -> None:
        if content.get("turnComplete"):
            turns = content.get("turns", [])
            await self._respond(read_turn(turns[-1]).text if turns else "")

    async def _handle_realtime(self, content: Mapping[str, Any]) -> None:
        if messages.is_video(content):
            self._state = replace(self._state, video=True)
        if "text" in content or "activityEnd" in content or "audioStreamEnd" in content:
            await self._respond(content.get("text", "audio"))

    async def _handle_tool_results(self, content: Mapping[str, Any]) -> None:
        await self._answer("tool results")

    async def _respond(self, user_text: str) -> None:
        """Call the functions that the text names, and wait for their results; else answer."""
        functions = self._setup.tools.functions
        new_id = self._socket.context.session.new_id
        calls = [
            {"id": new_id("function-call-"), "name": name, "args": args}
            for name, args in RequestedOutput(functions, user_text=user_text).make_calls()
        ]
        if calls:
            await self._socket.send_json({"toolCall": {"functionCalls": calls}})
        else:
            await self._answer(user_text)

    async def _answer(self, user_text: str) -> None:
        """Send one turn of the model."""
        text = echo_text(user_text)
        part = {"text": text} if self._setup.modality == TEXT else {"inlineData": SPEECH}
        await self._socket.send_json({"serverContent": {"modelTurn": {"parts": [part], "role": "model"}}})
        if self._resets:
            await self._socket.abort()
        await self._socket.send_json({"serverContent": {"generationComplete": True}})
        counts = {"promptTokenCount": count_tokens(user_text), "responseTokenCount": count_tokens(text)}
        usage = {**counts, "totalTokenCount": sum(counts.values())}
        await self._socket.send_json({"serverContent": {"turnComplete": True}, "usageMetadata": usage})
        await self._offer_resumption()

    async def _offer_resumption(self) -> None:
        if not self._setup.resumable:
            return
        state = replace(self._state, used_s=self._socket.now - self._session_began_at)
        handle = lifetimes.issue_handle(self._socket.context.session, state, self._socket.now)
        await self._socket.send_json({"sessionResumptionUpdate": {"newHandle": handle, "resumable": True}})

    _handlers: Mapping[str, Callable[[LiveConnection, Mapping[str, Any]], Awaitable[None]]] = {
        messages.SETUP: _refuse_setup,
        messages.CLIENT_CONTENT: _handle_content,
        messages.REALTIME_INPUT: _handle_realtime,
        messages.TOOL_RESPONSE: _handle_tool_results,
    }


def _read_age(scenario: ActiveScenario | None, name: str) -> float:
    return float(scenario.params["age"]) if scenario is not None and scenario.name == name else 0.0
