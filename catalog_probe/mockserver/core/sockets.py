"""A WebSocket as a provider sees it: messages, its clock, and how it ends."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any, NoReturn

from catalog_probe.mockserver.core.arrivals import read_shown_body
from catalog_probe.mockserver.core.world import CLOSE_EXTENSION

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.world import Context

MAX_REASON = 123  # bytes of a close frame beside its code (RFC 6455, 5.5)


class Disconnected(Exception):
    """The client is no longer there."""


class Socket:
    """One WebSocket; its clock starts at the time of its handshake."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self._receive = receive
        self._send = send
        self._opened_at = time.monotonic()

    @property
    def context(self) -> Context:
        """The context that the mock opened for the handshake."""
        context: Context = self.scope["mock"]
        return context

    @property
    def now(self) -> float:
        """The time on this socket, in seconds since the epoch."""
        return self.context.now + time.monotonic() - self._opened_at

    def defer_scenario(self, names: Collection[str] | None = None) -> None:
        """Let messages, not the handshake, act on the scenario of the handshake.

        With `names`, only on one of these. A queued scenario stays with the handshake, which gives it back.
        """
        scenario = self.context.scenario
        if scenario is not None and scenario.queued is None and (names is None or scenario.name in names):
            scenario.deferred = True

    async def accept(self) -> None:
        """Answer the handshake with 101."""
        await self._receive()
        await self._send({"type": "websocket.accept"})

    async def refuse(self, response: Response) -> None:
        """Answer the handshake with an HTTP response instead."""
        await self._receive()
        await response(self.scope, self._receive, self._send)

    async def receive(self, within_s: float | None = None) -> str | bytes:
        """Return the next message.

        Raises:
            Disconnected: the client closed, or was cut off.
            TimeoutError: none came in time.
        """
        async with asyncio.timeout(within_s):
            event = await self._receive()
        if event["type"] == "websocket.disconnect":
            raise Disconnected
        message: str | bytes = event["bytes"] if event.get("text") is None else event["text"]
        self._note(message)
        return message

    def _note(self, message: str | bytes) -> None:
        arrivals = self.context.session.arrivals
        if arrivals is not None:
            path = self.scope["path"].removeprefix(self.scope.get("root_path", ""))
            prefix = self.scope.get("root_path", "").lstrip("/").partition("@")[0].partition("~")[0]
            arrival = arrivals.add(f"WS /{prefix}{path} message")
            arrival.body = read_shown_body(message.encode() if isinstance(message, str) else message)

    async def send_json(self, message: Any) -> None:
        """Send a JSON value as one message."""
        await self._send({"type": "websocket.send", "text": json.dumps(message, separators=(",", ":"))})

    async def close(self, code: int, reason: str) -> None:
        """Close with a code and a reason, and wait until the client has answered."""
        fitting = reason.encode()[:MAX_REASON].decode(errors="ignore")
        await self._send({"type": "websocket.close", "code": code, "reason": fitting})
        while (await self._receive())["type"] != "websocket.disconnect":
            pass

    async def abort(self) -> NoReturn:
        """Close the connection without a close frame, as a broken network does.

        Raises:
            Disconnected: always.
        """
        self.scope["extensions"][CLOSE_EXTENSION]["close"]()
        raise Disconnected
