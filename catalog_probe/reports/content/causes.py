"""Records that drift, gathered by what made them: one change at a provider is told once, however many it meets."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.causes import Cause, find_causes
from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.reports.content.on_endpoints import on_endpoints

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from catalog_probe.reports.content.attribution import Attributor
    from catalog_probe.reports.content.standing import Standing

NAMED = 3
"""Records named beside a cause where there is little room; the rest are counted."""

_SIDES = re.compile(r"(.*?): documented (.*), observed (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Gathered:
    """A cause, where its records stand, and who is likely wrong."""

    cause: Cause
    members: tuple[Standing, ...]
    """By address; a record that several causes made drift stands beside each."""
    who: str
    why: str
    joins: bool = False
    """Whether the cause before it made the same records drift, so that one change is likely behind both."""

    @property
    def since(self) -> date | None:
        """The first day on which one of its records drifted without a break."""
        return min((each.since for each in self.members if each.since is not None), default=None)

    @property
    def sides(self) -> tuple[str, str, str] | None:
        return split_sides(self.cause.summary)

    @property
    def number(self) -> str:
        """`12 records on 3 endpoints`; of one record, on which of its endpoints."""
        counted = format_count(len(self.members), "record")
        if len(self.members) == 1:
            where = on_endpoints(self.cause.drifts[0].finding, self.members[0].result)
        else:
            where = f"on {format_count(len(self.cause.endpoints), 'endpoint')}" if self.cause.endpoints else ""
        return f"{counted} {where}".strip()

    @property
    def label(self) -> str:
        """In which exchange of its records it was seen: their label, where they share one."""
        labels = {each.finding.label for each in self.cause.drifts}
        return labels.pop() if len(labels) == 1 else ""

    @property
    def accepted(self) -> str:
        """On which terms it is accepted: reason with its ticket, and the day of its review; or nothing."""
        terms = {
            f"{run_verdict.acceptance_field(member.result, 'reason')}; review by {review_by}"
            for member in self.members
            if run_verdict.is_accepted(member.result)
            and (review_by := run_verdict.acceptance_field(member.result, "review_by"))
        }
        return "; or ".join(sorted(terms))

    def named(self) -> str:
        """The first addresses, and how many there are more."""
        more = len(self.members) - NAMED
        told = ", ".join(each.address for each in self.members[:NAMED])
        return f"{told} and {more} more" if more > 0 else told


def split_sides(words: str) -> tuple[str, str, str] | None:
    """What differs, what was documented of it, and what was observed; None if the words of a cause differ."""
    match = _SIDES.fullmatch(words)
    return (match[1], match[2], match[3]) if match else None


def gathered(standings: Sequence[Standing], attributor: Attributor) -> tuple[Gathered, ...]:
    """The causes behind these records, that of the most records first."""
    by_address = {each.address: each for each in standings}
    found = find_causes(each.result for each in standings)
    return tuple(
        _gathered(
            cause,
            tuple(by_address[address] for address in cause.records),
            attributor,
            joins=before is not None and before.records == cause.records,
        )
        for before, cause in zip((None, *found), found, strict=False)
    )


def _gathered(cause: Cause, members: tuple[Standing, ...], attributor: Attributor, *, joins: bool) -> Gathered:
    """With the party that most of its records point at, and the reason if it is the same for all records."""
    attributions = [each for each in map(attributor.of, members) if each is not None]
    parties = Counter(each.party for each in attributions)
    party = max(parties, key=lambda name: (parties[name], name), default="")
    reasons = {each.why for each in attributions}
    return Gathered(cause, members, party, reasons.pop() if len(reasons) == 1 else "", joins)


def providers_of(causes: Sequence[Gathered]) -> list[str]:
    """Whose these causes are, in order."""
    return sorted({each.cause.provider for each in causes})


def heading(title: str, members: int, found: int) -> str:
    """`Regressed (41 records, 4 causes)`."""
    return f"{title} ({format_count(members, 'record')}, {format_count(found, 'cause')})"
