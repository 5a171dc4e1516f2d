"""Exchanges as a report shows them, with what differs marked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.causes import ABSENT, observed_class
from catalog_probe.catalog.model import Aspect, Severity
from catalog_probe.catalog.model.exchange import UNJUDGED_LABELS
from catalog_probe.catalog.text.readable_text import format_count, quote_if_ambiguous, shorten
from catalog_probe.reports.content.findings import list_exchange_endpoints, list_mismatched_steps, shorten_endpoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Attempt, Event, Exchange, Finding, Json, Response
    from catalog_probe.catalog.model.exchange import Truncation


Pointer = tuple[str | int, ...]

JsonLine = tuple[Pointer, str, str]
"""A pointer, `open`, `close` or `value`, and the text."""

_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode


def format_json_lines(value: Json) -> list[tuple[Pointer, str]]:
    """Return the lines of a value, indented by two blanks per level.

    >>> [line for _, line in format_json_lines({"a": [1]})]
    ['{', '  "a": [', '    1', '  ]', '}']
    """
    return [(pointer, text) for pointer, _, text in split_json(value)]


def split_json(value: Json, *, sort_names: bool = False) -> list[JsonLine]:
    """Return the lines of a value, each with its type."""
    lines: list[JsonLine] = []
    _add_lines(lines, value, (), "", "", "", sort_names)
    return lines


def _add_lines(
    lines: list[JsonLine], value: Json, pointer: Pointer, indent: str, name: str, comma: str, sort_names: bool
) -> None:
    """Append the lines of a value to a list: faster than a generator, and a page has a hundred thousand lines."""
    if not value or not isinstance(value, dict | list):
        lines.append((pointer, "value", f"{indent}{name}{_encode(value)}{comma}"))
        return
    if isinstance(value, dict):
        opening, closing = "{", "}"
        members = sorted(value.items()) if sort_names else value.items()
        children = [(key, f"{_encode(key)}: ", child) for key, child in members]
    else:
        opening, closing = "[", "]"
        children = [(index, "", child) for index, child in enumerate(value)]
    lines.append((pointer, "open", f"{indent}{name}{opening}"))
    last = len(children) - 1
    for position, (key, child_name, child) in enumerate(children):
        child_comma = "," if position < last else ""
        _add_lines(lines, child, (*pointer, key), f"{indent}  ", child_name, child_comma, sort_names)
    lines.append((pointer, "close", f"{indent}{closing}{comma}"))


MARKED, MISSING = "marked", "missing"

ELEMENTS = {MARKED: "ins", MISSING: "del"}
"""The HTML element of each mark."""

_NAMED_ASPECTS = frozenset({Aspect.TYPE, Aspect.CODE, Aspect.PARAM, Aspect.MESSAGE})
"""Aspects that are members of the same name in a body, at the depth of its envelope."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The findings of one exchange, asked for what to mark. Empty if nothing differs."""

    findings: tuple[Finding, ...] = field(default_factory=tuple)

    @property
    def status(self) -> bool:
        """Whether the status, of HTTP or gRPC, or the failure differs."""
        return any(finding.aspect in (Aspect.STATUS, Aspect.STATE) for finding in self.findings)

    @property
    def close(self) -> bool:
        return any(finding.aspect is Aspect.CLOSE for finding in self.findings)

    @property
    def events(self) -> frozenset[str]:
        """The names of the events that differ."""
        return frozenset(finding.location for finding in self.findings if finding.aspect is Aspect.EVENT)

    def mark_headers(self, headers: Iterable[tuple[str, str]]) -> Iterator[list[str]]:
        """Yield name, value and mark of each header, and last the missing ones."""
        # A dict, to keep the order of the findings.
        differing = dict.fromkeys(
            finding.location.lower()
            for finding in self.findings
            if finding.aspect is Aspect.HEADER and finding.location
        )
        present = set()
        for name, value in headers:
            present.add(name.lower())
            yield [name, value, MARKED if name.lower() in differing else ""]
        for name in differing:
            if name not in present and "*" not in name:
                yield [name, "absent", MISSING]

    def mark_lines(self, body: Json, limit: int) -> list[list[str]]:
        """Return the lines of a JSON body with their marks; beyond `limit` characters only the marked ones."""
        lines: list[list[str]] = []
        differing = set(self._find_differing(body))
        size = hidden_size = 0
        for pointer, text in format_json_lines(body):
            is_marked = bool(differing) and any(pointer[: len(parent)] == parent for parent in differing)
            size += len(text) + 1
            if size <= limit or is_marked:
                lines.append([text, MARKED if is_marked else ""])
            else:
                hidden_size += len(text)
        if hidden_size:
            lines.append([f"… ({hidden_size} more characters, in results.jsonl)", ""])
        return [*lines, *self.mark_missing_fields()]

    def mark_missing_fields(self) -> list[list[str]]:
        """Return a line for each field that is missing in the body."""
        return [[f"{finding.location}: absent", MISSING] for finding in self.findings if _is_missing_field(finding)]

    def _find_differing(self, body: Json) -> Iterator[Pointer]:
        for finding in self.findings:
            if finding.aspect in _NAMED_ASPECTS:
                name = str(finding.aspect)
                pointers = [pointer for pointer, _ in format_json_lines(body) if pointer and pointer[-1] == name]
                depth = max(map(len, pointers), default=0)
                yield from (pointer for pointer in pointers if len(pointer) == depth)
            elif finding.location.startswith("/"):
                pattern = finding.location.split("/")[1:]
                yield from (pointer for pointer, _ in format_json_lines(body) if _matches_pattern(pointer, pattern))


