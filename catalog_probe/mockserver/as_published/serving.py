"""The app of a provider, its answers changed by contradictions and its edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.as_published import pa, pb, pc, pd
from catalog_probe.mockserver.as_published.answers import RequestHead, WholeAnswer
from catalog_probe.mockserver.as_published.edges import Edge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from catalog_probe.mockserver.as_published.answers import Contradiction

CONTRADICTIONS: Mapping[str, tuple[Contradiction, ...]] = {
    "pa": pa.CONTRADICTIONS,
    "pb": pb.CONTRADICTIONS,
    "pc": pc.CONTRADICTIONS,
    "pd": pd.CONTRADICTIONS,
}

EVENT_STREAM = "text/event-stream"


class AsPublished:
    """The ASGI app of a provider's HTTP host, answering as published."""

    def __init__(self, provider: str, app: ASGIApp) -> None:
        self._app = app
        self._contradictions = CONTRADICTIONS[provider]
        self._edge = Edge(provider)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = _read_head(scope)
        page = self._edge.make_page(request)
        if page is None:
            await self._app(scope, receive, _Sender(self._contradictions, self._edge, request, send).send)
            return
        while (await receive()).get("more_body"):
            pass
        await _send_whole(send, self._edge.change(request, page))


class _Sender:
    """Changes one answer on its way: a stream block by block, any other as a whole."""

    def __init__(self, contradictions: tuple[Contradiction, ...], edge: Edge, request: RequestHead, send: Send) -> None:
        self._contradictions = contradictions
        self._edge = edge
        self._request = request
        self._send = send
        self._status = 0
        self._headers: dict[str, str] = {}
        self._buffer = b""
        self._sent_blocks = 0

    async def send(self, message: Message) -> None:
        """Take a message of the provider's app."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = _decode_headers(message["headers"])
            if self._is_stream:
                headers = _encode_headers(self._edge.add_headers(self._headers))
                await self._send({"type": "http.response.start", "status": self._status, "headers": headers})
            return
        self._buffer += message.get("body", b"")
        has_more = message.get("more_body", False)
        if self._is_stream:
            await self._send_blocks(has_more=has_more)
        elif not has_more:
            await _send_whole(self._send, self._change(WholeAnswer(self._status, self._headers, self._buffer)))

    @property
    def _is_stream(self) -> bool:
        return self._headers.get("content-type", "").startswith(EVENT_STREAM) and self._status < 300

    def _change(self, answer: WholeAnswer) -> WholeAnswer:
        for contradiction in self._contradictions:
            if contradiction.change is not None:
                answer = contradiction.change(self._request, answer) or answer
        return self._edge.change(self._request, answer)

    def _change_block(self, block: str) -> str:
        for contradiction in self._contradictions:
            if contradiction.change_block is not None:
                block = contradiction.change_block(block)
        return block

    async def _send_blocks(self, *, has_more: bool) -> None:
        text = self._buffer.decode("utf-8", "surrogateescape")
        separator = "\r\n\r\n" if "\r\n\r\n" in text else "\n\n"
        *blocks, incomplete = text.split(separator)
        changed = self._edge.add_keep_alives(map(self._change_block, blocks), self._sent_blocks)
        output = "".join(f"{block}{separator}" for block in changed)
        output += "" if has_more else incomplete
        self._sent_blocks += len(blocks)
        self._buffer = incomplete.encode("utf-8", "surrogateescape") if has_more else b""
        body = output.encode("utf-8", "surrogateescape")
        await self._send({"type": "http.response.body", "body": body, "more_body": has_more})


async def _send_whole(send: Send, answer: WholeAnswer) -> None:
    headers = _encode_headers(answer.headers)
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


def _read_head(scope: Scope) -> RequestHead:
    path = scope["path"][len(scope.get("root_path", "")) :]
    return RequestHead(scope["method"], path, _decode_headers(scope["headers"]))


def _decode_headers(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}


def _encode_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
