"""Reads JSON lines: exchanges one a line, answers that somebody published, and the results.jsonl of a run of ours."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.results import RECORDED
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import Address, Close, Event, Exchange, GrpcStatus, Reason, Request, Response
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import UNJUDGED_LABELS
from catalog_probe.probes.traffic.recording import RecordedExchange, TrafficError
from catalog_probe.probes.wire.body import NO_JSON, parse_body, parse_json
from catalog_probe.probes.wire.sse import Stream, parse_stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Json

NOBODY = "POST"
"""The method where a published answer does not say how it was asked for; it has no address, so it tells nothing."""


_UNANSWERED = Reason(ReasonCode.CLOSED_WITHOUT_ANSWER, "the recording has no answer")


def attempts_of_result(result: Result, where: str) -> Iterator[RecordedExchange]:
    """The attempts of one probe of ours, each exchange with the label by which it was judged.

    What a client of others did, and a run judged, is still what that client did: nobody asked for it as that record.
    """
    provider = result.address.provider
    for attempt in result.attempts:
        exchanges = tuple(each for each in attempt.exchanges if each.label not in UNJUDGED_LABELS)
        if result.trigger == RECORDED:
            for each in exchanges:
                yield RecordedExchange(where, (replace(each, label="", endpoint=""),), attempt.started_at, provider)
        elif exchanges:
            yield RecordedExchange(where, exchanges, attempt.started_at, provider, result.record, True)


def parse_exchange(line: Mapping[str, Json], where: str) -> RecordedExchange:
    """An exchange of a line of its own: `request` and `response` as in results.jsonl, or an answer alone.

    Beside them may stand `provider`, `at` (RFC 3339), `record`, `label`, and `headers_complete` where it is known
    whether all headers were kept.

    Raises:
        TrafficError: it has no answer that could be read.
    """
    answer = line.get("response")
    found: Mapping[str, Json] = answer if isinstance(answer, dict) else line
    asked = line.get("request")
    request: Mapping[str, Json] = asked if isinstance(asked, dict) else {}
    headers, complete = found.get("headers"), line.get("headers_complete")
    provider = line.get("provider")
    return RecordedExchange(
        where=where,
        exchanges=(
            Exchange(
                label=str(line.get("label") or ""),
                request=Request(
                    str(request.get("method") or NOBODY),
                    str(request.get("url") or ""),
                    _texts(request.get("headers")),
                    request.get("body"),
                ),
                response=_response(found, where) if answer is not None or not request else None,
                failure=_UNANSWERED if request and answer is None else None,
            ),
        ),
        at=str(line.get("at") or request.get("at") or ""),
        provider=provider.lower() if isinstance(provider, str) and provider.lower() in providers() else "",
        record=_address(line.get("record"), where),
        headers_complete=complete if isinstance(complete, bool) else False if headers is None else None,
    )


def _address(told: Json, where: str) -> str:
    if told is None:
        return ""
    try:
        return str(Address.parse(str(told)))
    except ValueError as error:
        raise TrafficError(f"{where}: record: {error}", "write an address of the catalog, or leave it out") from None


def _response(found: Mapping[str, Json], where: str) -> Response:
    status = found.get("status", found.get("http_status"))
    grpc, events = found.get("grpc"), found.get("events")
    close = _closed(found)
    if not isinstance(status, int) and close is None and not isinstance(grpc, dict) and not isinstance(events, list):
        raise TrafficError(f"{where}: its answer has no status", "give each line `request` and `response.status`")
    headers = _texts(found.get("headers"))
    raw = b"" if close is not None else _raw(found.get("body"))
    streamed = "text/event-stream" in headers.get("content-type", "").lower()
    if streamed or events:
        value, body_type = None, "empty"
    elif found.get("body_type") == "json":  # a text that is so called was JSON, and is no text that might hold some
        value, body_type = found.get("body"), "json"
    else:
        value, body_type = parse_body(raw)
    stream = parse_stream(raw) if streamed and not isinstance(events, list) else Stream()
    return Response(
        status=status if isinstance(status, int) else 101 if close is not None else None,  # RFC 6455: it was opened
        headers=headers,
        body=value,
        body_type=body_type,
        events=_events(events) if isinstance(events, list) else tuple(stream.events) if streamed or close else None,
        close=close,
        grpc=_grpc(grpc) if isinstance(grpc, dict) else None,
        ended=str(found.get("ended") or stream.ended),
    )


def _closed(found: Mapping[str, Json]) -> Close | None:
    """How a WebSocket ended, in a member of its own or, as some write it, in what stands for the body."""
    close, body = found.get("close"), found.get("body")
    if isinstance(close, dict):
        return _close(close)
    if isinstance(body, dict) and "close_code" in body:
        return _close({"code": body["close_code"], "reason": body.get("close_reason")})
    return None


def _raw(body: Json) -> bytes:
    """The bytes of a body: one that is kept as text was text, any other value was JSON."""
    if body is None:
        return b""
    return (body if isinstance(body, str) else json.dumps(body)).encode("utf-8", "backslashreplace")


def _events(found: list[Json]) -> tuple[Event, ...]:
    return tuple(
        Event(str(each.get("event") or "message"), _data(each.get("data")), sent=each.get("sent") is True)
        for each in found
        if isinstance(each, dict)
    )


def _data(value: Json) -> Json:
    if not isinstance(value, str):
        return value
    data = parse_json(value)
    return value if data is NO_JSON else data


def _close(found: Mapping[str, Json]) -> Close:
    code = found.get("code")
    return Close(
        code if isinstance(code, int) else None, str(found.get("reason") or ""), clean=found.get("clean") is not False
    )


def _grpc(found: Mapping[str, Json]) -> GrpcStatus:
    status = found.get("status")
    return GrpcStatus(
        status if isinstance(status, int) else 2, str(found.get("message") or ""), _texts(found.get("trailers"))
    )


def _texts(found: Json) -> dict[str, str]:
    """Names in small letters with their values; nothing where there is no table."""
    if not isinstance(found, dict):
        return {}
    return {str(name).lower(): str(value) for name, value in found.items()}
