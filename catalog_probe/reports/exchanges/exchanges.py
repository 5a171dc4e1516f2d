"""An attempt as a person follows it: what was sent and seen, when, in rows that both renderers print alike."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.labels import UNJUDGED_LABELS
from catalog_probe.catalog.text.phrases import shorten
from catalog_probe.reports.content.on_endpoints import differing, endpoints_of, short
from catalog_probe.reports.exchanges.json_lines import json_lines
from catalog_probe.reports.exchanges.marks import MARKED, MISSING, NONE, Marks, marks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Attempt, Event, Exchange, Json, Response
    from catalog_probe.catalog.model.exchange import Truncation

MAX_BODY = 6000
MAX_ROWS = 200

GRPC = (
    "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED "
    "RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS "
    "UNAUTHENTICATED"
).split()


def attempts(result: Result, *, max_body: int = MAX_BODY) -> list[dict[str, Json]]:
    """Every attempt, first to last."""
    return [_attempt(number, each, result, max_body) for number, each in enumerate(result.attempts, start=1)]


def answer(exchange: Exchange) -> str:
    """What came of a request, in a few words."""
    response = exchange.response
    if exchange.failure is not None or response is None:
        return exchange.failure.code if exchange.failure else "no answer"
    parts = [str(response.status)] if response.status is not None else []
    if response.events is not None:
        received = sum(not event.sent for event in response.events)
        parts.append(f"{received} {'event' if received == 1 else 'events'}")
    if response.close is not None:
        parts.append(f"close {response.close.code if response.close.code is not None else 'without a code'}")
    if response.grpc is not None:
        parts.append(f"gRPC {grpc_name(response.grpc.status)}")
    if response.ended != "complete":
        parts.append(response.ended)
    return ", ".join(parts) or "an answer without status"


def grpc_name(status: int) -> str:
    return f"{status} {GRPC[status]}" if 0 <= status < len(GRPC) else str(status)


def size(attempt: Attempt) -> int:
    """About how many characters an attempt takes on the page."""
    return sum(len(json.dumps(_exchange(each, MAX_BODY, NONE))) for each in attempt.exchanges)


def format_short_value(value: Json) -> str:
    """A value in a few hundred characters."""
    return _cut(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), 400)


def deviant(result: Result, *, max_body: int = MAX_BODY) -> dict[str, Json] | None:
    """The first exchange of the last attempt in which something differs, its lines marked; None where nothing does."""
    if not result.attempts:
        return None
    attempt, differs = result.attempts[-1], differing(result)
    for each, endpoint in zip(attempt.exchanges, endpoints_of(result, attempt), strict=True):
        found = marks(result, each.label, endpoint)
        if found.findings and ((each.label, endpoint) in differs or not differs):
            return _placed(each, endpoint, max_body, found)
    return None


def pair(result: Result, *, max_body: int = MAX_BODY) -> list[dict[str, Json]]:
    """Of a record whose attempts disagree: the first two answers under one label that do, side by side."""
    seen: dict[tuple[str, str], tuple[int, Exchange, str]] = {}
    for number, attempt in enumerate(result.attempts, start=1):
        for each, endpoint in zip(attempt.exchanges, endpoints_of(result, attempt), strict=True):
            if each.label in UNJUDGED_LABELS:
                continue
            first = seen.setdefault((each.label, endpoint), (number, each, answer(each)))
            if first[2] != answer(each):
                found = marks(result, each.label, endpoint)
                return [
                    {"number": at, **_placed(one, endpoint, max_body, found)}
                    for at, one in ((first[0], first[1]), (number, each))
                ]
    return []


def _attempt(number: int, attempt: Attempt, result: Result, max_body: int) -> dict[str, Json]:
    """An attempt, its exchanges in their order."""
    places = zip(attempt.exchanges, endpoints_of(result, attempt), strict=True)
    shown = [_placed(each, endpoint, max_body, marks(result, each.label, endpoint)) for each, endpoint in places]
    return {
        "number": number,
        "started_at": attempt.started_at,
        "ms": round(attempt.elapsed_ms, 1),
        "exchanges": shown,
    }


def _placed(exchange: Exchange, endpoint: str, max_body: int, found: Marks) -> dict[str, Json]:
    return {**_exchange(exchange, max_body, found), "endpoint": short(endpoint)}


def _exchange(exchange: Exchange, max_body: int, found: Marks) -> dict[str, Json]:
    request, response = exchange.request, exchange.response
    shown: dict[str, Json] = {
        "label": exchange.label,
        "asked": f"{request.method} {request.url}",
        "answer": answer(exchange),
        "marked": found.status,
        "ms": round(exchange.elapsed_ms, 1),
        "sent": list(NONE.headers(_headers(request.headers))),
        "sent_body": [[_text(request.body, max_body), ""]] if request.body is not None else [],
    }
    if exchange.failure is not None:
        shown["failure"] = exchange.failure.detail or exchange.failure.code
    if response is not None:
        shown["seen"] = list(found.headers(_headers(response.headers)))
        shown["seen_body"] = _body(response, max_body, found)
        rows = list(_timeline(exchange, response, max_body, found))
        if rows:
            shown["timeline"] = rows[:MAX_ROWS]
            if len(rows) > MAX_ROWS:
                shown["timeline"].append([None, "", "…", f"{len(rows) - MAX_ROWS} more rows, in results.jsonl", ""])
    return shown


def _body(response: Response, max_body: int, found: Marks) -> list[list[str]]:
    """The lines of a body, each with its mark."""
    if response.cut is None and isinstance(response.body, dict | list):
        return found.lines(response.body, max_body)
    text = _text(response.body, max_body, response.cut)
    return [*([[text, ""]] if text else []), *found.lines(None, 0)[1:]]


def _timeline(exchange: Exchange, response: Response, max_body: int, found: Marks) -> Iterator[list[Json]]:
    """Rows of `[ms since the request, direction, name, text, mark]`; plain answers need none."""
    if response.events is None and response.close is None and response.grpc is None:
        return
    for event in response.events or ():
        mark = MARKED if event.event in found.events and not event.sent else ""
        yield [round(event.at_ms, 1), "→" if event.sent else "←", event.event, _data(event, max_body), mark]
    named = {event.event for event in response.events or ()}
    for missing in sorted(found.events - named - {""}):
        yield [None, "", missing, "did not come", MISSING]
    end = round(exchange.elapsed_ms, 1)
    if response.close is not None:
        how = "clean" if response.close.clean else "no closing handshake"
        code = "without a code" if response.close.code is None else response.close.code
        yield [end, "■", f"close {code}", f"{response.close.reason} ({how})".strip(), MARKED if found.close else ""]
    if response.grpc is not None:
        mark = MARKED if found.status else ""
        yield [end, "■", grpc_name(response.grpc.status), response.grpc.message, mark]
        for name, value in response.grpc.trailers.items():
            yield [end, "■", f"trailer {name}", str(value), ""]
    if response.ended != "complete":
        yield [end, "■", response.ended, "the answer did not end as it should", MARKED if found.findings else ""]


def _data(event: Event, max_body: int) -> str:
    data = event.data
    if event.cut is not None:
        return _text(data, min(max_body, 600), event.cut)
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False) if data is not None else ""
    return _cut(text, min(max_body, 600))


def _headers(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(str(name), str(value)) for name, value in headers.items()]


def _text(body: Json, limit: int, cut: Truncation | None = None) -> str:
    """A body as it is shown; of one that was not kept whole first what the record asserts, then its beginning."""
    if cut is not None:
        pointed = "".join(f"{pointer}: {format_short_value(value)}\n" for pointer, value in cut.values.items())
        told = f"{cut.size} bytes, sha256 {cut.sha256}; of these were kept what is asserted, and the beginning"
        return f"{told}\n{pointed}{shorten(body, limit)}"
    if body is None:
        return ""
    return _cut(body if isinstance(body, str) else "\n".join(text for _, text in json_lines(body)), limit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} more characters, in results.jsonl)"
