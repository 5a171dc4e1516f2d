"""Read JSON lines: exchanges, published answers, and the results.jsonl of a run of ours."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.results import RECORDED
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import Address, Close, Event, Exchange, GrpcStatus, Reason, Request, Response
from catalog_probe.catalog.model.exchange import UNJUDGED_LABELS
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.traffic.recording import RecordedAttempt, TrafficError
from catalog_probe.probes.wire.body import NO_JSON, parse_body, parse_json
from catalog_probe.probes.wire.sse import Stream, parse_stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Json

UNKNOWN_METHOD = "POST"
"""The method of a published answer without a request; it has no URL either, so the method decides nothing."""

_UNANSWERED = Reason(ReasonCode.CLOSED_WITHOUT_ANSWER, "the recording has no answer")


def attempts_of_result(result: Result, location: str) -> Iterator[RecordedAttempt]:
    """Yield the attempts of one probe of ours, each exchange with the label by which it was judged.

    The exchanges of a run that judged a recording are those of other clients: none is a probe of the record.
    """
    provider = result.address.provider
    for attempt in result.attempts:
        exchanges = tuple(exchange for exchange in attempt.exchanges if exchange.label not in UNJUDGED_LABELS)
        if result.trigger == RECORDED:
            for exchange in exchanges:
                unlabelled = replace(exchange, label="", endpoint="")
                yield RecordedAttempt(location, (unlabelled,), attempt.started_at, provider)
        elif exchanges:
            yield RecordedAttempt(location, exchanges, attempt.started_at, provider, result.record, True)


def parse_exchange(line: Mapping[str, Json], location: str) -> RecordedAttempt:
    """Parse a line with one exchange: `request` and `response` as in results.jsonl, or an answer alone.

    Further fields: `provider`, `at` (RFC 3339), `record`, `label`, and `headers_complete`, if it is known whether all
    headers were kept.

    Raises:
        TrafficError: it has no answer that can be read.
    """
    response = line.get("response")
    answer: Mapping[str, Json] = response if isinstance(response, dict) else line
    request: Mapping[str, Json] = line["request"] if isinstance(line.get("request"), dict) else {}
    provider = line.get("provider")
    exchange = Exchange(
        label=str(line.get("label") or ""),
        request=Request(
            str(request.get("method") or UNKNOWN_METHOD),
            str(request.get("url") or ""),
            _parse_headers(request.get("headers")),
            request.get("body"),
        ),
        response=_parse_response(answer, location) if response is not None or not request else None,
        failure=_UNANSWERED if request and response is None else None,
    )
    return RecordedAttempt(
        location=location,
        exchanges=(exchange,),
        at=str(line.get("at") or request.get("at") or ""),
        provider=provider.lower() if isinstance(provider, str) and provider.lower() in providers() else "",
        record=_parse_address(line.get("record"), location),
        headers_complete=_parse_headers_complete(line, answer),
    )


def _parse_headers_complete(line: Mapping[str, Json], answer: Mapping[str, Json]) -> bool | None:
    is_complete = line.get("headers_complete")
    if isinstance(is_complete, bool):
        return is_complete
    return False if answer.get("headers") is None else None


def _parse_address(record: Json, location: str) -> str:
    if record is None:
        return ""
    try:
        return str(Address.parse(str(record)))
    except ValueError as error:
        mend = "write an address of the catalog, or leave it out"
        raise TrafficError(f"{location}: record: {error}", mend) from None


def _parse_response(answer: Mapping[str, Json], location: str) -> Response:
    status = answer.get("status", answer.get("http_status"))
    grpc, events = answer.get("grpc"), answer.get("events")
    close = _find_close(answer)
    if not isinstance(status, int) and close is None and not isinstance(grpc, dict) and not isinstance(events, list):
        mend = "give each line `request` and `response.status`"
        raise TrafficError(f"{location}: its answer has no status", mend)
    headers = _parse_headers(answer.get("headers"))
    raw = b"" if close is not None else _encode_body(answer.get("body"))
    is_stream = "text/event-stream" in headers.get("content-type", "").lower()
    stream = parse_stream(raw) if is_stream and not isinstance(events, list) else Stream()
    if is_stream or events:
        value, body_type = None, "empty"
    elif answer.get("body_type") == "json":  # a JSON string must not be parsed once more
        value, body_type = answer.get("body"), "json"
    else:
        value, body_type = parse_body(raw)
    parsed_events: tuple[Event, ...] | None = None
    if isinstance(events, list):
        parsed_events = _parse_events(events)
    elif is_stream or close:
        parsed_events = tuple(stream.events)
    if not isinstance(status, int):
        status = 101 if close is not None else None  # a WebSocket that was closed had been opened (RFC 6455)
    return Response(
        status=status,
        headers=headers,
        body=value,
        body_type=body_type,
        events=parsed_events,
        close=close,
        grpc=_parse_grpc(grpc) if isinstance(grpc, dict) else None,
        ended=str(answer.get("ended") or stream.ended),
    )


def _find_close(answer: Mapping[str, Json]) -> Close | None:
    """Find how a WebSocket ended, in a member of its own or, as some recorders write it, in the body."""
    close, body = answer.get("close"), answer.get("body")
    if isinstance(close, dict):
        return _parse_close(close)
    if isinstance(body, dict) and "close_code" in body:
        return _parse_close({"code": body["close_code"], "reason": body.get("close_reason")})
    return None


def _parse_close(close: Mapping[str, Json]) -> Close:
    code = close.get("code")
    is_clean = close.get("clean") is not False
    return Close(code if isinstance(code, int) else None, str(close.get("reason") or ""), clean=is_clean)


def _encode_body(body: Json) -> bytes:
    """Return the bytes of a body: a string was text, and any other value was JSON."""
    if body is None:
        return b""
    return (body if isinstance(body, str) else json.dumps(body)).encode("utf-8", "backslashreplace")


def _parse_events(events: list[Json]) -> tuple[Event, ...]:
    return tuple(
        Event(str(event.get("event") or "message"), _parse_data(event.get("data")), sent=event.get("sent") is True)
        for event in events
        if isinstance(event, dict)
    )


def _parse_data(value: Json) -> Json:
    if not isinstance(value, str):
        return value
    data = parse_json(value)
    return value if data is NO_JSON else data


def _parse_grpc(grpc: Mapping[str, Json]) -> GrpcStatus:
    status = grpc.get("status")
    return GrpcStatus(
        status if isinstance(status, int) else 2,  # UNKNOWN
        str(grpc.get("message") or ""),
        _parse_headers(grpc.get("trailers")),
    )


def _parse_headers(headers: Json) -> dict[str, str]:
    """Return headers by name in lower case; none if the value is no object."""
    if not isinstance(headers, dict):
        return {}
    return {str(name).lower(): str(value) for name, value in headers.items()}
