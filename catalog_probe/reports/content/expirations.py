"""What a run depends on that ends soon (models, versions, keys), one sentence each. Pure."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.text.readable_text import format_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.evidence.results import Run
    from catalog_probe.catalog.model import Json

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
