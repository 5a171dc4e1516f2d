"""Parse the entries of a HAR 1.2 as browsers, proxies and people write it."""

from __future__ import annotations

import base64
import binascii
import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.text.decompression import CODINGS, Decompressor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Json

MESSAGES = "_webSocketMessages"
"""The member in which browsers and mitmproxy put the frames of a WebSocket."""

EVENTS = "_eventSourceMessages"
"""The member in which browsers put the events of a stream that a page read as such; the body is then empty."""

WEBSOCKET = "WS"

MADE_BY_BROWSER = "non-authoritative-reason"
"""The header of a redirect that the browser made itself, without a request."""

_BINARY_OPCODE = 2  # RFC 6455, 5.2; the data is in base64
_MAX_BODY = 64 << 20  # bytes after decompression; no documented answer is larger


@dataclass(frozen=True, slots=True)
class HarRequest:
    """A request; parts that the entry lacks are empty."""

    method: str
    """In upper case; `WS` for a WebSocket, as in the catalog, although its handshake is a GET."""
    url: str
    headers: Mapping[str, str]
    """By name in lower case, without the pseudo-headers of HTTP/2."""
    body: str
    is_form: bool
    """Whether the body is URL-encoded."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of a WebSocket."""

    data: str | bytes
    sent: bool


@dataclass(frozen=True, slots=True)
class HarResponse:
    """A response."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    """The body, decompressed; or the stream, rebuilt from its events."""
    frames: tuple[Frame, ...] | None
    unusable_reason: str
    """Why it is no evidence: the body was not kept, or no provider was asked. Empty if it is."""


def find_entries(document: Json) -> list[Json] | None:
    """Return the entries of a HAR, or None if the value is no HAR."""
    entries = _object(_object(document).get("log")).get("entries")
    return entries if isinstance(entries, list) else None


def read_request(entry: Mapping[str, Json]) -> HarRequest:
    """Parse the request of an entry."""
    request = _object(entry.get("request"))
    post_data = _object(request.get("postData"))
    text, media_type = post_data.get("text"), str(post_data.get("mimeType") or "")
    headers = _parse_headers(request.get("headers"))
    is_websocket = MESSAGES in entry or headers.get("upgrade", "").lower() == "websocket"
    return HarRequest(
        method=WEBSOCKET if is_websocket else _text(request.get("method")).upper(),
        url=_text(request.get("url")),
        headers=headers,
        body=_repair_utf8(text, media_type) if isinstance(text, str) else "",
        is_form="urlencoded" in media_type,
    )


def read_response(entry: Mapping[str, Json]) -> HarResponse | None:
    """Parse the response of an entry; None if the request was aborted, for which browsers write status 0."""
    response = _object(entry.get("response"))
    status = _parse_status(response.get("status"))
    if status is None:
        return None
    headers = _parse_headers(response.get("headers"))
    content = _parse_content(response.get("content"), headers)
    messages, events = entry.get(MESSAGES), entry.get(EVENTS)
    if not content and isinstance(events, list):
        content = "".join(map(_format_event, _objects(events))).encode("utf-8", "backslashreplace")
    frames = tuple(_parse_frames(messages)) if isinstance(messages, list) else None
    has_content = bool(content) or frames is not None
    return HarResponse(status, headers, content, frames, _unusable_reason(entry, response, headers, has_content))


def _unusable_reason(
    entry: Mapping[str, Json], response: Mapping[str, Json], headers: Mapping[str, str], has_content: bool
) -> str:
    if entry.get("_fromCache") or response.get("_fromCache") or response.get("status") == 304:
        return "that came from a cache"
    if MADE_BY_BROWSER in headers:
        return "that a browser made up"
    if headers.get("content-type", "").startswith("application/grpc"):
        return "over gRPC"  # whose status is a trailer, and a HAR has no trailers
    if has_content or not _had_body(response, headers):
        return ""
    return "without its body"


def _had_body(response: Mapping[str, Json], headers: Mapping[str, str]) -> bool:
    """Whether a response without a recorded body probably had one."""
    length = headers.get("content-length", "")
    sizes = (
        _object(response.get("content")).get("size"),
        response.get("bodySize"),
        int(length) if _is_number(length) else 0,
    )
    if any(isinstance(size, int | float) and size > 0 for size in sizes):
        return True
    # A response that states a media type, and no size of 0, was probably streamed through and not kept.
    return bool(headers.get("content-type")) and length != "0"


def _parse_status(value: Json) -> int | None:
    if isinstance(value, str) and _is_number(value.strip()):
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1000 else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _parse_content(value: Json, headers: Mapping[str, str]) -> bytes:
    """Return the body. HAR wants it decompressed, as text or base64; some recorders leave it compressed."""
    content = _object(value)
    text = content.get("text")
    if not isinstance(text, str):
        return b""
    raw = _repair_utf8(text, headers.get("content-type", "")).encode("utf-8", "backslashreplace")
    if str(content.get("encoding") or "").lower() != "base64":
        return raw
    raw = _decode_base64(text, raw)
    coding = headers.get("content-encoding", "").strip().lower()
    return _decompress(raw, coding) if coding in CODINGS else raw


def _repair_utf8(text: str, media_type: str) -> str:
    """Undo that UTF-8 was read as Latin-1.

    mitmproxy reads so if no charset is stated and the body is not JSON. An event stream is always UTF-8, and the words
    of an error in it would not match those of its record. This changes a correct text if all its letters outside ASCII
    are valid UTF-8 when written as Latin-1; no language has such words.
    """
    if text.isascii() or "charset" in media_type.lower():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _decode_base64(text: str, default: bytes) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return default


def _decompress(raw: bytes, coding: str) -> bytes:
    decompressor = Decompressor(coding)
    with suppress(zlib.error):
        content = decompressor.unpack(raw, _MAX_BODY)
        if decompressor.ended:
            return content
    return raw  # it was not compressed: most recorders follow HAR and ignore the header


def _format_event(message: Mapping[str, Json]) -> str:
    """Format an event as it was in the stream."""
    name = _text(message.get("eventName")) or "message"
    data = "".join(f"data: {line}\n" for line in _text(message.get("data")).split("\n"))
    return f"event: {name}\n{data}\n"


def _parse_frames(messages: Json) -> Iterator[Frame]:
    for message in _objects(messages):
        text = message.get("data")
        if not isinstance(text, str):
            continue
        data: str | bytes = text
        if message.get("opcode") == _BINARY_OPCODE:
            data = _decode_base64(text, text.encode("utf-8", "backslashreplace"))
        is_sent = str(message.get("type")).lower() in ("send", "request")
        yield Frame(data, is_sent)


def _parse_headers(headers: Json) -> dict[str, str]:
    """Return headers by name in lower case; several with one name are joined, as HTTP allows.

    HAR has a list of headers; some recorders write an object.
    """
    if isinstance(headers, dict):
        pairs = list(headers.items())
    else:
        pairs = [(header.get("name"), header.get("value")) for header in _objects(headers)]
    values: dict[str, str] = {}
    for name, value in pairs:
        if isinstance(name, str) and name and not name.startswith(":") and value is not None:
            name, value = name.lower(), str(value)
            values[name] = f"{values[name]}, {value}" if name in values else value
    return values


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _objects(value: Json) -> Iterator[Mapping[str, Json]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
