"""Serves the mock with every JSON body padded: `python -m tests.harness.padding BYTES SHAPE` says where.

What pads is one field that no document names, first in each object: a provider may add such a field. It is made once,
so that this server stays as light as the mock.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mockserver.app import MockApp, create_app
from mockserver.server import MockServer, exit_with_stdin

if TYPE_CHECKING:
    from mockserver.providers import Provider
    from mockserver.world import World


def filling(size: int, shape: str = "text") -> bytes:
    """A JSON value of about so many bytes: `text`, `wide` (no character of it takes one byte in memory), `lists`
    (empty ones), `names` or `escapes`."""
    match shape:
        case "text":
            return b'"' + b"x" * size + b'"'
        case "wide":
            return '"😀'.encode() + b"x" * size + b'"'
        case "lists":
            return b"[" + b"[]," * (size // 3) + b"[]]"
        case "names":
            return b"{" + b",".join(b'"n%06d":1' % number for number in range(size // 12)) + b"}"
        case "escapes":
            return b'"' + b"%41" * (size // 3) + b'"'
    raise ValueError(f"no filling is called {shape!r}")


class PaddedMock(MockApp):
    """The mock, whose every JSON object is larger by one field; what is no object over HTTP is as it is."""

    def __init__(self, world: World, providers: Iterable[Provider], filling: bytes) -> None:
        super().__init__(world, providers)
        self._before = b'{"padding":' + filling + b","

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request or one WebSocket."""
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        begun: dict[str, Any] = {}

        async def pad(message: Mapping[str, Any]) -> None:
            """The head waits for the body's first piece, for only then is the length known."""
            if message["type"] == "http.response.start":
                begun.update(message)
                return
            body = message.get("body", b"")
            if not begun:
                await send(message)
                return
            head, is_whole = dict(begun), not message.get("more_body", False)
            begun.clear()
            headers = {name.lower(): value for name, value in head.get("headers", ())}
            padded = headers.get(b"content-type", b"").startswith(b"application/json") and body[:1] == b"{" and is_whole
            if padded and body[1:2] != b"}":
                headers[b"content-length"] = str(len(body) - 1 + len(self._before)).encode()
                await send({**head, "headers": list(headers.items())})
                await send({"type": "http.response.body", "body": self._before, "more_body": True})
                await send({"type": "http.response.body", "body": body[1:]})
                return
            await send(head)
            await send(message)

        await super().__call__(scope, receive, pad)


def main(size: int, shape: str) -> None:
    """Serve it until standard input ends."""
    exit_with_stdin()
    app = create_app()
    MockServer(PaddedMock(app.world, app.providers, filling(size, shape)), "127.0.0.1", 0).run()


if __name__ == "__main__":
    main(int(sys.argv[1]), *(sys.argv[2:] or ["text"]))
