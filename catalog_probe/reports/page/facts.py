"""What a record says, as labelled rows: every record has its section, whatever became of its probe."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.model import Json
from catalog_probe.catalog.reading.facts import read_facts
from catalog_probe.catalog.reading.record_fields import documented_rows, observed_rows, tags
from catalog_probe.catalog.recognition.lookalikes import Lookalikes
from catalog_probe.catalog.text.json_tree import list_strings

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

MAX_TEXT = 1500

RELATED = 8
"""Related records shown at once; the rest unfold."""

LINKED = 200
"""Related records that are shown at all."""

_HOW = {
    "request": "the request alone",
    "scenario": "a scenario of the mock",
    "recorded": "somebody's client, whose traffic was recorded",
}

Row = dict[str, Json]
"""`label`, and one of `text`, `links` (addresses) or `cites` (where in the documents, and what stands there)."""


class Relations:
    """Which records belong together: what a record names, who names it, and what an answer cannot tell from it."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._known = {result.record for result in results}
        self._lookalikes = Lookalikes.from_records(result.parsed_record for result in results if result.probed_record)
        self._named_by: dict[str, list[str]] = defaultdict(list)
        for result in sorted(results, key=lambda each: each.record):
            for address in self.named(result):
                self._named_by[address].append(result.record)

    def named(self, result: Result) -> list[str]:
        """The addresses that a record's own fields hold, if this run knows them."""
        found = {text for text in list_strings(result.probed_record) if text in self._known and text != result.record}
        return sorted(found)

    def related(self, result: Result) -> list[str]:
        return sorted({*self.named(result), *self._named_by[result.record], *self._lookalikes[result.record]})


def facts(result: Result, relations: Relations) -> list[Row]:
    """The rows of a record's section."""
    return list(_facts(result, relations))


def title(result: Result) -> str:
    return result.parsed_record.title


def _facts(result: Result, relations: Relations) -> Iterator[Row]:
    record = result.parsed_record
    for fact in documented_rows(record):
        yield {"label": fact.label, "text": _said(fact.value)}
    yield {"label": "documented in", "cites": [_cite(each, result) for each in record.sources]}
    yield {"label": "tags", "text": ", ".join(tags(record)) or "none"}
    for fact in observed_rows(record):
        yield {"label": fact.label, "text": _said(fact.value)}
    yield {"label": "provoked by", "text": _provoked(result)}
    related = relations.related(result)
    if related:
        label = f"related, {LINKED} of {len(related)}" if len(related) > LINKED else "related"
        yield {"label": label, "links": related[:LINKED]}


def _provoked(result: Result) -> str:
    how = _HOW.get(result.trigger, "nothing yet")
    also = [f"cost {result.cost}" if result.cost else "", f"lane {result.lane}" if result.lane else ""]
    return ", ".join([how, *(each for each in also if each)])


def _said(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_flat(item)}" for key, item in value.items() if item not in (None, ""))[:MAX_TEXT]
    return _flat(value)[:MAX_TEXT]


def _flat(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(map(_flat, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping | bool) else str(value)


def _cite(source: str, result: Result) -> dict[str, Json]:
    """Where the documents state it, in words, and what stands there: `2:7.3#row` is document 2, section 7.3."""
    return {"where": _cited(source), "says": list(_rows(result.address.provider).get(source, ()))}


@cached_per_folders
def _rows(provider: str) -> Mapping[str, tuple[str, ...]]:
    """The statements of each row of the documents, by its citation, as catalog/facts has them."""
    found: dict[str, list[str]] = defaultdict(list)
    for fact in read_facts(provider):
        found[fact.citation].append(fact.statement)
    return {citation: tuple(statements) for citation, statements in found.items()}


def _cited(source: str) -> str:
    document, colon, rest = source.partition(":")
    if not colon or not document.isdigit():
        return source
    section, _, row = rest.partition("#")
    return f"document {document}, section {section}" + (f", “{row}”" if row else "")
