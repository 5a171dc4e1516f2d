"""Text of a record, a fact or a code for a person at a terminal."""

from __future__ import annotations

import json
import textwrap
from collections import defaultdict
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import explanations
from catalog_probe.catalog.observed import cells_of, last_seen, resolved_assumptions
from catalog_probe.catalog.reading.assertions import request_assumptions
from catalog_probe.catalog.reading.facts import Wire
from catalog_probe.catalog.reading.record_fields import description, label_action, occurs_on, retry_advice, tags
from catalog_probe.catalog.recognition.advice import advise_for_record, describe_statements
from catalog_probe.catalog.text.readable_text import format_count, sanitize_row, shorten

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.model.explanations import Explanation
    from catalog_probe.catalog.observed import Cell, ResolvedAssumption
    from catalog_probe.catalog.reading.facts import Fact


WIDTH = 80  # characters of a line
_TEXT_COLUMN = 24  # where the text begins, beside its label
_NARROW_COLUMN = 16  # the same for lines about one assertion
_MAX_ENDPOINTS = 3  # named in one line; the rest are counted
_FIELDS_SHOWN_ABOVE = (
    "name",
    "description",
    "status",
    "recommended_action",
    "action_source",
    "advice",
    "assumed",
    "sources_of",
    "alternatives",
    "out_of_reach",
    "depends",
    "evidence",
)

_KINDS_OF_CODE = (
    ("Findings: a difference between the documents and an answer", explanations.FINDINGS),
    ("Inconclusive: it could not be observed", explanations.INCONCLUSIVE),
    ("Not probed: not allowed here, or nothing can provoke it here", explanations.NOT_PROBED),
    ("Restricted: this account may not see it", explanations.RESTRICTED),
    ("Flaky: attempts disagree", explanations.DISAGREEMENT),
    ("Harness errors: our own fault", explanations.HARNESS),
)


def format_record(record: Record, file: str, assertions: Sequence[Assertion], lookalikes: Sequence[str] = ()) -> str:
    """Format a record: what it is, each assertion with its last observation, then every other field."""
    cells, resolved = cells_of(record, assertions), resolved_assumptions(record, assertions)
    endpoints = occurs_on(record) | {endpoint for endpoint, _ in cells}
    observed = {endpoint for (endpoint, _), cell in cells.items() if cell.on is not None}
    lines = [f"{record.address}", f"  {record.title}"]
    lines += _wrap(description(record), "  ")
    lines += ["", *_row("tags", ", ".join(tags(record))), *_row("last seen", _last_seen(record))]
    lines += _row("observed", _format_share(observed, endpoints))
    lines += _row("file", file)
    advice = retry_advice(record)
    lines += _row(*label_action(advice.action, advice.action_source)) if advice.action else []
    for label, text in describe_statements(advise_for_record(record)):
        lines += _row(label, text)
    if lookalikes:
        lines += _row("looks like", ", ".join(lookalikes))
    lines += ["", "  What it asserts", ""]
    for assertion in assertions:
        own_cells = {endpoint: cell for (endpoint, key), cell in cells.items() if key == str(assertion.key)}
        lines += _format_evidence(assertion, own_cells, endpoints, resolved.get(str(assertion.key)))
    for key, reason in request_assumptions(record).items():
        lines += [f"  {key}", *_row("assumed", reason, "    ", _NARROW_COLUMN)]
    lines += [
        "",
        "  Its other fields",
        "",
        *_fields(_without_relations(record.data), "  ", leave_out=_FIELDS_SHOWN_ABOVE),
    ]
    return "\n".join(map(sanitize_row, lines))


def _format_evidence(
    assertion: Assertion, cells: Mapping[str, Cell], endpoints: Collection[str], resolved: ResolvedAssumption | None
) -> Iterator[str]:
    """Format an assertion: what it states, its source, and its last observation on assertion endpoint."""

    def row(label: str, text: str) -> list[str]:
        return _row(label, text, "    ", _NARROW_COLUMN)

    yield f"  {assertion.key}"
    yield from row("states", _plain(assertion.documented))
    if assertion.alternatives:
        yield from row(
            "or", ", ".join(_plain(value) for value in assertion.alternatives if value != assertion.documented)
        )
    yield from row(str(assertion.basis), assertion.assumed or assertion.source)
    if assertion.assumed and assertion.source:
        yield from row("stated by", assertion.source)
    if assertion.depends_on:
        yield from row("depends on", ", ".join(assertion.depends_on))
    if assertion.out_of_reach:
        yield from row("out of reach", assertion.out_of_reach)
    if resolved is not None:
        yield from row("resolved", f"{resolved.on}: {_plain(resolved.observed)}")
    by_result: dict[str, list[str]] = defaultdict(list)
    for endpoint, cell in sorted(cells.items()):
        if cell.on is not None:
            result = f"mismatched: {cell.mismatch}" if cell.mismatch else "matched"
            by_result[f"{cell.on} {result}"].append(endpoint)
    observed = [endpoint for result_endpoints in by_result.values() for endpoint in result_endpoints]
    yield from row("observed", f"on {_format_share(observed, endpoints)}")
    for result, result_endpoints in sorted(by_result.items(), reverse=True):
        text = f"{result}, {', '.join(result_endpoints[:_MAX_ENDPOINTS])}"
        if len(result_endpoints) > _MAX_ENDPOINTS:
            text += f" and {len(result_endpoints) - _MAX_ENDPOINTS} more"
        yield from row("", text)


