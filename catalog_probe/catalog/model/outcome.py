"""The verdict on one record, and the reason where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Outcome(StrEnum):
    """The verdict on one record in one run."""

    CONFORMS = "conforms"
    DRIFTED = "drifted"
    FLAKY = "flaky"
    RESTRICTED = "restricted"
    INCONCLUSIVE = "inconclusive"
    NOT_PROBED = "not_probed"
    HARNESS_ERROR = "harness_error"

    @property
    def conclusive(self) -> bool:
        """Whether the behaviour itself was observed and judged."""
        return self in (Outcome.CONFORMS, Outcome.DRIFTED)


WORDS: Mapping[Outcome, str] = {
    Outcome.CONFORMS: "conforms",
    Outcome.DRIFTED: "drifted",
    Outcome.FLAKY: "flaky",
    Outcome.RESTRICTED: "restricted",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.NOT_PROBED: "not probed",
    Outcome.HARNESS_ERROR: "our fault",
}
"""What each is called, in every view and query."""


class AcceptanceState(StrEnum):
    """The state of an accepted difference after a result of its record."""

    ACCOUNTED = "accounted"
    """It drifts in nothing but what is accepted."""
    NEW_ASPECTS = "new_aspects"
    """It drifts in more."""
    STALE = "stale"
    """The difference is gone, or its review is overdue."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why there is no verdict: a code of the closed list, and what a person needs to act on it."""

    code: str
    detail: str = ""
