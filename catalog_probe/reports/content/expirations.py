"""What a run rests on that ends soon, in a sentence each: told before it is missed. Pure."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.evidence.results import Run
    from catalog_probe.catalog.model import Json

SOON = 60
"""Days before its end from which on something is told."""


def describe_expirations(run: Run) -> list[str]:
    """`In 12 days …`, the nearest first; what was to end already is told as well: nobody has named another one."""
    return in_words(run.expirations, date.fromisoformat(run.today))


def in_words(expirations: Iterable[Mapping[str, Json]], today: date) -> list[str]:
    """A sentence for each of these, as a run's line has them, that ends soon."""
    days = [(each, (date.fromisoformat(str(each["on"])) - today).days) for each in expirations]
    return [_told(each, left) for each, left in days if left <= SOON]


def _told(each: Mapping[str, Json], days: int) -> str:
    records = "1 record" if each["records"] == 1 else f"{each['records']} records"
    what = f"{each['what']} of {str(each['provider']).upper()}"
    if days <= 0:
        return f"{what} was to go on {each['on']}: {records} may be blind for it; {each['mend']}"
    return f"In {days} day{'' if days == 1 else 's'} {what} goes: {records} would go blind; {each['mend']}"
