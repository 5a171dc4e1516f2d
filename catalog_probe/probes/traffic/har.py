"""A HAR as a recording: each entry an exchange. What a HAR is tells `catalog_probe.catalog.answers.har`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from catalog_probe.catalog.answers import har
from catalog_probe.catalog.model import Event, Exchange, Reason, Request, Response
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.traffic.recording import RecordedExchange, Recording, TrafficError
from catalog_probe.probes.wire.body import NO_JSON, parse_body, parse_json
from catalog_probe.probes.wire.event_names import name_message
from catalog_probe.probes.wire.sse import parse_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Json

_COMPLETE = "_headersComplete"
"""Where a recording says whether it has all headers; a field of ours, as HAR allows."""

_AGAIN = "record it again as HAR 1.2"


def read_har(whole: Mapping[str, Json], name: str) -> Recording:
    """Every entry of a HAR; one that is none is named, and takes nothing from the others.

    Raises:
        TrafficError: no entry can be read.
    """
    entries = har.find_entries(whole)
    if entries is None:
        raise TrafficError(f"{name}: log.entries is no list", _AGAIN)
    said = whole["log"].get(_COMPLETE)
    found, unreadable = [], []
    for number, entry in enumerate(entries, start=1):
        try:
            found.append(_recorded(entry, f"{name}, entry {number}", said if isinstance(said, bool) else None))
        except TrafficError as error:
            unreadable.append(str(error))
    if unreadable and not found:
        raise TrafficError(unreadable[0])
    return Recording(name, tuple(found), tuple(unreadable))


def _recorded(entry: Json, where: str, complete: bool | None) -> RecordedExchange:
    if not isinstance(entry, dict) or not isinstance(entry.get("request"), dict):
        raise TrafficError(f"{where}: it has no request", _AGAIN)
    asked, answer = har.read_request(entry), har.read_response(entry)
    for what in ("method", "url"):
        if not getattr(asked, what):
            raise TrafficError(f"{where}: request.{what} is {entry['request'].get(what)!r}", _AGAIN)
    elapsed = entry.get("time")
    exchange = Exchange(
        label="",
        request=Request(asked.method, asked.url, asked.headers, _sent(asked)),
        response=_response(answer) if answer is not None else None,
        failure=None if answer else Reason(ReasonCode.CLOSED_WITHOUT_ANSWER, "the recording has no answer"),
        elapsed_ms=float(elapsed) if isinstance(elapsed, int | float) and elapsed > 0 else 0.0,
    )
    return RecordedExchange(
        where=where,
        exchanges=(exchange,),
        at=str(entry.get("startedDateTime") or ""),
        headers_complete=complete,
        of_no_use=answer.of_no_use if answer is not None else "",
    )


def _response(answer: har.HarResponse) -> Response:
    if answer.frames is not None:
        return Response(answer.status, answer.headers, events=tuple(_events(answer.frames)))
    if "text/event-stream" in answer.headers.get("content-type", "").lower():
        stream = parse_stream(answer.content)
        return Response(answer.status, answer.headers, events=tuple(stream.events), ended=stream.ended)
    value, body_type = parse_body(answer.content)
    return Response(answer.status, answer.headers, value, body_type)


def _sent(asked: har.HarRequest) -> Json:
    if not asked.body:
        return None
    if asked.is_form:
        return dict(parse_qsl(asked.body, keep_blank_values=True))
    value = parse_json(asked.body)
    return asked.body if value is NO_JSON else value


def _events(frames: Iterable[har.Frame]) -> Iterator[Event]:
    """The frames of a socket under the names that their data give them, as a probe of ours sees them."""
    for frame in frames:
        value, _ = parse_body(
            frame.data.encode("utf-8", "backslashreplace") if isinstance(frame.data, str) else frame.data
        )
        yield Event(name_message(value), value, sent=frame.sent)
