"""The words that every view uses for the same thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.outcome import OUTCOME_WORDS, Outcome
from catalog_probe.catalog.text.readable_text import format_count, sanitize_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.evidence.results import Run

OUTCOMES: Mapping[Outcome, str] = OUTCOME_WORDS

# The results of an assertion. `assumed`: no document states it, and it matched what we assumed.
AS_DOCUMENTED, MISMATCHED, NOT_OBSERVED, ASSUMED = "as documented", "mismatched", "not observed", "assumed"

RESOLVED = "Resolved assumptions"
"""Heading of the assumptions that an answer showed to be wrong."""

DISCOVERED = "Not in the documents"
"""Heading of the headers, fields and codes that no document names."""

ADDED = "New records"

UNRECOGNISED = "Refusals that are evidence for no record"
"""Heading of the recorded refusals that no record documents, or that several do."""

ENDING = "About to end"
"""Heading of the versions, models and keys that end soon."""


def format_age(days: int | None) -> str:
    """Return the age of evidence in words."""
    if days is None:
        return "never"
    return "today" if days == 0 else format_count(days, "day")


def describe_revision(run: Run) -> str:
    """Return the API revisions chosen for a run, `under PA 2026-10-21`; empty if it used the usual ones."""
    if not run.invocation.revision:
        return ""
    revisions = ", ".join(f"{provider.upper()} {revision}" for provider, revision in sorted(run.revisions.items()))
    return f"under {sanitize_line(revisions, 100)}" if revisions else ""


def join_providers(providers: Iterable[str]) -> str:
    """Return providers in a sentence: `PA, PB and PC`."""
    *names, last = [provider.upper() for provider in providers] or [""]
    return f"{', '.join(names)} and {last}" if names else last
