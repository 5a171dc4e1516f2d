"""Request bodies under a size limit: refused by Content-Length before a byte is read, counted while read otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request


class BodyTooLarge(Exception):
    """The body is over the limit. It is not read any further; the server drains what still arrives."""


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body if it has at most `limit` bytes; never holds more than that.

    No `connection: close` on the refusal: closing while the client still sends resets the connection, and the reset can
    overtake the answer. The server discards the rest of the body instead (2:8.1).
    """
    declared = request.headers.get("content-length")
    if declared is not None and declared.isdecimal() and int(declared) > limit:
        raise BodyTooLarge
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise BodyTooLarge
        chunks.append(chunk)
    return b"".join(chunks)
