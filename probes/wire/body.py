"""Reads a response body without ever holding more of it than the cap, however well it compresses."""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

    from catalog.model import Json

ACCEPT_ENCODING = "gzip, deflate"
_WINDOW = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


class BodyTooLarge(Exception):
    """The body went on beyond the cap; `kept` is what was read until then."""

    def __init__(self, kept: bytes) -> None:
        super().__init__(f"more than {len(kept)} bytes")
        self.kept = kept


async def capped(response: httpx.Response, cap: int) -> AsyncIterator[bytes]:
    """Yield the decoded body in pieces; bytes are counted while decoding, so a bomb stops at the cap.

    Raises:
        BodyTooLarge: with nothing kept (the caller has the pieces).
        zlib.error: the body is not what its content-encoding says.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    decoder = zlib.decompressobj(_WINDOW[encoding]) if encoding in _WINDOW else None
    left = cap
    async for raw in response.aiter_raw():
        piece = decoder.decompress(raw, left + 1) if decoder else raw
        if len(piece) > left:
            yield piece[:left]
            raise BodyTooLarge(b"")
        left -= len(piece)
        if piece:
            yield piece


async def read(response: httpx.Response, cap: int) -> bytes:
    """The whole decoded body.

    Raises:
        BodyTooLarge: it is longer than `cap` bytes; what was read is in the error.
    """
    kept = bytearray()
    try:
        async for piece in capped(response, cap):
            kept += piece
    except BodyTooLarge as error:
        raise BodyTooLarge(bytes(kept)) from error
    return bytes(kept)


def parsed(raw: bytes) -> tuple[Json, str]:
    """The body as evidence, and its type: `json`, `text`, `binary` or `empty`."""
    if not raw:
        return None, "empty"
    try:
        return json.loads(raw), "json"
    except (ValueError, RecursionError):
        pass
    try:
        return raw.decode("utf-8"), "text"
    except UnicodeDecodeError:
        return raw[:256].hex(), "binary"
