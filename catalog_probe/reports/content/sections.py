"""Every record that a run selected stands in one section, by what it means today: their numbers add up. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.evidence.verdicts.changes import Change
from catalog_probe.catalog.model import Outcome
from catalog_probe.reports.content.words import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.reports.content.standing import Standing


class Name(StrEnum):
    """A section, as a query names it (`is:regressed`), in the order in which a person should read them."""

    OURS = "our-fault"
    REGRESSED = "regressed"
    NEW = "new-drift"
    NEVER = "never-confirmed"
    PENDING = "pending"
    CHANGED = "changed"
    LOST = "coverage-lost"
    FLAKY = "flaky"
    STALE = "stale-accepted-difference"
    STILL = "still-drifting"
    FIXED = "fixed"
    ACCEPTED = "accepted"
    INCONCLUSIVE = "inconclusive"
    RESTRICTED = "restricted"
    NOT_PROBED = "not-probed"
    CONFORMS = "conforms"

    @property
    def heading(self) -> str:
        """`Coverage lost`."""
        return self.replace("-", " ").capitalize()


MEANS: Mapping[Name, str] = {
    Name.OURS: "The probe itself failed, or a part of it.",
    Name.REGRESSED: "Drifts today; a live run confirmed it before.",
    Name.NEW: "Drifts today for the first time.",
    Name.NEVER: "Drifts, and no live run has ever confirmed it.",
    Name.PENDING: "Drifts, was never confirmed, and is so new that it fails no run yet.",
    Name.CHANGED: "Drifted before, and drifts in another way today.",
    Name.LOST: "Had a verdict before and has none today.",
    Name.FLAKY: "Attempts at the same request disagree.",
    Name.STALE: "An accepted difference is gone, or its review is overdue.",
    Name.STILL: "Drifts as it did before.",
    Name.FIXED: "Drifted before, and is as documented today.",
    Name.ACCEPTED: "Drifts, and the difference is accepted until its review.",
    Name.INCONCLUSIVE: "Could not be observed.",
    Name.RESTRICTED: "This account may not see it.",
    Name.NOT_PROBED: "Is not allowed here, or nothing can provoke it on this target.",
    Name.CONFORMS: "All that was observed is as documented.",
}

BY_CAUSE = frozenset({Name.REGRESSED, Name.NEW, Name.NEVER, Name.PENDING, Name.CHANGED, Name.STILL, Name.ACCEPTED})
"""The sections whose records are told by what made them drift."""

BY_REASON = frozenset({Name.LOST, Name.INCONCLUSIVE, Name.RESTRICTED, Name.NOT_PROBED})
"""Those whose records are told by why nothing was seen."""

BAD = frozenset({Name.OURS, Name.REGRESSED, Name.NEW, Name.NEVER, Name.CHANGED, Name.FLAKY, Name.STALE, Name.STILL})
"""Those that fail a run."""

QUIET = frozenset({Name.RESTRICTED, Name.NOT_PROBED, Name.CONFORMS})
"""Those that tell nothing new, and that nobody has to act on."""

_OF_CHANGE: Mapping[Change, Name] = {
    Change.LOST: Name.LOST,
    Change.PENDING: Name.PENDING,
    Change.DIFFERENT: Name.CHANGED,
    Change.ONGOING: Name.STILL,
    Change.FIXED: Name.FIXED,
    Change.ACCEPTED: Name.ACCEPTED,
    Change.STALE: Name.STALE,
    Change.FLAKY: Name.FLAKY,
    Change.BROKEN: Name.OURS,
    Change.UNSEEN: Name.INCONCLUSIVE,
}
_OF_OUTCOME: Mapping[Outcome, Name] = {
    Outcome.CONFORMS: Name.CONFORMS,
    Outcome.DRIFTED: Name.NEW,
    Outcome.RESTRICTED: Name.RESTRICTED,
    Outcome.NOT_PROBED: Name.NOT_PROBED,
}
_OF_KIND: Mapping[str, Name] = {"regression": Name.REGRESSED, "never confirmed": Name.NEVER}


@dataclass(frozen=True, slots=True)
class Section:
    """The records of one section, by address."""

    name: Name
    members: tuple[Standing, ...]

    @property
    def means(self) -> str:
        return MEANS[self.name]


def name_of(standing: Standing) -> Name:
    """The one section in which a record stands."""
    if standing.change is Change.NEW:
        return _OF_KIND.get(standing.kind, Name.NEW)
    return _OF_CHANGE.get(standing.change) or _OF_OUTCOME[standing.outcome]


def sections(standings: Sequence[Standing]) -> tuple[Section, ...]:
    """All of them that have records."""
    members: dict[Name, list[Standing]] = {name: [] for name in Name}
    for each in sorted(standings, key=lambda standing: standing.address):
        members[name_of(each)].append(each)
    return tuple(Section(name, tuple(each)) for name, each in members.items() if each)


def words_of(standing: Standing) -> frozenset[str]:
    """What a query finds it by after `is:`: its section, `drifted`, `new` for a drift of today, `failing`, …"""
    said = {str(name_of(standing))}
    if standing.outcome is Outcome.DRIFTED:  # the only outcome that is not the name of a section as well
        said.add(OUTCOMES[Outcome.DRIFTED])
    if standing.change in (Change.NEW, Change.DIFFERENT):
        said.add("new")
    if run_verdict.is_failure(standing.result) or run_verdict.is_broken(standing.result):
        said.add("failing")
    others = {"added": standing.added, "verified": standing.verified, "in-part": standing.in_part}
    return frozenset(said | {word for word, holds in others.items() if holds})
