"""How many of the (error, endpoint) pairs that records name are sent, and what brings each about. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.reading.facts import claimed_endpoints
from probes.planning.spreading import asked_first, elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog.model import Record
    from catalog.reading.store import Catalog
    from probes.elicit.book import Book


@dataclass(slots=True)
class Count:
    """Pairs of a provider: those that records name, of these those that a request brings about, or only a scenario."""

    claimed: int = 0
    by_request: int = 0
    by_scenario: int = 0

    @property
    def sent(self) -> int:
        return self.by_request + self.by_scenario


def by_provider(catalog: Catalog, books: Mapping[str, Book]) -> dict[str, Count]:
    """The pairs of each provider, and a total."""
    counts = {name: Count() for name in books}
    total = Count()
    for record in catalog.select(kind="errors"):
        for scenario in _pairs(catalog, record, books[record.provider]):
            for count in (counts[record.provider], total):
                count.claimed += 1
                count.by_request += scenario is False
                count.by_scenario += scenario is True
    return {**counts, "total": total}


def told(counts: Mapping[str, Count]) -> list[str]:
    """A line a provider, and the total."""
    width = max(map(len, counts))
    return [
        f"{name:<{width}}  {each.sent} of {each.claimed} sent: {each.by_request} by a request, "
        f"{each.by_scenario} by a scenario alone"
        for name, each in counts.items()
    ]


def _pairs(catalog: Catalog, record: Record, book: Book) -> Iterator[bool | None]:
    """For each endpoint that a record names: whether it takes a scenario there, or None where nothing is sent."""
    claimed = claimed_endpoints(record)
    recipe = book.recipes.get(str(record.address))
    if recipe is None:
        yield from (None for _ in claimed)
        return
    others = elsewhere(recipe, record, catalog, book.shapes)
    first = asked_first(recipe, claimed, catalog)
    for endpoint in claimed:
        if endpoint in others:
            yield others[endpoint].scenario
        else:
            yield recipe.scenario if endpoint in first else None
