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
    def is_conclusive(self) -> bool:
        """Whether the behaviour itself was observed and judged."""
        return self in (Outcome.CONFORMS, Outcome.DRIFTED)


OUTCOME_WORDS: Mapping[Outcome, str] = {
    Outcome.CONFORMS: "conforms",
    Outcome.DRIFTED: "drifted",
    Outcome.FLAKY: "flaky",
    Outcome.RESTRICTED: "restricted",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.NOT_PROBED: "not probed",
    Outcome.HARNESS_ERROR: "our fault",
}
"""The name of each outcome in every view and query."""


class AcceptanceState(StrEnum):
    """The state of an accepted difference after a result of its record."""

    ACCOUNTED = "accounted"
    """Every drift of the record is accepted."""
    NEW_ASPECTS = "new_aspects"
    """The record drifts in more than what is accepted."""
    STALE = "stale"
    """The accepted difference is gone, or its review is overdue."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why there is no verdict: a `ReasonCode`, and the detail that a person needs to act on it."""

    code: str
    detail: str = ""
