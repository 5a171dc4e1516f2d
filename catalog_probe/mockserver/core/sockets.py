"""A WebSocket as a provider sees it: messages in and out, how old it is, and how it ends."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any, NoReturn

from catalog_probe.mockserver.core.faults import CLOSE_EXTENSION

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.world import Context

MAX_REASON = 123
"""Bytes that fit into a close frame beside its code (RFC 6455, 5.5)."""


class Gone(Exception):
    """The client is no longer there."""


class Socket:
    """One WebSocket. Its clock begins where the virtual clock of its handshake stands, and runs on from there."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self._receive = receive
        self._send = send
        self._begun = time.monotonic()

    @property
    def context(self) -> Context:
        """The context that the mock opened for the handshake."""
        context: Context = self.scope["mock"]
        return context

    @property
    def now(self) -> float:
        """The time on this socket."""
        return self.context.now + time.monotonic() - self._begun

    def put_off(self, names: Collection[str] | None = None) -> None:
        """Let what is said on the socket suffer the scenario that the handshake asked for and did not suffer.

        Of `names`, where they are given: whoever serves the socket takes those in any case.
        """
        scenario = self.context.scenario
        if scenario is not None and scenario.waits is None and (names is None or scenario.name in names):
            scenario.later = True

    async def accept(self) -> None:
        """Answer the handshake with 101."""
        await self._receive()
        await self._send({"type": "websocket.accept"})

    async def refuse(self, response: Response) -> None:
        """Answer the handshake with an HTTP response instead."""
        await self._receive()
        await response(self.scope, self._receive, self._send)

    async def hear(self, within_s: float | None = None) -> str | bytes:
        """The next message.

        Raises:
            Gone: the client closed, or was cut off.
            TimeoutError: none came in time.
        """
        async with asyncio.timeout(within_s):
            message = await self._receive()
        if message["type"] == "websocket.disconnect":
            raise Gone
        heard: str | bytes = message["bytes"] if message.get("text") is None else message["text"]
        return heard

    async def say(self, message: Any) -> None:
        """Send a JSON value as one message."""
        await self._send({"type": "websocket.send", "text": json.dumps(message, separators=(",", ":"))})

    async def close(self, code: int, reason: str) -> None:
        """Close with a code and a reason, and wait until the client has answered."""
        fitting = reason.encode()[:MAX_REASON].decode(errors="ignore")
        await self._send({"type": "websocket.close", "code": code, "reason": fitting})
        while (await self._receive())["type"] != "websocket.disconnect":
            pass

    async def drop(self) -> NoReturn:
        """Cut the client off without a word, as a network does.

        Raises:
            Gone: it is.
        """
        self.scope["extensions"][CLOSE_EXTENSION]["close"]()
        raise Gone