NO_MARKS = Marks()


def find_marks(result: Result, label: str, endpoint: str) -> Marks:
    """Return the marks of the exchange with this label on this endpoint."""
    return Marks(
        tuple(
            finding
            for finding in result.findings
            if finding.severity is not Severity.INFO
            and finding.label == label
            and (not endpoint or not finding.endpoints or endpoint in finding.endpoints)
        )
    )


def _is_missing_field(finding: Finding) -> bool:
    is_field = finding.aspect is Aspect.BODY and finding.location.startswith("/") and "*" not in finding.location
    return is_field and observed_class(finding) == ABSENT


def _matches_pattern(pointer: Pointer, pattern: Sequence[str]) -> bool:
    return len(pointer) == len(pattern) and all(
        name == "*" or name.replace("~1", "/").replace("~0", "~") == str(part)
        for part, name in zip(pointer, pattern, strict=True)
    )


MAX_LINES = 160
_MAX_CHARACTERS = 4000  # of each side, if it is no JSON


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a line; marked if it differs from the other side."""

    text: str
    marked: bool = False


Line = tuple[TextPiece, ...]


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """One line of each side; None if a side has no such line."""

    documented: Line | None
    observed: Line | None


def compare_side_by_side(documented: Json, observed: Json) -> list[DifferenceRow]:
    """Return two values as rows, at most `MAX_LINES` of them and one that counts the rest. Pure."""
    if isinstance(documented, dict | list) and type(documented) is type(observed):
        rows = list(_compare_json(documented, observed))
    elif isinstance(documented, str) and isinstance(observed, str):
        rows = [_compare_strings(documented[:_MAX_CHARACTERS], observed[:_MAX_CHARACTERS])]
    else:
        left = _mark_all(quote_if_ambiguous(documented, observed))
        right = _mark_all(quote_if_ambiguous(observed, documented))
        rows = [DifferenceRow(*lines) for lines in zip_longest(left, right)]
    if len(rows) <= MAX_LINES:
        return rows
    note = (TextPiece(f"… {len(rows) - MAX_LINES} more lines, in the exchange"),)
    return [*rows[:MAX_LINES], DifferenceRow(note, note)]


def _compare_json(documented: Json, observed: Json) -> Iterator[DifferenceRow]:
    """Align the lines of two JSON values by their pointers."""
    left_changes, right_changes = _find_changes(documented, observed)
    left, right = (split_json(side, sort_names=True) for side in (documented, observed))
    left_keys, right_keys = ([(pointer, kind) for pointer, kind, _ in lines] for lines in (left, right))
    matcher = SequenceMatcher(None, left_keys, right_keys, autojunk=False)
    for _, left_start, left_end, right_start, right_end in matcher.get_opcodes():
        left_lines = (_mark_line(line, left_changes) for line in left[left_start:left_end])
        right_lines = (_mark_line(line, right_changes) for line in right[right_start:right_end])
        yield from (DifferenceRow(*lines) for lines in zip_longest(left_lines, right_lines))


def _mark_line(line: JsonLine, changes: set[Pointer]) -> Line:
    pointer, _, text = line
    indent = len(text) - len(text.lstrip())
    is_changed = any(pointer[: len(change)] == change for change in changes)
    return (TextPiece(text[:indent]), TextPiece(text[indent:], is_changed))


def _find_changes(documented: Json, observed: Json) -> tuple[set[Pointer], set[Pointer]]:
    """Return for each side the pointers to what the other side does not have."""
    from deepdiff import DeepDiff  # 0.1 s to import; most bodies do not differ

    left: set[Pointer] = set()
    right: set[Pointer] = set()
    # With the usual threshold DeepDiff reports two very different objects as one change, without their members.
    changes = DeepDiff(documented, observed, view="tree", verbose_level=0, threshold_to_diff_deeper=0)
    for kind, levels in changes.items():
        for level in levels:
            pointer = tuple(level.path(output_format="list"))
            if not kind.endswith("_added"):
                left.add(pointer)
            if not kind.endswith("_removed"):
                right.add(pointer)
    return left, right


def _compare_strings(documented: str, observed: str) -> DifferenceRow:
    """Mark the part between the common beginning and end, or all if these are less than a third of the shorter text."""
    shorter = min(len(documented), len(observed))
    head = 0
    while head < shorter and documented[head] == observed[head]:
        head += 1
    tail = 0
    while tail < shorter - head and documented[-1 - tail] == observed[-1 - tail]:
        tail += 1
    if head + tail < shorter / 3:
        head = tail = 0
    return DifferenceRow(_mark_middle(documented, head, tail), _mark_middle(observed, head, tail))


def _mark_middle(text: str, head: int, tail: int) -> Line:
    end = len(text) - tail
    pieces = (TextPiece(text[:head]), TextPiece(text[head:end], marked=True), TextPiece(text[end:]))
    return tuple(piece for piece in pieces if piece.text) or (TextPiece("(empty)"),)


def _mark_all(value: Json) -> list[Line]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return [(TextPiece(line, marked=True),) for line in text[:_MAX_CHARACTERS].split("\n")]


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
