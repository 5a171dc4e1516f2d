"""How much of the catalog can be probed, how, and how lately it was seen. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date, timedelta
from typing import TYPE_CHECKING

from catalog.model import Record, Tag
from catalog.reading.last_seen import seen_on
from probes.planning.tally import Tally

if TYPE_CHECKING:
    from catalog.reading.store import Catalog
    from probes.elicit.book import Book

STALE_AFTER = timedelta(days=30)


@dataclass(slots=True)
class Count(Tally):
    """One row of the coverage table."""

    records: int = 0
    recipe: int = 0
    by_request: int = 0
    by_scenario: int = 0
    reasoned: int = 0
    verified: int = 0
    stale: int = 0
    never_seen: int = 0


Table = Mapping[str, Count]


def by_kind(catalog: Catalog, books: Mapping[str, Book], today: date) -> Table:
    """Rows `provider kind`, and a total."""
    return _table(catalog.records, books, today, lambda record: [f"{record.provider} {record.kind}"])


def by_section(catalog: Catalog, books: Mapping[str, Book], today: date) -> Table:
    """Rows `document:section`; a record that cites several sections counts in each."""

    def sections(record: Record) -> list[str]:
        return sorted({source.split("#")[0].strip() for source in record.sources})

    return _table(catalog.records, books, today, sections)


def told(table: Table) -> list[str]:
    """The table as aligned lines."""
    heads = [each.name.replace("_", " ") for each in fields(Count)]
    width = max(map(len, [*table, "total"]), default=5)
    lines = [" ".join([" " * width, *heads])]
    for name, count in table.items():
        cells = [f"{getattr(count, each.name):>{len(head)}}" for each, head in zip(fields(Count), heads, strict=True)]
        lines.append(" ".join([f"{name:<{width}}", *cells]))
    return lines


def _table(
    records: Iterable[Record], books: Mapping[str, Book], today: date, rows_of: Callable[[Record], list[str]]
) -> Table:
    table: dict[str, Count] = {}
    total = Count()
    for record in records:
        count = _count(record, books[record.provider], today)
        for row in rows_of(record):
            table.setdefault(row, Count()).add(count)
        total.add(count)
    return {**dict(sorted(table.items())), "total": total}


def _count(record: Record, book: Book, today: date) -> Count:
    address = str(record.address)
    recipe = book.recipes.get(address)
    seen = seen_on(record)
    stale = seen is not None and today - seen > STALE_AFTER
    return Count(
        records=1,
        recipe=int(recipe is not None),
        by_request=int(recipe is not None and recipe.elicited == "request"),
        by_scenario=int(recipe is not None and recipe.elicited == "scenario"),
        reasoned=int(address in book.unprobed),
        verified=int(Tag.LIVE_VERIFIED in record.tags and not stale),
        stale=int(stale),
        never_seen=int(seen is None),
    )
