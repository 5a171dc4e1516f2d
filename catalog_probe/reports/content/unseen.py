"""What has no verdict, gathered by why: forty records behind one dead host are one fact, not forty."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.verdicts.changes import Change
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.reports.content import advice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.reports.content.standing import Standing

ORDER = (Outcome.INCONCLUSIVE, Outcome.RESTRICTED, Outcome.NOT_PROBED)
"""What could not be seen comes before what was not meant to be."""


MOST = 3
"""Different reasons of one group that are told; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """Records of one provider that have no verdict for one reason."""

    outcome: Outcome
    provider: str
    code: str
    detail: str
    """The detail of the reason, if it is the same for all of them; empty otherwise."""
    standings: tuple[Standing, ...]

    @property
    def since(self) -> str:
        """Since when, of what was seen before: `, since 2026-11-20`; `, some since …` if not all of them."""
        days = {each.since for each in self.standings if each.change is Change.LOST and each.since is not None}
        same = len(days) == 1 and all(each.change is Change.LOST for each in self.standings)
        return f", {'' if same else 'some '}since {min(days)}" if days else ""

    @property
    def means(self) -> str:
        return advice.means(self.code)

    @property
    def next_step(self) -> str:
        return advice.next_step(self.code)

    @property
    def reasons(self) -> list[str]:
        """The detail that all of them share, or how many have which of the most frequent details; each in one line."""
        if self.detail:
            return [self.detail]
        numbers = Counter(each.result.reason.detail if each.result.reason else "" for each in self.standings)
        if len(numbers) == 1:
            return [self.means]
        most = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
        lines = [f"{number} of them: {detail or self.means}" for detail, number in most[:MOST]]
        return [*lines, f"and {format_count(len(most) - MOST, 'more reason')}"] if len(most) > MOST else lines

    @property
    def who(self) -> str:
        """The record, or how many of which provider."""
        if len(self.standings) == 1:
            return self.standings[0].address
        return f"{len(self.standings)} records of {self.provider.upper()}"


def unseen(standings: Sequence[Standing]) -> list[Unseen]:
    """The groups of those without a verdict, by outcome, provider and reason."""
    groups: dict[tuple[int, str, str], list[Standing]] = {}
    for each in standings:
        if each.outcome in ORDER:
            code = each.result.reason.code if each.result.reason else "no-reason"
            groups.setdefault((ORDER.index(each.outcome), each.result.address.provider, code), []).append(each)
    return [
        Unseen(
            ORDER[place], provider, code, _shared_detail(members), tuple(sorted(members, key=lambda each: each.address))
        )
        for (place, provider, code), members in sorted(groups.items(), key=lambda item: item[0])
    ]


def _shared_detail(members: Sequence[Standing]) -> str:
    """The detail of the reason that all of these have; empty if one of them has another."""
    details = {each.result.reason.detail if each.result.reason else "" for each in members}
    return details.pop() if len(details) == 1 else ""
