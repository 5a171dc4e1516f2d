"""A wrong provider: the mock behind a middleware that edits its answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from catalog_probe.mockserver.app import create_app


@dataclass
class SpoilableAnswer:
    """One whole answer of the mock, to be spoiled before it is sent."""

    path: str
    status: int
    headers: dict[str, str]
    body: bytes
    request_headers: dict[str, str] = field(default_factory=dict)

    def edit(self, change: Callable[[Any], None]) -> None:
        """Change the JSON body in place."""
        value = json.loads(self.body)
        change(value)
        self.body = json.dumps(value).encode()


Spoil = Callable[[SpoilableAnswer], None]


class WrongProvider:
    """The mock with every answer handed to `spoil` before it is sent, except for controls."""

    def __init__(self, spoil: Spoil) -> None:
        self._mock = create_app()
        self._spoil = spoil

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        answer = SpoilableAnswer(
            scope["path"], 0, {}, b"", {key.decode(): value.decode() for key, value in scope["headers"]}
        )

        async def keep(message: Any) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                answer.headers = {key.decode(): value.decode() for key, value in message.get("headers", ())}
            elif message["type"] == "http.response.body":
                answer.body += message.get("body", b"")

        await self._mock(scope, receive, keep)
        if not answer.request_headers.get("x-mock-session", "").endswith("/control"):
            self._spoil(answer)
        answer.headers.pop("content-length", None)
        headers = [(key.encode(), value.encode()) for key, value in answer.headers.items()]
        if answer.status not in (204, 304):
            headers.append((b"content-length", str(len(answer.body)).encode()))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})