def format_fact(fact: Fact, checked_by: Sequence[Assertion], candidates: Sequence[Assertion]) -> str:
    """Format a fact and the assertions that check it; if there is none, those that cite its row."""
    lines = [
        fact.id,
        *_row("row", fact.citation, "  ", _NARROW_COLUMN),
        *_row("states", fact.statement, "  ", _NARROW_COLUMN),
    ]
    lines += _row("holds over", " x ".join(map(str, fact.set)), "  ", _NARROW_COLUMN) if fact.set else []
    lines += _row("note", fact.note, "  ", _NARROW_COLUMN) if fact.note else []
    if fact.wire is not Wire.YES:
        return "\n".join(map(sanitize_row, [*lines, *_row("wire", str(fact.wire), "  ", _NARROW_COLUMN)]))
    label = "in part by" if fact.in_part else "checked by"
    if not checked_by:
        lines += _row("checked by", fact.reason or "nothing yet", "  ", _NARROW_COLUMN)
        label, checked_by = "its row", candidates
    equal_assertions: dict[str, list[Assertion]] = defaultdict(list)
    for assertion in checked_by:
        statement = f"{assertion.key} = {shorten(_plain(assertion.documented), WIDTH)}"
        equal_assertions[statement].append(assertion)
    for statement, assertions in equal_assertions.items():
        text = f"{statement}, in {len(assertions)} records: {assertions[0].id} …"
        if len(assertions) == 1:
            text = format_assertion(assertions[0])
        lines += [f"  {label:<{_NARROW_COLUMN - 2}} {text}"]
        label = ""
    return "\n".join(map(sanitize_row, lines))


def format_assertion(assertion: Assertion) -> str:
    """Format an assertion: its id, and what it states."""
    return sanitize_row(f"{assertion.id} = {shorten(_plain(assertion.documented), WIDTH)}")


def _without_relations(data: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the fields of a record without its asserted relations. Names of related records stay."""
    related = data.get("relations")
    if not isinstance(related, list):
        return data
    related_records = [item for item in related if not isinstance(item, dict)]
    fields = {**data, "relations": related_records}
    if not related_records:
        del fields["relations"]
    return fields


def _format_share(some: Collection[str], endpoints: Collection[str]) -> str:
    if not endpoints:
        return "no endpoint yet"
    return f"{len(some)} of {format_count(len(endpoints), 'endpoint')}"


def format_code(code: Explanation) -> str:
    """Format what a code means, and what to do next."""
    return "\n".join([code.code, *_wrap(code.means, "  "), *_wrap(f"Next: {code.next_step}", "  ")])


def format_all_codes() -> str:
    """Format every code, by its purpose."""
    blocks = []
    for title, table in _KINDS_OF_CODE:
        rows = [line for code in table.values() for line in _row(code.code, code.means, indent="  ")]
        blocks.append("\n".join([title, *rows]))
    return "\n\n".join(blocks)


def _last_seen(record: Record) -> str:
    last = last_seen(record)
    if last is None:
        return "never"
    target = f" on {last.target}" if last.target else ""
    result = f": {last.result}" if last.result else ""
    return f"{last.day}{target}{result}"


def _fields(value: Mapping[str, Json], indent: str, leave_out: Sequence[str] = ()) -> Iterator[str]:
    """Format an object: one line for each plain value, nested ones below their name."""
    for name, item in value.items():
        if name in leave_out:
            continue
        if isinstance(item, dict) and _is_nested(item):
            yield f"{indent}{name}"
            yield from _fields(item, indent + "  ")
        elif isinstance(item, list) and len(_plain(item)) > WIDTH - _TEXT_COLUMN:
            yield from _format_list(str(name), item, indent)
        else:
            yield from _row(str(name), _plain(item), indent)


def _is_nested(item: dict[str, Json]) -> bool:
    return any(isinstance(inner, dict) for inner in item.values()) or len(_plain(item)) > WIDTH - _TEXT_COLUMN


def _format_list(name: str, items: list[Json], indent: str) -> Iterator[str]:
    """Format a list, one item per line."""
    for item in items:
        yield from _row(name, _plain(item), indent)
        name = ""


def _plain(value: Json) -> str:
    """Format a value on one line, without quotes and brackets if they do not help."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value) or "none"
    if value is None or value == {}:
        return "none"
    if isinstance(value, dict) and all(isinstance(item, str | bool | int | None) for item in value.values()):
        return ", ".join(f"{name} {_plain(item)}" for name, item in value.items())
    return json.dumps(value, ensure_ascii=False)


def _row(label: str, text: str, indent: str = "  ", column: int = _TEXT_COLUMN) -> list[str]:
    """Format a label and its text beside it; below it, if a word would not fit."""
    start = f"{indent}{label}".ljust(column) + " "
    if max(map(len, text.split()), default=0) > WIDTH - len(start):
        below = textwrap.wrap(text, WIDTH - len(indent) - 2, break_on_hyphens=False)
        return [*([f"{indent}{label}"] if label else []), *(f"{indent}  {line}" for line in below)]
    first, *more = textwrap.wrap(text, WIDTH - len(start), break_on_hyphens=False) or [""]
    return [f"{start}{first}".rstrip(), *(" " * len(start) + line for line in more)]


def _wrap(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
