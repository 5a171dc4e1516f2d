"""Reads HAR 1.2, as browsers and mitmproxy write it, WebSocket messages included."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from catalog.model import Event, Exchange, Reason, Request, Response
from catalog.model.codes import ReasonCode
from probes.traffic.recorded import Recorded, TrafficError
from probes.wire.body import NO_JSON, json_of, parsed
from probes.wire.sse import events_in

if TYPE_CHECKING:
    from catalog.model import Json

_MESSAGES = "_webSocketMessages"
"""Where browsers put the frames of a WebSocket."""

_COMPLETE = "_headersComplete"
"""Where a recording says whether it has all headers; a field of ours, as HAR allows."""


def exchanges(log: Mapping[str, Json], name: str) -> Iterator[Recorded]:
    """Every entry of a HAR's `log`.

    Raises:
        TrafficError: an entry is none.
    """
    entries = log.get("entries")
    if not isinstance(entries, list):
        raise TrafficError(f"{name}: log.entries is no list", "record it again as HAR 1.2")
    said = log.get(_COMPLETE)
    for number, entry in enumerate(entries, start=1):
        where = f"{name}, entry {number}"
        if not isinstance(entry, dict) or not isinstance(entry.get("request"), dict):
            raise TrafficError(f"{where}: it has no request", "record it again as HAR 1.2")
        yield Recorded(
            where=where,
            exchanges=(_exchange(entry, where),),
            at=str(entry.get("startedDateTime") or ""),
            headers_complete=said if isinstance(said, bool) else None,
        )


def _exchange(entry: Mapping[str, Json], where: str) -> Exchange:
    asked, elapsed = entry["request"], entry.get("time")
    request = Request(
        method=_text(asked.get("method"), f"{where}: request.method"),
        url=_text(asked.get("url"), f"{where}: request.url"),
        headers=_headers(asked.get("headers")),
        body=_sent(asked.get("postData")),
    )
    answer = entry.get("response")
    status = answer.get("status") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or not isinstance(status, int) or status <= 0:
        failure = Reason(ReasonCode.CLOSED_WITHOUT_ANSWER, "the recording has no answer")
        return Exchange("", request, failure=failure)
    return Exchange(
        label="",
        request=request,
        response=_response(answer, status, entry.get(_MESSAGES)),
        elapsed_ms=float(elapsed) if isinstance(elapsed, int | float) and elapsed > 0 else 0.0,
    )


def _response(answer: Mapping[str, Json], status: int, messages: Json) -> Response:
    headers = _headers(answer.get("headers"))
    if isinstance(messages, list):
        return Response(status, headers, events=tuple(_frames(messages)))
    raw = _content(answer.get("content"))
    if "text/event-stream" in headers.get("content-type", ""):
        return Response(status, headers, events=events_in(raw))
    value, body_type = parsed(raw)
    return Response(status, headers, value, body_type)


def _content(content: Json) -> bytes:
    """The body: HAR has it decoded, as text or in base64; a recording without bodies has none."""
    text = content.get("text") if isinstance(content, dict) else None
    if not isinstance(text, str):
        return b""
    if isinstance(content, dict) and content.get("encoding") == "base64":
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return text.encode("utf-8", "backslashreplace")
    return text.encode("utf-8", "backslashreplace")


def _sent(posted: Json) -> Json:
    if not isinstance(posted, dict):
        return None
    text = posted.get("text")
    if not isinstance(text, str) or not text:
        return None
    if "urlencoded" in str(posted.get("mimeType", "")):
        return dict(parse_qsl(text, keep_blank_values=True))
    value = json_of(text)
    return text if value is NO_JSON else value


def _frames(messages: Sequence[Json]) -> Iterator[Event]:
    """The frames of a socket under the names that their data give them, as a probe of ours sees them."""
    from probes.wire.websocket import name_of  # which loads a client that few recordings need

    for message in messages:
        if isinstance(message, dict) and isinstance(message.get("data"), str):
            value = json_of(message["data"])
            data = message["data"] if value is NO_JSON else value
            yield Event(name_of(data), data, sent=message.get("type") == "send")


def _headers(found: Json) -> dict[str, str]:
    """Headers by name in small letters; several of one name are joined as HTTP has it."""
    headers: dict[str, str] = {}
    for each in found if isinstance(found, list) else ():
        if isinstance(each, dict) and isinstance(each.get("name"), str) and not each["name"].startswith(":"):
            name, value = each["name"].lower(), str(each.get("value", ""))
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _text(value: Json, place: str) -> str:
    if not isinstance(value, str) or not value:
        raise TrafficError(f"{place} is {value!r}", "record it again as HAR 1.2")
    return value
