"""HAR 1.2 as browsers, proxies and people write it: what an entry asked, what came, and what of it was not kept."""

from __future__ import annotations

import base64
import binascii
import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.text.decompression import CODINGS, Decompressor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Json

MESSAGES = "_webSocketMessages"
"""Where browsers and mitmproxy put the frames of a WebSocket."""

EVENTS = "_eventSourceMessages"
"""Where browsers put the events of a stream that a page read as such; the text of the body is left out then."""

WEBSOCKET = "WS"

INVENTED = "non-authoritative-reason"
"""The header of a redirect that a browser made up: nothing was asked."""

_BINARY = 2
"""The opcode of a frame of bytes (RFC 6455, 5.2), whose data is in base64."""

_LONGEST = 64 << 20
"""Bytes of a body that is unpacked here: a recording of more holds no answer that we know."""


@dataclass(frozen=True, slots=True)
class HarRequest:
    """A request; what an entry does not tell of it is empty."""

    method: str
    """In capitals; `WS` of a WebSocket, as in the catalog, though its handshake is a GET."""
    url: str
    headers: Mapping[str, str]
    """By name in small letters, without what HTTP/2 adds."""
    body: str
    is_form: bool
    """Whether the body is that of a form."""


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
    """The body, unpacked; of a stream whose events were kept in place of it, these."""
    frames: tuple[Frame, ...] | None
    unusable_reason: str
    """Why it shows nothing of who was asked: the body was not kept, or nobody was asked. Else empty."""


def find_entries(value: Json) -> list[Json] | None:
    """The entries of a HAR; None where a value is none."""
    log = value.get("log") if isinstance(value, dict) else None
    found = log.get("entries") if isinstance(log, dict) else None
    return found if isinstance(found, list) else None


def read_request(entry: Mapping[str, Json]) -> HarRequest:
    """The request of an entry."""
    request = _object(entry.get("request"))
    posted = _object(request.get("postData"))
    text, kind = posted.get("text"), str(posted.get("mimeType") or "")
    headers = _headers(request.get("headers"))
    is_socket = MESSAGES in entry or headers.get("upgrade", "").lower() == "websocket"
    return HarRequest(
        method=WEBSOCKET if is_socket else _text(request.get("method")).upper(),
        url=_text(request.get("url")),
        headers=headers,
        body=_read_as_utf8(text, kind) if isinstance(text, str) else "",
        is_form="urlencoded" in kind,
    )


def read_response(entry: Mapping[str, Json]) -> HarResponse | None:
    """The response of an entry; None where it has none, as of a request that was aborted: browsers write status 0."""
    response = _object(entry.get("response"))
    status = _status(response.get("status"))
    if status is None:
        return None
    headers = _headers(response.get("headers"))
    messages, events = entry.get(MESSAGES), entry.get(EVENTS)
    content = _content(response.get("content"), headers)
    if not content and isinstance(events, list):
        content = "".join(map(_event, _objects(events))).encode("utf-8", "backslashreplace")
    frames = tuple(_frames(messages)) if isinstance(messages, list) else None
    return HarResponse(status, headers, content, frames, _unusable_reason(entry, response, headers, content, frames))


def _unusable_reason(
    entry: Mapping[str, Json],
    response: Mapping[str, Json],
    headers: Mapping[str, str],
    content: bytes,
    frames: Sequence[Frame] | None,
) -> str:
    if entry.get("_fromCache") or response.get("_fromCache") or response.get("status") == 304:
        return "that came from a cache"
    if INVENTED in headers:
        return "that a browser made up"
    if headers.get("content-type", "").startswith("application/grpc"):
        return "over gRPC"  # a HAR has no trailers, and the status is one
    if content or frames is not None:
        return ""
    told = headers.get("content-length", "")
    sizes = (_object(response.get("content")).get("size"), response.get("bodySize"), int(told) if _digits(told) else 0)
    had_one = any(isinstance(size, int | float) and size > 0 for size in sizes)
    # A body of a documented kind and of no size is rather one that was passed on and not kept than an empty one.
    had_one = had_one or (bool(headers.get("content-type")) and told != "0")
    return "without its body" if had_one else ""


def _status(value: Json) -> int | None:
    if isinstance(value, str) and _digits(value.strip()):
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1000 else None


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _content(value: Json, headers: Mapping[str, str]) -> bytes:
    """The body. HAR has it unpacked, as text or in base64; some writers leave it packed where they cannot."""
    content = _object(value)
    text = content.get("text")
    if not isinstance(text, str):
        return b""
    raw = _read_as_utf8(text, headers.get("content-type", "")).encode("utf-8", "backslashreplace")
    if str(content.get("encoding") or "").lower() != "base64":
        return raw
    raw = _of_base64(text, raw)
    coding = headers.get("content-encoding", "").strip().lower()
    return _unpacked(raw, coding) if coding in CODINGS else raw


def _read_as_utf8(text: str, media_type: str) -> str:
    """Undo that UTF-8 was read as Latin-1.

    mitmproxy does so where no charset is stated, unless the body is JSON. A stream of events is UTF-8 in any case, and
    the words of an error in it would not be those of its record. A text that is meant as it stands changes if all its
    letters outside ASCII are UTF-8 when written as Latin-1: no language has such words.
    """
    if text.isascii() or "charset" in media_type.lower():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _of_base64(text: str, otherwise: bytes) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return otherwise


def _unpacked(raw: bytes, coding: str) -> bytes:
    unpacker = Decompressor(coding)
    with suppress(zlib.error):
        found = unpacker.unpack(raw, _LONGEST)
        if unpacker.ended:
            return found
    return raw  # it was unpacked before, as HAR wants it


def _event(message: Mapping[str, Json]) -> str:
    """An event as it was in the stream."""
    data = _text(message.get("data"))
    told = "".join(f"data: {line}\n" for line in data.split("\n"))
    return f"event: {_text(message.get('eventName')) or 'message'}\n{told}\n"


def _frames(messages: Json) -> Iterator[Frame]:
    for message in _objects(messages):
        data = message.get("data")
        if isinstance(data, str):
            packed = message.get("opcode") == _BINARY
            yield Frame(
                _of_base64(data, data.encode("utf-8", "backslashreplace")) if packed else data, _is_sent(message)
            )


def _is_sent(message: Mapping[str, Json]) -> bool:
    return str(message.get("type")).lower() in ("send", "request")


def _headers(found: Json) -> dict[str, str]:
    """Headers by name in small letters; several of one name are joined as HTTP has it.

    Some writers have an object in place of HAR's list.
    """
    pairs = (
        found.items()
        if isinstance(found, dict)
        else ((each.get("name"), each.get("value")) for each in _objects(found))
    )
    headers: dict[str, str] = {}
    for name, value in pairs:
        if isinstance(name, str) and name and not name.startswith(":") and value is not None:
            name, value = name.lower(), str(value)
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _objects(value: Json) -> Iterator[Mapping[str, Json]]:
    return (each for each in value if isinstance(each, dict)) if isinstance(value, list) else iter(())


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
