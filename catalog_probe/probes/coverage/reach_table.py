"""What a run shows of each provider's records, and what would show more: the table of `--plan` and the doctor. Pure.

The README's table of reach is this table for the shipped live target with one ordinary key for each provider.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Address
from catalog_probe.catalog.model.assertion import Reach
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.text.readable_text import format_count
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.planning.reach import KEYLESS_STEPS, MAY_NOT_COME, provider_reaches
from catalog_probe.probes.recipes import book
from catalog_probe.probes.targets.target import Cost

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.coverage.missing_variables import Gain
    from catalog_probe.probes.planning.plan import Plan
    from catalog_probe.probes.recipes.recipe import PlannedRecipe
    from catalog_probe.probes.targets.target import Target

MAX_VARIABLES = 8  # of a provider that are named; `catalog-probe target variables` lists all
MAX_REASONS = 3  # of a reach that are quoted, the most common first

BEYOND_A_CLIENT = (Reach.TRAFFIC, Reach.MOCK, Reach.OFF_WIRE)
"""Reaches that no key, value or cost changes."""

_TOLD_BY_ADDITIONS = frozenset(
    {
        ReasonCode.PROVIDER_NOT_CONFIGURED,
        ReasonCode.COST_NOT_ALLOWED,
        ReasonCode.CREDENTIAL_MISSING,
        ReasonCode.CREDENTIAL_EMPTY,
        ReasonCode.VALUE_MISSING,
        ReasonCode.VALUE_NOT_FOUND,
        ReasonCode.ADDRESS_MISSING,
    }
)
"""Reasons for not probing that the table answers with the cost or the variable that is missing."""


@dataclass(frozen=True, slots=True)
class ProviderRecords:
    """The records of one provider, each in one group.

    Attributes:
        shown: observed with the target's keys, values and costs.
        in_part: those of `shown` of which a step is left out.
        chance: asked, but the provider need not show any of it.
        more: would be asked with another cost or variable, with each code and detail of the reason.
        beyond: reach -> why, counted, e.g. `{traffic only: {"no request can provoke it": 8}}`.
        costs: cost that is not allowed -> the records that it alone would add.
    """

    provider: str
    shown: int
    in_part: int
    chance: int
    more: Mapping[tuple[str, str], int]
    beyond: Mapping[Reach, Mapping[str, int]]
    costs: Mapping[Cost, int]

    @property
    def total(self) -> int:
        return self.shown + self.chance + sum(self.more.values()) + sum(map(self.count_beyond, self.beyond))

    def count_beyond(self, reach: Reach) -> int:
        """Count the records of a reach that no key changes."""
        return sum(self.beyond.get(reach, {}).values())


def count_records(plan: Plan, target: Target, catalog: Catalog, allow: frozenset[Cost]) -> list[ProviderRecords]:
    """Put each record of a plan into one group, by provider. The target is the one that the plan was made for.

    Raises:
        TargetError: the shipped live target cannot be read.
    """
    names = sorted({Address.parse(address).provider for address in (*plan.probed, *plan.not_probed)})
    reaches = provider_reaches({name: book.recipe_book(name) for name in names}, target)
    counted = []
    for name in names:
        probed = [recipe for address, recipe in plan.probed.items() if Address.parse(address).provider == name]
        shown = [recipe for recipe in probed if not need_not_come(recipe)]
        more: dict[str, tuple[str, str]] = {}
        beyond: dict[Reach, Counter[str]] = {}
        for address, reason in plan.not_probed.items():
            if Address.parse(address).provider != name:
                continue
            reach = reaches[name].record_reach(catalog[address], catalog)
            if reach.reach in BEYOND_A_CLIENT:
                beyond.setdefault(reach.reach, Counter())[reach.why] += 1
            else:
                more[address] = (reason.code, reason.detail)
        costs = {
            cost: len(make_plan(catalog, target, allow | {cost}, more).probed) for cost in Cost if cost not in allow
        }
        counted.append(
            ProviderRecords(
                name,
                len(shown),
                sum(bool(recipe.left_out) for recipe in shown),
                len(probed) - len(shown),
                Counter(more.values()),
                beyond,
                costs,
            )
        )
    return counted


def need_not_come(recipe: PlannedRecipe) -> bool:
    """Whether nothing of what a recipe sends must show its behaviour, e.g. a prompt that asks for a server tool."""
    calls = [call for label, call in recipe.calls.items() if label in recipe.own_labels]
    return recipe.steps is None and not recipe.optional and bool(calls) and all(call.may_not_come for call in calls)


def format_reach_table(records: ProviderRecords, gains: Sequence[Gain]) -> Iterator[str]:
    """Yield the table of one provider. `gains` are what each unset variable alone would add, of any provider.

    Example: `pa: 198 records`, `  61 shown with the keys, values and costs of this target`, …
    """
    own_gains = [gain for gain in gains if gain.provider == records.provider]
    lacks_first_key = not records.shown + records.chance + sum(records.costs.values()) and len(own_gains) == 1
    if lacks_first_key:
        first_key = f"+{own_gains[0].records} {own_gains[0].variable} ({own_gains[0].location})"
        yield f"{records.provider}: 0 of {format_count(records.total, 'record')}; {first_key}"
        return
    yield f"{records.provider}: {format_count(records.total, 'record')}"
    part = f"; {records.in_part} of them in part ({KEYLESS_STEPS})" if records.in_part else ""
    yield f"  {records.shown:>4} shown with the keys, values and costs of this target{part}"
    if records.chance:
        yield f"  {records.chance:>4} asked as well, and {MAY_NOT_COME}"
    if records.more:
        yield f"  {sum(records.more.values()):>4} more with other costs, keys or values; each of these alone adds"
        yield from _format_additions(records, own_gains)
    for reach in records.beyond:
        yield f"  {records.count_beyond(reach):>4} {reach}: {_join_reasons(records.beyond[reach])}"


def _format_additions(records: ProviderRecords, gains: Sequence[Gain]) -> Iterator[str]:
    additions = [(count, f"--allow {cost}") for cost, count in records.costs.items() if count]
    named = [gain for gain in gains if gain.records or gain.observations][:MAX_VARIABLES]
    for gain in named:
        steps = f", {format_count(gain.observations, 'further step')}" if gain.observations else ""
        additions.append((gain.records, f"{gain.variable} ({gain.location}){steps}"))
    yield from (f"       +{count:<4} {what}" for count, what in additions)
    hidden = len(gains) - len(named)
    if hidden:
        yield f"       {hidden} more variables add less, or only together: `catalog-probe target variables`"
    for (code, detail), count in sorted(records.more.items()):
        if code not in _TOLD_BY_ADDITIONS:
            yield f"       {count:>4} not now: {code}: {detail}"


def _join_reasons(reasons: Mapping[str, int]) -> str:
    """Join the most common reasons: `no request can provoke it (8), …`."""
    common = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    quoted = ", ".join(f"{why} ({count})" for why, count in common[:MAX_REASONS])
    return quoted + (", …" if len(common) > MAX_REASONS else "")
