"""Attempts and exchanges as data for the page: what was sent, what came back and when, with what differs marked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import UNJUDGED_LABELS
from catalog_probe.catalog.text.readable_text import format_count, shorten
from catalog_probe.reports.content.finding_endpoints import (
    list_exchange_endpoints,
    list_mismatched_steps,
    shorten_endpoint,
)
from catalog_probe.reports.exchanges.json_lines import format_json_lines
from catalog_probe.reports.exchanges.marks import MARKED, MISSING, NO_MARKS, Marks, find_marks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Attempt, Event, Exchange, Json, Response
    from catalog_probe.catalog.model.exchange import Truncation

# Limits in characters; results.jsonl has everything.
MAX_BODY = 6000
_MAX_EVENT = 600
_MAX_SHORT_VALUE = 400
_MAX_ROWS = 200  # of a timeline

_GRPC_STATUSES = (
    "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED "
    "RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS "
    "UNAUTHENTICATED"
).split()


def view_attempts(result: Result, *, max_body: int = MAX_BODY) -> list[dict[str, Json]]:
    """Return all attempts, in their order."""
    return [
        {
            "number": number,
            "started_at": attempt.started_at,
            "ms": round(attempt.elapsed_ms, 1),
            "exchanges": [
                _view_exchange(exchange, endpoint, max_body, find_marks(result, exchange.label, endpoint))
                for exchange, endpoint in _pair_with_endpoints(result, attempt)
            ],
        }
        for number, attempt in enumerate(result.attempts, start=1)
    ]


def view_deviant_exchange(result: Result, *, max_body: int = MAX_BODY) -> dict[str, Json] | None:
    """Return the first exchange of the last attempt in which something differs; None if nothing does."""
    if not result.attempts:
        return None
    mismatched_steps = list_mismatched_steps(result)
    for exchange, endpoint in _pair_with_endpoints(result, result.attempts[-1]):
        marks = find_marks(result, exchange.label, endpoint)
        if marks.findings and (not mismatched_steps or (exchange.label, endpoint) in mismatched_steps):
            return _view_exchange(exchange, endpoint, max_body, marks)
    return None


def view_disagreeing_exchanges(result: Result, *, max_body: int = MAX_BODY) -> list[dict[str, Json]]:
    """Return the first two exchanges of a step that were answered differently, each with its attempt's number."""
    first_exchanges: dict[tuple[str, str], tuple[int, Exchange]] = {}
    for number, attempt in enumerate(result.attempts, start=1):
        for exchange, endpoint in _pair_with_endpoints(result, attempt):
            if exchange.label in UNJUDGED_LABELS:
                continue
            first_number, first = first_exchanges.setdefault((exchange.label, endpoint), (number, exchange))
            if describe_answer(first) != describe_answer(exchange):
                marks = find_marks(result, exchange.label, endpoint)
                return [
                    {"number": first_number, **_view_exchange(first, endpoint, max_body, marks)},
                    {"number": number, **_view_exchange(exchange, endpoint, max_body, marks)},
                ]
    return []


def describe_answer(exchange: Exchange) -> str:
    """Return what came back, in a few words: `200, 3 events`."""
    response = exchange.response
    if exchange.failure is not None:
        return exchange.failure.code
    if response is None:
        return "no answer"
    parts = [str(response.status)] if response.status is not None else []
    if response.events is not None:
        parts.append(format_count(sum(not event.sent for event in response.events), "event"))
    if response.close is not None:
        parts.append(_format_close(response.close.code))
    if response.grpc is not None:
        parts.append(f"gRPC {_format_grpc_status(response.grpc.status)}")
    if response.ended != "complete":
        parts.append(response.ended)
    return ", ".join(parts) or "an answer without status"


def estimate_size(attempt: Attempt) -> int:
    """Return about how many characters an attempt takes on the page."""
    return sum(len(json.dumps(_view_exchange(exchange, "", MAX_BODY, NO_MARKS))) for exchange in attempt.exchanges)


def format_short_value(value: Json) -> str:
    """Return a value in a few hundred characters."""
    return _cut(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), _MAX_SHORT_VALUE)


def _pair_with_endpoints(result: Result, attempt: Attempt) -> Iterator[tuple[Exchange, str]]:
    return zip(attempt.exchanges, list_exchange_endpoints(result, attempt), strict=True)


