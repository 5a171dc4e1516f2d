"""Request bodies: their size limit and JSON, refused by the provider's error rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from catalog_probe.mockserver.core import strict_json

if TYPE_CHECKING:
    from starlette.requests import Request

    from catalog_probe.mockserver.core.errors import ErrorRow

MB = 1024 * 1024


class BodyTooLarge(Exception):
    """The body is over the limit. The rest is not read; the server discards it."""


@dataclass(frozen=True)
class BodyRules:
    """The rules of JSON bodies, and the error rows of their breaches.

    Args:
        most_bytes: the size limit.
        too_large: the row above it; its message may name {most_bytes}.
        not_json: the row of a body that is no JSON; its message may name {reason}.
        media_types: the accepted ones.
        wrong_media_type: the row of another one, whose message may name {media_type}; None accepts any.
    """

    most_bytes: int
    too_large: ErrorRow
    not_json: ErrorRow
    media_types: tuple[str, ...] = ()
    wrong_media_type: ErrorRow | None = None


class JsonBody(NamedTuple):
    """The text of a JSON body, and its value."""

    text: str
    value: Any


async def read_json(request: Request, rules: BodyRules) -> JsonBody:
    """Read a JSON body, or raise the refusal of the rule that it breaks."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if rules.wrong_media_type is not None and media_type not in rules.media_types:
        raise rules.wrong_media_type(media_type=media_type)
    try:
        raw = await read_body(request, rules.most_bytes)
        text = raw.decode(json.detect_encoding(raw), "surrogatepass")
        return JsonBody(text, strict_json.loads(text))
    except BodyTooLarge:
        raise rules.too_large(most_bytes=rules.most_bytes) from None
    except ValueError as error:
        raise rules.not_json(reason=error) from None


async def read_body(request: Request, limit: int) -> bytes:
    """Return the body; never hold more than `limit` bytes of it.

    Raises:
        BodyTooLarge: it has more.
    """
    # No `connection: close` on the refusal: closing while the client still sends resets the connection, and the reset
    # can overtake the answer. The server discards the rest of the body instead (2:8.1).
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
