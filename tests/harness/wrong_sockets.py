"""A provider with wrong WebSockets: the mock, with its messages edited on the way."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.core.world import CLOSE_EXTENSION

SpoilMessage = Callable[[Message, Send, Scope], Awaitable[None]]
"""Takes each ASGI message of the server, the `send` to the client, and the scope of the WebSocket."""


class WrongSockets:
    """The mock with every message of its WebSockets handed to `spoil`; its HTTP stays as it is."""

    def __init__(self, spoil: SpoilMessage) -> None:
        self._mock = create_app()
        self._spoil = spoil

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        closed = False

        async def send_until_closed(message: Message) -> None:
            nonlocal closed
            if not closed:
                closed = message["type"] == "websocket.close"
                await send(message)

        async def spoil_and_send(message: Message) -> None:
            await self._spoil(message, send_until_closed, scope)

        await self._mock(scope, receive, spoil_and_send if scope["type"] == "websocket" else send)


def edit_messages(kind: str, change: Callable[[Message], Message | None]) -> SpoilMessage:
    """Change the messages of one ASGI type; None drops a message."""

    async def spoil(message: Message, send: Send, scope: Scope) -> None:
        changed = change(message) if message["type"] == kind else message
        if changed is not None:
            await send(changed)

    return spoil


def edit_frames(change: Callable[[Any], Any]) -> SpoilMessage:
    """Change the JSON of every frame; None drops a frame, a text is sent as it is."""

    def edit(message: Message) -> Message | None:
        value = change(json.loads(message["text"]))
        if value is None:
            return None
        return {**message, "text": value if isinstance(value, str) else json.dumps(value)}

    return edit_messages("websocket.send", edit)


def change_close(**changes: Any) -> SpoilMessage:
    """Close with another code or reason."""
    return edit_messages("websocket.close", lambda message: {**message, **changes})


never_close = edit_messages("websocket.close", lambda message: None)


async def cut_instead_of_close(message: Message, send: Send, scope: Scope) -> None:
    """Break the connection instead of closing it."""
    if message["type"] == "websocket.close":
        scope["extensions"][CLOSE_EXTENSION]["close"]()
    else:
        await send(message)


def refuse_handshake(status: int, body: Any) -> SpoilMessage:
    """Answer the handshake with an HTTP error, and drop all messages."""

    async def spoil(message: Message, send: Send, scope: Scope) -> None:
        if message["type"] == "websocket.accept":
            headers = [(b"content-type", b"application/json")]
            await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
            await send({"type": "websocket.http.response.body", "body": json.dumps(body).encode()})

    return spoil
