"""By whom the records can be observed, and how lately each was seen. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date, timedelta
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Record, Tag
from catalog_probe.catalog.model.reach import Reach
from catalog_probe.catalog.observed.last_seen import seen_on
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.reading.expectations import documented_labels
from catalog_probe.probes.coverage.tally import Tally

if TYPE_CHECKING:
    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.planning.reach import ExplainedReach, ProviderReach
    from catalog_probe.probes.targets.target import Target

STALE_AFTER = timedelta(days=30)


@dataclass(slots=True)
class Count(Tally):
    """One row of the coverage table: records by reach, those that the target can observe, and how lately."""

    records: int = 0
    one_key: int = 0
    more: int = 0
    traffic_only: int = 0
    mock_only: int = 0
    off_the_wire: int = 0
    here: int = 0
    verified: int = 0
    stale: int = 0
    never_seen: int = 0


Table = Mapping[str, Count]


@dataclass(frozen=True, slots=True)
class Covered:
    """One record: who can observe it, and whether the target can."""

    record: Record
    reached: ExplainedReach
    here: bool


def covered(catalog: Catalog, reaches: Mapping[str, ProviderReach], target: Target) -> tuple[Covered, ...]:
    """Every record of the providers that have recipes."""
    return tuple(
        Covered(
            record,
            reaches[record.provider].record_reach(record, catalog),
            any(
                reaches[record.provider].can_observe(assertion, target)
                for assertion in assertions(record, catalog.__getitem__)
            ),
        )
        for record in catalog.records
    )


def by_kind(records: Iterable[Covered], today: date) -> Table:
    """Rows `provider kind`, and a total."""
    table: dict[str, Count] = {}
    total = Count()
    for each in records:
        count = _count(each, today)
        table.setdefault(f"{each.record.provider} {each.record.kind}", Count()).add(count)
        total.add(count)
    return {**dict(sorted(table.items())), "total": total}


def told(table: Table) -> list[str]:
    """The table as aligned lines."""
    heads = [field.name.replace("_", " ") for field in fields(Count)]
    width = max(map(len, [*table, "total"]), default=5)
    lines = [" ".join([" " * width, *heads])]
    for name, count in table.items():
        cells = [f"{getattr(count, field.name):>{len(head)}}" for field, head in zip(fields(Count), heads, strict=True)]
        lines.append(" ".join([f"{name:<{width}}", *cells]))
    return lines


def unchecked(records: Iterable[Covered]) -> list[str]:
    """A line for each record that no client's requests can check: its reach, and why."""
    left = (each for each in records if not each.reached.reach.is_checked)
    return [
        f"{each.reached.reach:<12} {each.record.address}: {each.reached.why}"
        for each in sorted(left, key=lambda each: (each.reached.rank, each.record.address))
    ]


def unsent(records: Iterable[Covered], catalog: Catalog, reaches: Mapping[str, ProviderReach]) -> Iterator[str]:
    """A line for each record of whose labels only recorded traffic can show some: how many, and why."""
    for each in records:
        recipe = reaches[each.record.provider].book.recipes.get(str(each.record.address))
        if recipe is not None and recipe.not_sent is not None:
            labels = documented_labels(each.record, catalog.__getitem__)
            yield f"{each.record.address}: {len(labels - recipe.labels)} of {len(labels)} labels: {recipe.not_sent[1]}"


def _count(each: Covered, today: date) -> Count:
    reach, seen = each.reached.reach, seen_on(each.record)
    stale = seen is not None and today - seen > STALE_AFTER
    return Count(
        records=1,
        one_key=int(reach is Reach.ONE_KEY),
        more=int(reach is Reach.MORE),
        traffic_only=int(reach is Reach.TRAFFIC),
        mock_only=int(reach is Reach.MOCK),
        off_the_wire=int(reach is Reach.OFF_WIRE),
        here=int(each.here),
        verified=int(Tag.LIVE_VERIFIED in each.record.tags and not stale),
        stale=int(stale),
        never_seen=int(seen is None),
    )
