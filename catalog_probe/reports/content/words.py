"""Words that every view uses for the same thing, and sentences on what ends soon."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.text.readable_text import format_count, sanitize_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.evidence.results import Run
    from catalog_probe.catalog.model import Json


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


WARNING_DAYS = 60  # before the end


def describe_expirations(run: Run) -> list[str]:
    """Return a sentence for each expiration of a run that is near or past."""
    return format_expirations(run.expirations, date.fromisoformat(run.today))


def format_expirations(expirations: Iterable[Mapping[str, Json]], today: date) -> list[str]:
    """Return a sentence for each of these expirations that is near or past."""
    sentences = []
    for expiration in expirations:
        days_left = (date.fromisoformat(str(expiration["on"])) - today).days
        if days_left <= WARNING_DAYS:
            sentences.append(_format_expiration(expiration, days_left))
    return sentences


def _format_expiration(expiration: Mapping[str, Json], days_left: int) -> str:
    records = format_count(expiration["records"], "record")
    what = f"{expiration['what']} of {str(expiration['provider']).upper()}"
    if days_left <= 0:
        return f"{what} was to end on {expiration['on']}: {records} may be blind; {expiration['mend']}"
    return f"In {format_count(days_left, 'day')} {what} ends: {records} would be blind; {expiration['mend']}"
