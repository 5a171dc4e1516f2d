"""The description of a record: what it states, its sources and its related records, as labelled rows."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.model import Json
from catalog_probe.catalog.reading.facts import read_facts
from catalog_probe.catalog.reading.record_fields import documented_rows, observed_rows, tags
from catalog_probe.catalog.recognition.answer_patterns import Lookalikes
from catalog_probe.catalog.text.json_values import list_strings

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

MAX_RELATED = 8  # related records shown at once; the others unfold
_MAX_LINKS = 200  # related records shown at all
_MAX_TEXT = 1500  # characters of a value

_TRIGGERS = {
    "request": "the request alone",
    "scenario": "a scenario of the mock",
    "recorded": "somebody's client, whose traffic was recorded",
}

DescriptionRow = dict[str, Json]
"""`label`, and one of `text`, `links` (addresses) or `cites` (each with `where` and `says`)."""


class RelatedRecords:
    """Finds records that belong together: one names the other, or an answer cannot tell them apart."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._addresses = {result.record for result in results}
        self._lookalikes = Lookalikes.from_records(result.parsed_record for result in results if result.probed_record)
        self._naming_records: dict[str, list[str]] = defaultdict(list)
        for result in sorted(results, key=lambda result: result.record):
            for address in self._list_named(result):
                self._naming_records[address].append(result.record)

    def list_related(self, result: Result) -> list[str]:
        """Return the addresses of the related records of this run, sorted."""
        return sorted(
            {*self._list_named(result), *self._naming_records[result.record], *self._lookalikes[result.record]}
        )

    def _list_named(self, result: Result) -> list[str]:
        strings = set(list_strings(result.probed_record))
        return sorted((strings & self._addresses) - {result.record})


def describe_record(result: Result, related_records: RelatedRecords) -> list[DescriptionRow]:
    """Return the rows of a record's description."""
    return list(_iterate_rows(result, related_records))


def _iterate_rows(result: Result, related_records: RelatedRecords) -> Iterator[DescriptionRow]:
    record = result.parsed_record
    for fact in documented_rows(record):
        yield {"label": fact.label, "text": _format_value(fact.value)}
    yield {"label": "documented in", "cites": [_cite(source, result) for source in record.sources]}
    yield {"label": "tags", "text": ", ".join(tags(record)) or "none"}
    for fact in observed_rows(record):
        yield {"label": fact.label, "text": _format_value(fact.value)}
    yield {"label": "provoked by", "text": _describe_trigger(result)}
    related = related_records.list_related(result)
    if related:
        label = f"related, {_MAX_LINKS} of {len(related)}" if len(related) > _MAX_LINKS else "related"
        yield {"label": label, "links": related[:_MAX_LINKS]}


def _describe_trigger(result: Result) -> str:
    trigger = _TRIGGERS.get(result.trigger, "nothing yet")
    cost = f"cost {result.cost}" if result.cost else ""
    lane = f"lane {result.lane}" if result.lane else ""
    return ", ".join(filter(None, [trigger, cost, lane]))


def _format_value(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        lines = (f"{name}: {_format_on_one_line(item)}" for name, item in value.items() if item not in (None, ""))
        return "\n".join(lines)[:_MAX_TEXT]
    return _format_on_one_line(value)[:_MAX_TEXT]


def _format_on_one_line(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(map(_format_on_one_line, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping | bool) else str(value)


def _cite(source: str, result: Result) -> dict[str, Json]:
    """Return where the documents state something, in words, and the statements of that row."""
    return {
        "where": _format_source(source),
        "says": list(_statements_by_source(result.address.provider).get(source, ())),
    }


@cached_per_folders
def _statements_by_source(provider: str) -> Mapping[str, tuple[str, ...]]:
    """Return the statements of each row of the documents, from catalog/facts."""
    statements: dict[str, list[str]] = defaultdict(list)
    for fact in read_facts(provider):
        statements[fact.citation].append(fact.statement)
    return {source: tuple(texts) for source, texts in statements.items()}


def _format_source(source: str) -> str:
    """Return `2:7.3#row` as `document 2, section 7.3, “row”`; another form is left as it is."""
    document, colon, position = source.partition(":")
    if not colon or not document.isdigit():
        return source
    section, _, row = position.partition("#")
    return f"document {document}, section {section}" + (f", “{row}”" if row else "")
