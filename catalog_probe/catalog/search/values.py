"""What a field of a query can be, where that is a closed list or has a form: `status:abc` never finds anything. Pure.

The page has these rules in `query.js`, from the same data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import KINDS
from catalog_probe.catalog.model.codes import FindingCode, ReasonCode
from catalog_probe.catalog.model.errors import CatalogError, suggest_similar
from catalog_probe.catalog.model.outcome import OUTCOME_WORDS
from catalog_probe.catalog.model.record import Tag
from catalog_probe.catalog.text.phrases import shorten
from catalog_probe.catalog.text.wildcard import matches_wildcard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.search.terms import Term

OUTCOMES = tuple(word.replace(" ", "-") for word in OUTCOME_WORDS.values())

SECTIONS = (
    *("our-fault", "regressed", "new-drift", "never-confirmed", "pending", "changed", "coverage-lost", "flaky"),
    *(
        "stale-accepted-difference",
        "still-drifting",
        "fixed",
        "accepted",
        "inconclusive",
        "restricted",
        "not-probed",
        "conforms",
    ),
)
"""The sections of a report, in their order; a record is in one of them."""

EXTRA_MARKS = ("drifted", "new", "failing", "added", "verified", "in-part")
"""What else `is:` finds."""

ALLOWED_VALUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "kind": KINDS,
        "tag": tuple(each.lower() for each in Tag),
        "is": (*SECTIONS, *EXTRA_MARKS),
        "outcome": OUTCOMES,
        "finding": tuple(FindingCode),
        "reason": tuple(ReasonCode),
    }
)
"""Field -> all that it can be, in small letters."""


@dataclass(frozen=True, slots=True)
class ValueFormat:
    """How all values of a field look."""

    pattern: str
    """A regular expression of the whole value, the same in Python and in the page's script."""
    mend: str


VALUE_FORMATS: Mapping[str, ValueFormat] = MappingProxyType(
    {
        "status": ValueFormat(r"[1-5](?:[0-9]{2}|xx)|[0-9x*]*[*][0-9x*]*", "write 429, 4xx or 4*"),
        "seen": ValueFormat(r"[<>]?[0-9]{1,6}d?|today|never", "write <7d, >30d, 0d, today or never"),
    }
)

SHOWN = 80
"""Characters of a value that is none."""

NAMED = 32
"""Of a list no longer than this, all are named."""


def require_possible_values(term: Term) -> None:
    """Refuse a value that its field can never be.

    Raises:
        CatalogError: with the nearest that it can be, or how it is written.
    """
    for value in term.values:
        form, listed = VALUE_FORMATS.get(term.field), ALLOWED_VALUES.get(term.field)
        if form is not None and re.fullmatch(form.pattern, value) is None:
            raise CatalogError(f"{term.field}:{shorten(value, SHOWN)} names nothing", form.mend)
        if listed is not None and not any(matches_wildcard(value, word) for word in listed):
            all_words = f"they are {', '.join(listed)}" if len(listed) <= NAMED else ""
            mend = suggest_similar(value, listed) or all_words or "`catalog-probe catalog explain` lists them"
            raise CatalogError(f"{term.field}:{shorten(value, SHOWN)} names nothing", mend)
