"""Serving a provider in the field: its answers are changed by its contradictions, then dressed by its edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.as_published.answers import Answer, Asked
from catalog_probe.mockserver.as_published.contradictions import CONTRADICTIONS
from catalog_probe.mockserver.as_published.edges import Edge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

STREAM = "text/event-stream"


class AsPublished:
    """The ASGI app of a provider's HTTP host, answering as published answers show."""

    def __init__(self, provider: str, app: ASGIApp) -> None:
        self._app = app
        self._contradictions = CONTRADICTIONS[provider]
        self._edge = Edge(provider)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        asked = _asked(scope)
        page = self._edge.page(asked)
        if page is not None:
            await _read(receive)
            await self._send(send, self._edge.dressed(asked, page))
            return
        await self._app(scope, receive, _Outgoing(self, asked, send).send)

    def whole(self, asked: Asked, answer: Answer) -> Answer:
        """An answer as it is in the field."""
        for each in self._contradictions:
            answer = (each.changes and each.changes(asked, answer)) or answer
        return self._edge.dressed(asked, answer)

    def blocks(self, blocks: Iterable[str], told: int) -> Iterator[str]:
        """Blocks of an event stream as they are in the field; `told` came before."""
        return self._edge.kept_alive(map(self._block, blocks), told)

    def _block(self, block: str) -> str:
        for each in self._contradictions:
            block = each.block(block) if each.block else block
        return block

    async def begin(self, send: Send, status: int, headers: Mapping[str, str]) -> None:
        """Begin an event stream."""
        told = _raw(self._edge.stream_headers(headers))
        await send({"type": "http.response.start", "status": status, "headers": told})

    async def answer(self, send: Send, asked: Asked, answer: Answer) -> None:
        """Send a whole answer."""
        await self._send(send, self.whole(asked, answer))

    async def _send(self, send: Send, answer: Answer) -> None:
        await send({"type": "http.response.start", "status": answer.status, "headers": _raw(answer.headers)})
        await send({"type": "http.response.body", "body": answer.body})


class _Outgoing:
    """One answer on its way: a stream passes block by block, all else is held until it is whole."""

    def __init__(self, host: AsPublished, asked: Asked, send: Send) -> None:
        self._host = host
        self._asked = asked
        self._send = send
        self._status = 0
        self._headers: dict[str, str] = {}
        self._held = b""
        self._told = 0

    async def send(self, message: Message) -> None:
        """What the provider's app sends."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in message["headers"]}
            if self._streams:
                await self._host.begin(self._send, self._status, self._headers)
        elif message["type"] == "http.response.body":
            self._held += message.get("body", b"")
            more = message.get("more_body", False)
            await (self._send_blocks(more) if self._streams else self._send_whole(more))
        else:
            await self._send(message)

    @property
    def _streams(self) -> bool:
        return self._headers.get("content-type", "").startswith(STREAM) and self._status < 300

    async def _send_whole(self, more: bool) -> None:
        if not more:
            await self._host.answer(self._send, self._asked, Answer(self._status, self._headers, self._held))

    async def _send_blocks(self, more: bool) -> None:
        held = self._held.decode("utf-8", "surrogateescape")
        between = "\r\n\r\n" if "\r\n\r\n" in held else "\n\n"
        *whole, rest = held.split(between)
        text = "".join(f"{block}{between}" for block in self._host.blocks(whole, self._told))
        text += "" if more else rest
        self._told += len(whole)
        self._held = rest.encode("utf-8", "surrogateescape") if more else b""
        await self._send(
            {"type": "http.response.body", "body": text.encode("utf-8", "surrogateescape"), "more_body": more}
        )


def _asked(scope: Scope) -> Asked:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    return Asked(scope["method"], scope["path"][len(scope.get("root_path", "")) :], headers)


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


async def _read(receive: Receive) -> None:
    """Read a request that nobody looks at."""
    while (await receive()).get("more_body"):
        pass
