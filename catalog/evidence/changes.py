"""What a result means beside the runs before it: new, going on and since when, fixed, or not seen any more. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog.evidence import same_drift, verdicts
from catalog.evidence.complete import unreported
from catalog.model import Json, Outcome

if TYPE_CHECKING:
    from catalog.evidence.results import Result


class Change(StrEnum):
    """What a result means beside the runs before it."""

    NEW = "new"
    DIFFERENT = "different"
    ONGOING = "ongoing"
    FIXED = "fixed"
    ACCEPTED = "accepted"
    STALE = "stale"
    FLAKY = "flaky"
    BROKEN = "broken"
    UNSEEN = "unseen"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier run remembers of one record: its outcome, and of a drift what the history kept."""

    day: date
    outcome: Outcome
    kept: Mapping[str, Json] = field(default_factory=dict)
    """Of a drift: `since`, and what `same_drift.remembered` gave."""

    @property
    def since(self) -> date:
        """The first day of its drift; its own where it kept none."""
        since = self.kept.get("since")
        return date.fromisoformat(since) if since else self.day


def last_verdict(earlier: Sequence[Earlier]) -> Earlier | None:
    """The last of the earlier runs, oldest first, in which the record was looked at and judged."""
    return next((each for each in reversed(earlier) if each.outcome.conclusive), None)


def since(result: Result, today: date, earlier: Sequence[Earlier]) -> date | None:
    """The first day of the unbroken drift that this result goes on with; None where it does not drift.

    A night without a verdict breaks nothing, and neither does a drift that changed: the record has not conformed since.
    """
    if result.outcome is not Outcome.DRIFTED:
        return None
    last = last_verdict(earlier)
    return last.since if last is not None and last.outcome is Outcome.DRIFTED else today


def change(result: Result, earlier: Sequence[Earlier]) -> Change:
    """What became of the record since it was last judged."""
    last = last_verdict(earlier)
    drifted_before = last is not None and last.outcome is Outcome.DRIFTED
    if verdicts.broken(result) and not unreported(result):
        return Change.BROKEN
    if verdicts.stale(result):
        return Change.STALE
    match result.outcome:
        case Outcome.DRIFTED if verdicts.accounted(result):
            return Change.ACCEPTED
        case Outcome.DRIFTED if last is not None and drifted_before:
            same = same_drift.is_as_remembered(result.findings, last.kept)
            return Change.ONGOING if same else Change.DIFFERENT
        case Outcome.DRIFTED:
            return Change.NEW
        case Outcome.CONFORMS:
            return Change.FIXED if drifted_before else Change.NONE
        case Outcome.FLAKY:
            return Change.FLAKY
        case Outcome.INCONCLUSIVE:
            return Change.UNSEEN
    return Change.NONE
