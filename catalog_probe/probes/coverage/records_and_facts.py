"""Coverage: which records and facts the probes check, and who can. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Self, TypeVar

from catalog_probe.catalog.model import Record, Tag
from catalog_probe.catalog.model.assertion import Reach
from catalog_probe.catalog.observed import seen_on
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.reading.facts import Wire, load_fact_checks
from catalog_probe.probes.planning.reach import ExplainedReach, best_reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.reading.facts import Fact, FactChecks
    from catalog_probe.probes.planning.reach import ProviderReach
    from catalog_probe.probes.targets.target import Target


@dataclass(slots=True)
class Tally:
    """A row of counts; each kind of table names its own."""

    def add(self, other: Self) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


Row = TypeVar("Row", bound=Tally)


def format_tallies(
    table: Mapping[str, Row], row_type: type[Row], last_column: tuple[str, Callable[[Row], str]] | None = None
) -> list[str]:
    """Format rows as aligned lines; `last_column` is the heading and the text of one more column."""
    headings = {field.name: field.name.replace("_", " ") for field in fields(row_type)}
    name_width = max(map(len, [*table, "total"]))
    last_heading = [last_column[0]] if last_column is not None else []
    lines = [" ".join([" " * name_width, *headings.values(), *last_heading])]
    for name, row in table.items():
        numbers = [f"{getattr(row, field):>{len(heading)}}" for field, heading in headings.items()]
        last_text = [last_column[1](row)] if last_column is not None else []
        lines.append(" ".join([f"{name:<{name_width}}", *numbers, *last_text]))
    return lines


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
        counts = _count_record(record_coverage, today)
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


def _count_record(record_coverage: RecordCoverage, today: date) -> RecordCounts:
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


class FactStatus(StrEnum):
    """Whether a fact is checked, and by whom."""

    CHECKED = "checked"
    REHEARSED = "rehearsed"  # only on our own mock, which answers as we read the documents, or by traffic
    IN_PART = "in part"
    REASONED = "reasoned"  # not checked, for a reason that is written down
    REST = "rest"  # not checked yet
    TOLD = "told"  # nothing to observe: guidance, a definition, a price
    IMPOSSIBLE = "impossible"  # the documented envelope has no place for it


@dataclass(frozen=True, slots=True)
class FactCoverage:
    """One fact: its status, who can observe it, and whether the target can."""

    provider: str
    fact: Fact
    status: FactStatus
    reached: ExplainedReach | None
    here: bool = False


@dataclass(slots=True)
class FactCounts(Tally):
    """One row of the table: facts that are checked whole, by reach, and the rest of what is on the wire.

    `checked` is what a client's own requests can check whole.
    """

    on_wire: int = 0
    checked: int = 0
    one_key: int = 0
    more: int = 0
    traffic_only: int = 0
    mock_only: int = 0
    in_part: int = 0
    reasoned: int = 0
    rest: int = 0
    here: int = 0
    told_only: int = 0
    impossible: int = 0

    @property
    def share(self) -> float:
        """Of the facts with an effect on the wire, those that are checked whole: 0 to 1."""
        return self.checked / self.on_wire if self.on_wire else 0.0


def list_fact_coverage(
    catalog: Catalog, reaches: Mapping[str, ProviderReach], target: Target
) -> tuple[FactCoverage, ...]:
    """List the coverage of every fact of the providers that have recipes, in the order of the documents.

    Raises:
        CatalogError: the facts of a provider cannot be read.
    """
    return tuple(
        coverage
        for provider, reach in reaches.items()
        for coverage in list_provider_facts(provider, load_fact_checks(provider, catalog), reach, target)
    )


def list_provider_facts(
    provider: str, checks: FactChecks, reach: ProviderReach, target: Target
) -> Iterator[FactCoverage]:
    """Yield the coverage of each fact of one provider.

    A fact is checked if each exchange of its assertions is sent, and somebody can observe one of them.
    """
    for fact in checks.facts:
        assertions = checks.assertions_for(fact)
        is_sent = bool(assertions) and all(map(reach.has_recipe_for, assertions))
        reached = best_reach(map(reach.assertion_reach, assertions)) if is_sent else None
        yield FactCoverage(
            provider=provider,
            fact=fact,
            status=_status(checks.checked_fact(fact), fact, reached),
            reached=reached,
            here=any(reach.can_observe(assertion, target) for assertion in assertions),
        )


def _status(checked_fact: Fact, fact: Fact, reached: ExplainedReach | None) -> FactStatus:
    if fact.wire is not Wire.YES:
        return FactStatus.TOLD if fact.wire is Wire.TOLD else FactStatus.IMPOSSIBLE
    if reached is None:
        return FactStatus.REASONED if checked_fact.reason else FactStatus.REST
    if checked_fact.in_part:
        return FactStatus.IN_PART
    return FactStatus.CHECKED if reached.reach.is_checked else FactStatus.REHEARSED


def count_by_section(facts: Iterable[FactCoverage]) -> dict[str, FactCounts]:
    """Count rows `provider section`, one for each provider as a whole, and a total."""
    table: dict[str, FactCounts] = {}
    total = FactCounts()
    for coverage in facts:
        counts = _count_fact(coverage)
        for row in (coverage.provider, f"{coverage.provider} {coverage.fact.section}"):
            table.setdefault(row, FactCounts()).add(counts)
        total.add(counts)
    return {**dict(sorted(table.items())), "total": total}


def _count_fact(coverage: FactCoverage) -> FactCounts:
    status, is_on_wire = coverage.status, coverage.fact.wire is Wire.YES
    is_whole = status in (FactStatus.CHECKED, FactStatus.REHEARSED)
    reach = coverage.reached.reach if is_whole and coverage.reached is not None else None
    return FactCounts(
        on_wire=int(is_on_wire),
        checked=int(status is FactStatus.CHECKED),
        one_key=int(reach is Reach.ONE_KEY),
        more=int(reach is Reach.MORE),
        traffic_only=int(reach is Reach.TRAFFIC),
        mock_only=int(reach is Reach.MOCK),
        in_part=int(status is FactStatus.IN_PART),
        reasoned=int(status is FactStatus.REASONED),
        rest=int(status is FactStatus.REST),
        here=int(coverage.here and is_on_wire),
        told_only=int(status is FactStatus.TOLD),
        impossible=int(status is FactStatus.IMPOSSIBLE),
    )


def format_fact_table(table: Mapping[str, FactCounts]) -> list[str]:
    """Format the counts as aligned lines, with the share that is checked."""

    def format_share(counts: FactCounts) -> str:
        return f"{counts.share:>6.1%}" if counts.on_wire else "     -"

    return format_tallies(table, FactCounts, (" share", format_share))


def format_unchecked_facts(facts: Sequence[FactCoverage]) -> list[str]:
    """Format a line for each fact on the wire that is not checked whole: status, id, statement, and why."""
    excluded = (FactStatus.CHECKED, FactStatus.TOLD, FactStatus.IMPOSSIBLE)
    return [
        f"{coverage.status:<9} {coverage.fact.id}: {coverage.fact.statement}{_explain(coverage)}"
        for coverage in facts
        if coverage.status not in excluded
    ]


def _explain(coverage: FactCoverage) -> str:
    reached = coverage.reached if coverage.status is FactStatus.REHEARSED else None
    reach = f"{reached.reach}: {reached.why}" if reached is not None else ""
    explanation = "; ".join(part for part in (reach, coverage.fact.reason, coverage.fact.note) if part)
    return f" ({explanation})" if explanation else ""
