"""A record, a fact, a code or the list of addresses as text for a person at a terminal."""

from __future__ import annotations

import json
import textwrap
from collections import defaultdict
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import explanations
from catalog_probe.catalog.observed.cells import cells_of, resolved_assumptions
from catalog_probe.catalog.observed.last_seen import last_seen
from catalog_probe.catalog.reading.annotations import request_assumptions
from catalog_probe.catalog.reading.facts import Wire
from catalog_probe.catalog.reading.record_fields import description, occurs_on, tags
from catalog_probe.catalog.text.phrases import shorten
from catalog_probe.catalog.text.sanitizing import sanitize_row

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.model.explanations import Explanation
    from catalog_probe.catalog.observed.cells import Cell, Resolved
    from catalog_probe.catalog.reading.facts import Fact

WIDTH = 80
_LABEL = 24
_NARROW = 16
"""Where the text begins beside the label of a line about one assertion."""
_PLACES = 3
"""Endpoints named in one line; the rest are counted."""
_TOLD_ABOVE = ("name", "description", "status", "assumed", "alternatives", "out_of_reach", "depends", "evidence")

_KINDS_OF_CODE = (
    ("Findings: a difference between the documents and an answer", explanations.FINDINGS),
    ("Inconclusive: it could not be observed", explanations.INCONCLUSIVE),
    ("Not probed: not allowed here, or nothing can provoke it here", explanations.NOT_PROBED),
    ("Restricted: this account may not see it", explanations.RESTRICTED),
    ("Flaky: attempts disagree", explanations.DISAGREEMENT),
    ("Harness errors: our own fault", explanations.HARNESS),
)


def format_record(record: Record, file: str, made: Sequence[Assertion], lookalikes: Sequence[str] = ()) -> str:
    """A record: what it is, each thing that it asserts and when that was last seen, then every other field."""
    cells, resolved = cells_of(record, made), resolved_assumptions(record, made)
    endpoints = occurs_on(record) | {endpoint for endpoint, _ in cells}
    observed = {endpoint for (endpoint, _), cell in cells.items() if cell.on is not None}
    lines = [f"{record.address}", f"  {record.title}"]
    lines += _wrapped(description(record), "  ")
    lines += ["", *_row("tags", ", ".join(tags(record))), *_row("last seen", _last_seen(record))]
    lines += _row("observed", _of(observed, endpoints))
    lines += _row("file", file)
    if lookalikes:
        lines += _row("looks like", ", ".join(lookalikes))
    lines += ["", "  What it asserts", ""]
    for each in made:
        own = {endpoint: cell for (endpoint, key), cell in cells.items() if key == str(each.key)}
        lines += _asserted(each, own, endpoints, resolved.get(str(each.key)))
    for key, reason in request_assumptions(record).items():
        lines += [f"  {key}", *_row("assumed", reason, "    ", _NARROW)]
    lines += ["", "  Its other fields", "", *_fields(_without_relations(record.data), "  ", leave_out=_TOLD_ABOVE)]
    return "\n".join(map(sanitize_row, lines))


def _asserted(
    each: Assertion, cells: Mapping[str, Cell], endpoints: Collection[str], resolved: Resolved | None
) -> Iterator[str]:
    """One assertion: what it states, who says so, and where and when that was last seen."""

    def row(label: str, text: str) -> list[str]:
        return _row(label, text, "    ", _NARROW)

    yield f"  {each.key}"
    yield from row("states", _plain(each.documented))
    if each.alternatives:
        yield from row("or", ", ".join(_plain(value) for value in each.alternatives if value != each.documented))
    yield from row(str(each.basis), each.assumed or each.source)
    if each.assumed and each.source:
        yield from row("stated by", each.source)
    if each.depends_on:
        yield from row("depends on", ", ".join(each.depends_on))
    if each.out_of_reach:
        yield from row("out of reach", each.out_of_reach)
    if resolved is not None:
        yield from row("resolved", f"{resolved.on}: {_plain(resolved.observed)}")
    by_result: dict[str, list[str]] = defaultdict(list)
    for endpoint, cell in sorted(cells.items()):
        if cell.on is not None:
            by_result[f"{cell.on} {f'mismatched: {cell.mismatch}' if cell.mismatch else 'matched'}"].append(endpoint)
    yield from row("observed", f"on {_of([place for own in by_result.values() for place in own], endpoints)}")
    for how, places in sorted(by_result.items(), reverse=True):
        more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
        yield from row("", f"{how}, {', '.join(places[:_PLACES])}{more}")


