"""Turn a HAR into a recording, one exchange per entry; `catalog_probe.catalog.pasted_answers` parses the entries."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from catalog_probe.catalog import pasted_answers
from catalog_probe.catalog.model import Event, Exchange, Reason, Request, Response
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.traffic.recording import RecordedAttempt, Recording, TrafficError, read_parts
from catalog_probe.probes.wire.body import NO_JSON, parse_body, parse_json
from catalog_probe.probes.wire.event_names import name_message
from catalog_probe.probes.wire.sse import parse_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Json

_HEADERS_COMPLETE = "_headersComplete"
"""Our own field, which HAR allows: whether the recording has all headers."""

_RECORD_AGAIN = "record it again as HAR 1.2"


def read_har(document: Mapping[str, Json], name: str) -> Recording:
    """Read every entry of a HAR.

    Raises:
        TrafficError: no entry can be read.
    """
    entries = pasted_answers.find_har_entries(document)
    if entries is None:
        raise TrafficError(f"{name}: log.entries is no list", _RECORD_AGAIN)
    is_complete = document["log"].get(_HEADERS_COMPLETE)
    headers_complete = is_complete if isinstance(is_complete, bool) else None

    def read(part: tuple[int, Json]) -> Iterable[RecordedAttempt]:
        number, entry = part
        return (_read_entry(entry, f"{name}, entry {number}", headers_complete),)

    return read_parts(name, enumerate(entries, start=1), read)


def _read_entry(entry: Json, location: str, headers_complete: bool | None) -> RecordedAttempt:
    if not isinstance(entry, dict) or not isinstance(entry.get("request"), dict):
        raise TrafficError(f"{location}: it has no request", _RECORD_AGAIN)
    request, answer = pasted_answers.read_har_request(entry), pasted_answers.read_har_response(entry)
    for field, value in (("method", request.method), ("url", request.url)):
        if not value:
            raise TrafficError(f"{location}: request.{field} is {entry['request'].get(field)!r}", _RECORD_AGAIN)
    elapsed_ms = entry.get("time")
    exchange = Exchange(
        label="",
        request=Request(request.method, request.url, request.headers, _parse_request_body(request)),
        response=_parse_response(answer) if answer is not None else None,
        failure=None if answer else Reason(ReasonCode.CLOSED_WITHOUT_ANSWER, "the recording has no answer"),
        elapsed_ms=float(elapsed_ms) if isinstance(elapsed_ms, int | float) and elapsed_ms > 0 else 0.0,
    )
    return RecordedAttempt(
        location=location,
        exchanges=(exchange,),
        at=str(entry.get("startedDateTime") or ""),
        headers_complete=headers_complete,
        unusable_reason=answer.unusable_reason if answer is not None else "",
    )


def _parse_response(answer: pasted_answers.HarResponse) -> Response:
    if answer.frames is not None:
        return Response(answer.status, answer.headers, events=tuple(_parse_frames(answer.frames)))
    if "text/event-stream" in answer.headers.get("content-type", "").lower():
        stream = parse_stream(answer.content)
        return Response(answer.status, answer.headers, events=tuple(stream.events), ended=stream.ended)
    value, body_type = parse_body(answer.content)
    return Response(answer.status, answer.headers, value, body_type)


def _parse_request_body(request: pasted_answers.HarRequest) -> Json:
    if not request.body:
        return None
    if request.is_form:
        return dict(parse_qsl(request.body, keep_blank_values=True))
    value = parse_json(request.body)
    return request.body if value is NO_JSON else value


def _parse_frames(frames: Iterable[pasted_answers.Frame]) -> Iterator[Event]:
    """Name each frame of a WebSocket by its data, as our own probes do."""
    for frame in frames:
        raw = frame.data.encode("utf-8", "backslashreplace") if isinstance(frame.data, str) else frame.data
        value, _ = parse_body(raw)
        yield Event(name_message(value), value, sent=frame.sent)