def _view_exchange(exchange: Exchange, endpoint: str, max_body: int, marks: Marks) -> dict[str, Json]:
    request, response = exchange.request, exchange.response
    view: dict[str, Json] = {
        "label": exchange.label,
        "asked": f"{request.method} {request.url}",
        "answer": describe_answer(exchange),
        "marked": marks.status,
        "ms": round(exchange.elapsed_ms, 1),
        "sent": list(NO_MARKS.mark_headers(_list_headers(request.headers))),
        "sent_body": [[_format_body(request.body, max_body), ""]] if request.body is not None else [],
        "endpoint": shorten_endpoint(endpoint),
    }
    if exchange.failure is not None:
        view["failure"] = exchange.failure.detail or exchange.failure.code
    if response is not None:
        view["seen"] = list(marks.mark_headers(_list_headers(response.headers)))
        view["seen_body"] = _list_body_lines(response, max_body, marks)
        rows = list(_iterate_timeline(exchange, response, max_body, marks))
        if rows:
            view["timeline"] = rows[:_MAX_ROWS]
            if len(rows) > _MAX_ROWS:
                view["timeline"].append([None, "", "…", f"{len(rows) - _MAX_ROWS} more rows, in results.jsonl", ""])
    return view


def _list_body_lines(response: Response, max_body: int, marks: Marks) -> list[list[str]]:
    """Return the lines of a body, each with its mark."""
    if response.cut is None and isinstance(response.body, dict | list):
        return marks.mark_lines(response.body, max_body)
    text = _format_body(response.body, max_body, response.cut)
    return [*([[text, ""]] if text else []), *marks.mark_missing_fields()]


def _iterate_timeline(exchange: Exchange, response: Response, max_body: int, marks: Marks) -> Iterator[list[Json]]:
    """Yield rows of `[ms since the request, direction, name, text, mark]`; a plain answer has none."""
    if response.events is None and response.close is None and response.grpc is None:
        return
    for event in response.events or ():
        mark = MARKED if event.event in marks.events and not event.sent else ""
        yield [round(event.at_ms, 1), "→" if event.sent else "←", event.event, _format_event(event, max_body), mark]
    event_names = {event.event for event in response.events or ()}
    for missing in sorted(marks.events - event_names - {""}):
        yield [None, "", missing, "did not come", MISSING]
    end = round(exchange.elapsed_ms, 1)
    if response.close is not None:
        handshake = "clean" if response.close.clean else "no closing handshake"
        text = f"{response.close.reason} ({handshake})".strip()
        yield [end, "■", _format_close(response.close.code), text, MARKED if marks.close else ""]
    if response.grpc is not None:
        mark = MARKED if marks.status else ""
        yield [end, "■", _format_grpc_status(response.grpc.status), response.grpc.message, mark]
        for name, value in response.grpc.trailers.items():
            yield [end, "■", f"trailer {name}", str(value), ""]
    if response.ended != "complete":
        yield [end, "■", response.ended, "the answer did not end as it should", MARKED if marks.findings else ""]


def _format_close(code: int | None) -> str:
    return f"close {'without a code' if code is None else code}"


def _format_grpc_status(status: int) -> str:
    return f"{status} {_GRPC_STATUSES[status]}" if 0 <= status < len(_GRPC_STATUSES) else str(status)


def _format_event(event: Event, max_body: int) -> str:
    limit = min(max_body, _MAX_EVENT)
    if event.cut is not None:
        return _format_body(event.data, limit, event.cut)
    if event.data is None:
        return ""
    return _cut(event.data if isinstance(event.data, str) else json.dumps(event.data, ensure_ascii=False), limit)


def _list_headers(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(str(name), str(value)) for name, value in headers.items()]


def _format_body(body: Json, limit: int, truncation: Truncation | None = None) -> str:
    """Return a body as text; of a truncated one first the values that the record asserts, then its beginning."""
    if truncation is not None:
        note = (
            f"{truncation.size} bytes, sha256 {truncation.sha256}; "
            "of these were kept what is asserted, and the beginning"
        )
        values = [f"{pointer}: {format_short_value(value)}" for pointer, value in truncation.values.items()]
        return "\n".join([note, *values, shorten(body, limit)])
    if body is None:
        return ""
    return _cut(body if isinstance(body, str) else "\n".join(text for _, text in format_json_lines(body)), limit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} more characters, in results.jsonl)"
