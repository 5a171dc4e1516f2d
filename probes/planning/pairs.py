"""How many of the (error, endpoint) pairs that records name can be observed, and by whom. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog.model.reach import Reach, words_by_reach
from catalog.reading.facts import claimed_endpoints
from probes.planning.spreading import asked_first, elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog.model import Record
    from catalog.reading.store import Catalog
    from probes.planning.reach import Reaches


@dataclass(slots=True)
class Count:
    """Pairs of a provider: those that records name, and by reach those to which something is sent."""

    claimed: int = 0
    by_reach: Counter[Reach] = field(default_factory=Counter)

    @property
    def sent(self) -> int:
        return self.by_reach.total()


def by_provider(catalog: Catalog, reaches: Mapping[str, Reaches]) -> dict[str, Count]:
    """The pairs of each provider, and a total."""
    counts = {name: Count() for name in reaches}
    total = Count()
    for record in catalog.select(kind="errors"):
        for reach in _pairs(catalog, record, reaches[record.provider]):
            for count in (counts[record.provider], total):
                count.claimed += 1
                count.by_reach.update([reach] if reach is not None else [])
    return {**counts, "total": total}


def told(counts: Mapping[str, Count]) -> list[str]:
    """A line a provider, and the total."""
    width = max(map(len, counts))
    return [
        f"{name:<{width}}  {count.sent} of {count.claimed} sent: {words_by_reach(count.by_reach)}"
        for name, count in counts.items()
    ]


def _pairs(catalog: Catalog, record: Record, reaches: Reaches) -> Iterator[Reach | None]:
    """For each endpoint that a record names: by whom the pair can be observed, or None where nothing is sent."""
    claimed = claimed_endpoints(record)
    recipe = reaches.book.recipes.get(str(record.address))
    if recipe is None:
        yield from (None for _ in claimed)
        return
    others = elsewhere(recipe, record, catalog, reaches.book.shapes)
    first = asked_first(recipe, claimed, catalog)
    for endpoint in claimed:
        asked = others.get(endpoint) or (recipe if endpoint in first else None)
        yield reaches.of_recipe(asked).reach if asked is not None else None
