"""Which facts of the documents the probes check, which in part, and which not yet; and who can. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.assertion import Reach
from catalog_probe.catalog.reading.facts import Wire, load_fact_checks
from catalog_probe.probes.coverage.tally import Tally, format_tallies
from catalog_probe.probes.planning.reach import ExplainedReach, best_reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.reading.facts import Fact, FactChecks
    from catalog_probe.probes.planning.reach import ProviderReach
    from catalog_probe.probes.targets.target import Target


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
        counts = _count(coverage)
        for row in (coverage.provider, f"{coverage.provider} {coverage.fact.section}"):
            table.setdefault(row, FactCounts()).add(counts)
        total.add(counts)
    return {**dict(sorted(table.items())), "total": total}


def _count(coverage: FactCoverage) -> FactCounts:
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
