"""The states of a record after a run: one table, which every view, every query and the exit status ask.

A row reads aloud: "regressed: new, the run exits 1, act, listed by cause; its outcome is drifted". The word of a state
is the name of its section in the report (`Coverage lost`) and what a query looks for (`is:coverage-lost`). The order of
the rows is the order of the sections: the most urgent first.

`evidence.run_verdict.classify_result` chooses the state by one run alone, and `evidence.changes.classify_record` by the
earlier runs as well.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Set


class Change(StrEnum):
    """What became of a record since its last verdict, as far as its state tells."""

    NEW = "new"
    """It drifts as no earlier run has reported; `is:new` finds it, too."""
    ONGOING = "ongoing"
    """It drifts as before."""
    FIXED = "fixed"
    """It drifts no more."""
    LOST = "lost"
    """It had a verdict, and has none any more."""
    NONE = "-"
    """The state says nothing of earlier runs."""


class Attention(StrEnum):
    """What a state asks of its reader."""

    ACT = "act"
    """Somebody has to do something, even if no run fails by it."""
    KNOW = "know"
    """It is good or settled news, which a quiet terminal leaves out."""
    NONE = "-"
    """It is no news."""


class Grouping(StrEnum):
    """How the records of a section are listed."""

    CAUSE = "by cause"
    """By what differs."""
    REASON = "by reason"
    """By the reason why they have no verdict."""
    RECORD = "by record"


class RecordState(StrEnum):
    """The state of a record. Its value is its word; the other columns are attributes."""

    change: Change
    exit_status: Exit
    """How the run exits if nothing else is wrong. The state is red unless that is 0."""
    attention: Attention
    grouping: Grouping
    outcomes: Set[Outcome]
    """The outcomes that a record in this state may have."""
    meaning: str
    """The sentence below the heading of the section."""

    # fmt: off
    # state            word                         change     exit  attention  grouping     outcomes, then meaning
    OUR_FAULT =       ("our-fault",                 "-",       3,    "act",     "by record", "harness_error",
                       "The probe itself failed, or a part of it.")
    REGRESSED =       ("regressed",                 "new",     1,    "act",     "by cause",  "drifted",
                       "Drifts today; a live run confirmed it before.")
    NEW_DRIFT =       ("new-drift",                 "new",     1,    "act",     "by cause",  "drifted",
                       "Drifts today for the first time.")
    NEVER_CONFIRMED = ("never-confirmed",           "new",     1,    "act",     "by cause",  "drifted",
                       "Drifts, and no live run has ever confirmed it.")
    PENDING =         ("pending",                   "-",       0,    "act",     "by cause",  "drifted",
                       "Drifts, was never confirmed, and is so new that it fails no run yet.")
    CHANGED =         ("changed",                   "new",     1,    "act",     "by cause",  "drifted",
                       "Drifted before, and drifts in another way today.")
    COVERAGE_LOST =   ("coverage-lost",             "lost",    0,    "act",     "by reason",
                       "inconclusive restricted not_probed",
                       "Had a verdict before and has none today.")
    FLAKY =           ("flaky",                     "-",       1,    "act",     "by record", "flaky",
                       "Attempts at the same request disagree.")
    STALE =           ("stale-accepted-difference", "-",       1,    "act",     "by record",
                       "conforms drifted flaky restricted inconclusive not_probed",
                       "An accepted difference is gone, or its review is overdue.")
    STILL_DRIFTING =  ("still-drifting",            "ongoing", 1,    "act",     "by cause",  "drifted",
                       "Drifts as it did before.")
    FIXED =           ("fixed",                     "fixed",   0,    "know",    "by record", "conforms",
                       "Drifted before, and is as documented today.")
    ACCEPTED =        ("accepted",                  "-",       0,    "know",    "by cause",  "drifted",
                       "Drifts, and the difference is accepted until its review.")
    INCONCLUSIVE =    ("inconclusive",              "-",       0,    "act",     "by reason", "inconclusive",
                       "Could not be observed.")
    UNREPORTED =      ("unreported",                "-",       10,   "act",     "by reason", "inconclusive",
                       "Was selected, and the run ended before it was answered.")
    RESTRICTED =      ("restricted",                "-",       0,    "-",       "by reason", "restricted",
                       "This account may not see it.")
    NOT_IMPLEMENTED = ("not-implemented",           "-",       0,    "know",    "by reason", "not_probed",
                       "The server does not have this family of endpoints: it answers 404, 405 or 501 without a fault.")
    NOT_PROBED =      ("not-probed",                "-",       0,    "-",       "by reason", "not_probed",
                       "Is not allowed here, or nothing can provoke it on this target.")
    CONFORMS =        ("conforms",                  "-",       0,    "-",       "by record", "conforms",
                       "All that was observed is as documented.")
    # fmt: on

    def __new__(
        cls, word: str, change: str, exit_status: int, attention: str, grouping: str, outcomes: str, meaning: str
    ) -> Self:
        """Read one row of the table. A word that no column knows is a ValueError at import."""
        state = str.__new__(cls, word)
        state._value_ = word
        state.change = Change(change)
        state.exit_status = Exit(exit_status)
        state.attention = Attention(attention)
        state.grouping = Grouping(grouping)
        state.outcomes = frozenset(map(Outcome, outcomes.split()))
        state.meaning = meaning
        return state

    @classmethod
    def from_outcome(cls, outcome: Outcome) -> RecordState:
        """Return the state with the word of an outcome, e.g. NOT_PROBED of `not_probed`. A drift has none."""
        return next(state for state in cls if state == outcome.query_word)

    @property
    def is_red(self) -> bool:
        """Whether one such record makes a run fail; `is:failing` finds it."""
        return self.exit_status is not Exit.FINE

    @property
    def mood(self) -> str:
        """The colour of its section in every view: `bad`, `warn` or `good`."""
        if self.is_red:
            return "bad"
        return "warn" if self.attention is Attention.ACT else "good"

    @property
    def section(self) -> RecordState:
        """The state whose section lists the record: its own, unless the record was never reported.

        An unreported record has nothing to read, so it is listed with all others that could not be observed.
        """
        return RecordState.INCONCLUSIVE if self is RecordState.UNREPORTED else self

    @property
    def heading(self) -> str:
        """The heading of the section, e.g. `Coverage lost`."""
        return self.replace("-", " ").capitalize()


SECTIONS = tuple(state for state in RecordState if state.section is state)
"""The sections of a report, in reading order."""
