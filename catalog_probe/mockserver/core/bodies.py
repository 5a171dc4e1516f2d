"""Request bodies: read under a size limit and as JSON, refused as the provider's rows say."""

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
    """The body is over the limit. It is not read any further; the server drains what still arrives."""


@dataclass(frozen=True)
class BodyRules:
    """What JSON bodies must be, and the rows for those that are not.

    Args:
        most_bytes: how large a body may be.
        too_large: for one that is larger; its message may name {most_bytes}.
        not_json: for one that is no JSON; its message may name {reason}.
        media_types: those that are taken; any where there is none.
        wrong_media_type: for another one; its message may name {media_type}.
    """

    most_bytes: int
    too_large: ErrorRow
    not_json: ErrorRow
    media_types: tuple[str, ...] = ()
    wrong_media_type: ErrorRow | None = None


class JsonBody(NamedTuple):
    """A body that is JSON: its text, and the value that the text spells."""

    text: str
    value: Any


async def read_json(request: Request, rules: BodyRules) -> JsonBody:
    """Read a JSON body.

    Raises:
        Refusal: it breaks a rule.
    """
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