def format_fact(fact: Fact, checked_by: Sequence[Assertion], candidates: Sequence[Assertion]) -> str:
    """A fact, and the assertions that check it; if there is none, those that cite its row."""
    lines = [fact.id, *_row("row", fact.citation, "  ", _NARROW), *_row("states", fact.statement, "  ", _NARROW)]
    lines += _row("note", fact.note, "  ", _NARROW) if fact.note else []
    if fact.wire is not Wire.YES:
        return "\n".join(map(sanitize_row, [*lines, *_row("wire", str(fact.wire), "  ", _NARROW)]))
    label = "in part by" if fact.in_part else "checked by"
    if not checked_by:
        lines += _row("checked by", fact.reason or "nothing yet", "  ", _NARROW)
        label, checked_by = "its row", candidates
    alike: dict[str, list[Assertion]] = defaultdict(list)
    for each in checked_by:
        alike[f"{each.key} = {shorten(_plain(each.documented), WIDTH)}"].append(each)
    for stated, made in alike.items():
        where = format_assertion(made[0]) if len(made) == 1 else f"{stated}, in {len(made)} records: {made[0].id} …"
        lines += [f"  {label:<{_NARROW - 2}} {where}"]
        label = ""
    return "\n".join(map(sanitize_row, lines))


def format_assertion(each: Assertion) -> str:
    """An assertion by its id, and what it states."""
    return sanitize_row(f"{each.id} = {shorten(_plain(each.documented), WIDTH)}")


def _without_relations(data: Mapping[str, Json]) -> Mapping[str, Json]:
    """The fields of a record without the relations told above: of an endpoint's, the related records stay."""
    related = data.get("relations")
    if not isinstance(related, list):
        return data
    left = [each for each in related if not isinstance(each, dict)]
    return {name: left if name == "relations" else value for name, value in data.items() if name != "relations" or left}


def _of(some: Collection[str], endpoints: Collection[str]) -> str:
    if not endpoints:
        return "no endpoint yet"
    return f"{len(some)} of {len(endpoints)} {'endpoint' if len(endpoints) == 1 else 'endpoints'}"


def format_code(code: Explanation) -> str:
    """What a code means, and what to do next."""
    return "\n".join([code.code, *_wrapped(code.means, "  "), *_wrapped(f"Next: {code.next_step}", "  ")])


def format_all_codes() -> str:
    """Every code, by what it is for."""
    blocks = []
    for title, table in _KINDS_OF_CODE:
        rows = [line for code in table.values() for line in _row(code.code, code.means, indent="  ")]
        blocks.append("\n".join([title, *rows]))
    return "\n\n".join(blocks)


def format_addresses(records: Iterable[Record]) -> str:
    return "\n".join(str(record.address) for record in records)


def _last_seen(record: Record) -> str:
    last = last_seen(record)
    if last is None:
        return "never"
    target = f" on {last.target}" if last.target else ""
    result = f": {last.result}" if last.result else ""
    return f"{last.day}{target}{result}"


def _fields(value: Mapping[str, Json], indent: str, leave_out: Sequence[str] = ()) -> Iterator[str]:
    """An object, a line for each plain value, deeper ones below their name."""
    for name, item in value.items():
        if name in leave_out:
            continue
        if isinstance(item, dict) and _is_deep(item):
            yield f"{indent}{name}"
            yield from _fields(item, indent + "  ")
        elif isinstance(item, list) and len(_plain(item)) > WIDTH - _LABEL:
            yield from _listed(str(name), item, indent)
        else:
            yield from _row(str(name), _plain(item), indent)


def _is_deep(item: dict[str, Json]) -> bool:
    return any(isinstance(inner, dict) for inner in item.values()) or len(_plain(item)) > WIDTH - _LABEL


def _listed(name: str, items: list[Json], indent: str) -> Iterator[str]:
    """A list, one item a line."""
    for item in items:
        yield from _row(name, _plain(item), indent)
        name = ""


def _plain(value: Json) -> str:
    """A value on one line, without the marks of JSON where they help nobody."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value) or "none"
    if value is None or value == {}:
        return "none"
    if isinstance(value, dict) and all(isinstance(item, str | bool | int | None) for item in value.values()):
        return ", ".join(f"{name} {_plain(item)}" for name, item in value.items())
    return json.dumps(value, ensure_ascii=False)


def _row(label: str, text: str, indent: str = "  ", column: int = _LABEL) -> list[str]:
    """A label and its text beside it; below it, where a word of it would not fit there."""
    start = f"{indent}{label}".ljust(column) + " "
    if max(map(len, text.split()), default=0) > WIDTH - len(start):
        below = textwrap.wrap(text, WIDTH - len(indent) - 2, break_on_hyphens=False)
        return [*([f"{indent}{label}"] if label else []), *(f"{indent}  {line}" for line in below)]
    first, *more = textwrap.wrap(text, WIDTH - len(start), break_on_hyphens=False) or [""]
    return [f"{start}{first}".rstrip(), *(" " * len(start) + line for line in more)]


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
