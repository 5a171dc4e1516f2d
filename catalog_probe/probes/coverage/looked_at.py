"""Which facts of the documents the probes look at, which in part, and which not yet; and who can. Pure."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.reach import Reach
from catalog_probe.catalog.reading.facts import Wire, load_fact_checks
from catalog_probe.probes.coverage.tally import Tally
from catalog_probe.probes.planning.reach import ExplainedReach, best_reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.reading.facts import Fact, FactChecks
    from catalog_probe.probes.planning.reach import ProviderReach
    from catalog_probe.probes.targets.target import Target


class Standing(StrEnum):
    """How a fact stands: who looks at it."""

    CHECKED = "checked"
    REHEARSED = "rehearsed"
    """No client's requests can check it: our own mock answers as we read the documents, or traffic may show it."""
    IN_PART = "in part"
    REASONED = "reasoned"
    REST = "rest"
    TOLD = "told"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True, slots=True)
class Looked:
    """One fact: how it stands, who can observe it, and whether the target can."""

    provider: str
    fact: Fact
    standing: Standing
    reached: ExplainedReach | None
    here: bool = False


@dataclass(slots=True)
class Count(Tally):
    """One row of the table: what is looked at whole by reach, and the rest of what is on the wire.

    `checked` is what a client's own requests can check whole. The share is of `on_wire`.
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


Table = dict[str, Count]


def looked_at(catalog: Catalog, reaches: Mapping[str, ProviderReach], target: Target) -> tuple[Looked, ...]:
    """Every fact of the providers that have recipes, in the order of the documents.

    Raises:
        CatalogError: the facts of a provider cannot be read.
    """
    return tuple(
        each
        for provider, own in reaches.items()
        for each in of_provider(provider, load_fact_checks(provider, catalog), own, target)
    )


def of_provider(provider: str, checks: FactChecks, reaches: ProviderReach, target: Target) -> Iterator[Looked]:
    """Each fact of one provider. An assertion that nothing provokes counts for none that looks at it."""
    for fact in checks.facts:
        looking = [each for each in checks.assertions_for(fact) if reaches.has_recipe_for(each)]
        reached = best_reach(map(reaches.assertion_reach, looking)) if looking else None
        yield Looked(
            provider=provider,
            fact=fact,
            standing=_standing(checks.checked_fact(fact), fact, reached),
            reached=reached,
            here=any(reaches.can_observe(each, target) for each in looking),
        )


def _standing(telling: Fact, fact: Fact, reached: ExplainedReach | None) -> Standing:
    if fact.wire is not Wire.YES:
        return Standing.TOLD if fact.wire is Wire.TOLD else Standing.IMPOSSIBLE
    if reached is None:
        return Standing.REASONED if telling.reason else Standing.REST
    if telling.in_part:
        return Standing.IN_PART
    return Standing.CHECKED if reached.reach.is_checked else Standing.REHEARSED


def by_section(found: Iterable[Looked]) -> Table:
    """Rows `provider section`, one for each provider as a whole, and a total."""
    table: Table = {}
    whole = Count()
    for each in found:
        count = _count(each)
        for row in (each.provider, f"{each.provider} {each.fact.section}"):
            table.setdefault(row, Count()).add(count)
        whole.add(count)
    return {**dict(sorted(table.items())), "total": whole}


def _count(each: Looked) -> Count:
    whole = each.standing in (Standing.CHECKED, Standing.REHEARSED)
    reach = each.reached.reach if whole and each.reached is not None else None
    return Count(
        on_wire=int(each.fact.wire is Wire.YES),
        checked=int(each.standing is Standing.CHECKED),
        one_key=int(reach is Reach.ONE_KEY),
        more=int(reach is Reach.MORE),
        traffic_only=int(reach is Reach.TRAFFIC),
        mock_only=int(reach is Reach.MOCK),
        in_part=int(each.standing is Standing.IN_PART),
        reasoned=int(each.standing is Standing.REASONED),
        rest=int(each.standing is Standing.REST),
        here=int(each.here and each.fact.wire is Wire.YES),
        told_only=int(each.standing is Standing.TOLD),
        impossible=int(each.standing is Standing.IMPOSSIBLE),
    )


def told(table: Table) -> list[str]:
    """The table as aligned lines."""
    heads = [each.name.replace("_", " ") for each in fields(Count)]
    width = max(map(len, [*table, "total"]), default=5)
    lines = [" ".join([" " * width, *heads, " share"])]
    for name, count in table.items():
        cells = [f"{getattr(count, each.name):>{len(head)}}" for each, head in zip(fields(Count), heads, strict=True)]
        lines.append(" ".join([f"{name:<{width}}", *cells, f"{count.share:>6.1%}" if count.on_wire else "     -"]))
    return lines


def rest(found: Sequence[Looked]) -> list[str]:
    """Each fact on the wire that is not checked whole, a line each: how it stands, its id, what it says, and why."""
    whole = (Standing.CHECKED, Standing.TOLD, Standing.IMPOSSIBLE)
    return [
        f"{each.standing:<9} {each.fact.id}: {each.fact.statement}{_why(each)}"
        for each in found
        if each.standing not in whole
    ]


def _why(each: Looked) -> str:
    reached = each.reached if each.standing is Standing.REHEARSED else None
    reach = f"{reached.reach}: {reached.why}" if reached is not None else ""
    told = "; ".join(part for part in (reach, each.fact.reason, each.fact.note) if part)
    return f" ({told})" if told else ""
