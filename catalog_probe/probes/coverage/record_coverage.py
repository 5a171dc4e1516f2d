"""Who can observe each record, and how lately it was observed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Record, Tag
from catalog_probe.catalog.model.assertion import Reach
from catalog_probe.catalog.observed import seen_on
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.probes.coverage.tally import Tally

if TYPE_CHECKING:
    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.planning.reach import ExplainedReach, ProviderReach
    from catalog_probe.probes.targets.target import Target

STALE_AFTER = timedelta(days=30)


@dataclass(slots=True)
class RecordCounts(Tally):
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


@dataclass(frozen=True, slots=True)
class RecordCoverage:
    """One record: who can observe it, and whether the target can."""

    record: Record
    reached: ExplainedReach
    here: bool


def list_record_coverage(
    catalog: Catalog, reaches: Mapping[str, ProviderReach], target: Target
) -> tuple[RecordCoverage, ...]:
    """List the coverage of every record of the providers that have recipes."""
    coverage = []
    for record in catalog.records:
        reach = reaches[record.provider]
        here = any(reach.can_observe(assertion, target) for assertion in assertions(record, catalog.__getitem__))
        coverage.append(RecordCoverage(record, reach.record_reach(record, catalog), here))
    return tuple(coverage)


def count_by_kind(coverage: Iterable[RecordCoverage], today: date) -> Mapping[str, RecordCounts]:
    """Count rows `provider kind`, and a total."""
    table: dict[str, RecordCounts] = {}
    total = RecordCounts()
    for record_coverage in coverage:
        counts = _count(record_coverage, today)
        record = record_coverage.record
        table.setdefault(f"{record.provider} {record.kind}", RecordCounts()).add(counts)
        total.add(counts)
    return {**dict(sorted(table.items())), "total": total}


def format_unchecked(coverage: Iterable[RecordCoverage]) -> list[str]:
    """Format a line for each record that no client's requests can check: its reach, and why."""
    unchecked = [record_coverage for record_coverage in coverage if not record_coverage.reached.reach.is_checked]
    unchecked.sort(key=lambda record_coverage: (record_coverage.reached.rank, record_coverage.record.address))
    return [
        f"{record_coverage.reached.reach:<12} {record_coverage.record.address}: {record_coverage.reached.why}"
        for record_coverage in unchecked
    ]


def _count(record_coverage: RecordCoverage, today: date) -> RecordCounts:
    reach, record = record_coverage.reached.reach, record_coverage.record
    last_seen = seen_on(record)
    is_stale = last_seen is not None and today - last_seen > STALE_AFTER
    return RecordCounts(
        records=1,
        one_key=int(reach is Reach.ONE_KEY),
        more=int(reach is Reach.MORE),
        traffic_only=int(reach is Reach.TRAFFIC),
        mock_only=int(reach is Reach.MOCK),
        off_the_wire=int(reach is Reach.OFF_WIRE),
        here=int(record_coverage.here),
        verified=int(Tag.LIVE_VERIFIED in record.tags and not is_stale),
        stale=int(is_stale),
        never_seen=int(last_seen is None),
    )
