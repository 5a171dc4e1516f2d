"""The words that every view uses: one for each outcome, and one for each result of an assertion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.outcome import OUTCOME_WORDS, Outcome
from catalog_probe.catalog.text.phrases import format_count
from catalog_probe.catalog.text.sanitizing import sanitize_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.evidence.results import Run

OUTCOMES: Mapping[Outcome, str] = OUTCOME_WORDS

AS_DOCUMENTED, MISMATCHED, NOT_OBSERVED, ASSUMED = "as documented", "mismatched", "not observed", "assumed"
"""What became of an assertion; `assumed` are those that no document states and that matched what we assumed."""

RESOLVED = "Resolved assumptions"
"""Assumptions that an answer showed to be wrong."""

DISCOVERED = "Not in the documents"
"""What answers held beyond them."""

ADDED = "New records"

UNRECOGNISED = "Refusals that are evidence for no record"
"""Recorded refusals that no record documents, or that several do."""

ENDING = "About to end"
"""Versions, models and keys that will be gone soon."""


def days(age: int | None) -> str:
    """An age in words."""
    if age is None:
        return "never"
    return "today" if age == 0 else format_count(age, "day")


def another_revision(run: Run) -> str:
    """Under what a run asked in place of the usual revisions: `under PA 2026-10-21`; empty where it did not."""
    told = [f"{name.upper()} {value}" for name, value in sorted(run.revisions.items()) if run.invocation.revision]
    return f"under {sanitize_line(', '.join(told), 100)}" if told else ""


def names(providers: Iterable[str]) -> str:
    """Providers in a sentence: `PA, PB and PC`."""
    *most, last = [provider.upper() for provider in providers] or [""]
    return f"{', '.join(most)} and {last}" if most else last
