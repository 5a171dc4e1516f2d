"""Request bodies: their size limit, strict JSON and multipart forms."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from email.message import Message
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from starlette.requests import Request

    from catalog_probe.mockserver.core.errors import ErrorRow


def loads(raw: bytes | str) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: it is not JSON; the message says where.
    """
    text = raw if isinstance(raw, str) else raw.decode(json.detect_encoding(raw), "surrogatepass")
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _parse_finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is out of range")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_parse_finite)


class Malformed(ValueError):
    """The body is no multipart/form-data; the message says why."""


@dataclass(frozen=True)
class Part:
    """One form field; a file has a filename."""

    name: str
    filename: str | None
    content_type: str | None
    content: bytes


def parse_form(content_type: str, body: bytes) -> list[Part]:
    """Parse the parts.

    Raises:
        Malformed: it is no such body.
    """
    header = _parse_header("content-type", content_type)
    boundary = header.get_param("boundary")
    if header.get_content_type() != "multipart/form-data" or not isinstance(boundary, str):
        raise Malformed("Content-Type must be multipart/form-data with a boundary.")
    before, *chunks = (b"\r\n" + body).split(b"\r\n--" + boundary.encode())
    if before or not chunks or not chunks[-1].startswith(b"--"):
        raise Malformed("The request body is not valid multipart/form-data.")
    return [_parse_part(chunk) for chunk in chunks[:-1]]


def _parse_part(chunk: bytes) -> Part:
    head, separator, content = chunk.removeprefix(b"\r\n").partition(b"\r\n\r\n")
    if not separator:
        raise Malformed("A part of the multipart body has no end to its headers.")
    headers: dict[str, str] = {}
    for line in head.decode("utf-8", "replace").split("\r\n"):
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    form = _parse_header("content-disposition", headers.get("content-disposition", ""))
    field = form.get_param("name", header="content-disposition")
    if not isinstance(field, str):
        raise Malformed("A part of the multipart body has no name.")
    return Part(field, form.get_filename(), headers.get("content-type"), content)


def _parse_header(name: str, value: str) -> Message:
    message = Message()
    message[name] = value
    return message


MB = 1024 * 1024


class BodyTooLarge(Exception):
    """The body is over the limit. The rest is not read; the server discards it."""


@dataclass(frozen=True)
class BodyRules:
    """The rules of bodies, and the error rows of their breaches.

    Args:
        most_bytes: the size limit.
        too_large: the row above it; its message may name {most_bytes}.
        malformed: the row of a body that is no JSON, or no form; its message may name {reason}.
        media_types: the accepted ones.
        wrong_media_type: the row of another one, whose message may name {media_type}; None accepts any.
    """

    most_bytes: int
    too_large: ErrorRow
    malformed: ErrorRow
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
        return JsonBody(text, loads(text))
    except BodyTooLarge:
        raise rules.too_large(most_bytes=rules.most_bytes) from None
    except ValueError as error:
        raise rules.malformed(reason=error) from None


async def read_form(request: Request, rules: BodyRules) -> dict[str, Part]:
    """Read the parts of a multipart form by name, or raise the refusal of the rule that the body breaks."""
    try:
        parts = parse_form(request.headers.get("content-type", ""), await read_body(request, rules.most_bytes))
    except BodyTooLarge:
        raise rules.too_large(most_bytes=rules.most_bytes) from None
    except Malformed as error:
        raise rules.malformed(reason=error) from None
    return {part.name: part for part in parts}


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
