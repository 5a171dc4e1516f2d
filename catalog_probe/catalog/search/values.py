"""Refuse values in a query that their field can never have, such as `status:abc`.

The report page applies the same rules in `query.js`, from the same data.
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
    "our-fault",
    "regressed",
    "new-drift",
    "never-confirmed",
    "pending",
    "changed",
    "coverage-lost",
    "flaky",
    "stale-accepted-difference",
    "still-drifting",
    "fixed",
    "accepted",
    "inconclusive",
    "restricted",
    "not-probed",
    "conforms",
)
"""The sections of a report, in their order; each record is in one of them."""

EXTRA_MARKS = ("drifted", "new", "failing", "added", "verified", "in-part")
"""Other values of `is:`, which a record may have besides its section."""

ALLOWED_VALUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "kind": KINDS,
        "tag": tuple(tag.lower() for tag in Tag),
        "is": (*SECTIONS, *EXTRA_MARKS),
        "outcome": OUTCOMES,
        "finding": tuple(FindingCode),
        "reason": tuple(ReasonCode),
    }
)
"""Field -> all its possible values, in lower case."""


@dataclass(frozen=True, slots=True)
class ValueFormat:
    """The form of a field's values."""

    pattern: str
    """A regular expression for the whole value, valid in Python and in JavaScript."""
    mend: str


VALUE_FORMATS: Mapping[str, ValueFormat] = MappingProxyType(
    {
        "status": ValueFormat(r"[1-5](?:[0-9]{2}|xx)|[0-9x*]*[*][0-9x*]*", "write 429, 4xx or 4*"),
        "seen": ValueFormat(r"[<>]?[0-9]{1,6}d?|today|never", "write <7d, >30d, 0d, today or never"),
    }
)

MAX_VALUE_LENGTH = 80  # characters of a wrong value in a message


def require_possible_values(term: Term) -> None:
    """Refuse a value that its field can never have.

    Raises:
        CatalogError: with the most similar value, or how a value is written.
    """
    form, allowed = VALUE_FORMATS.get(term.field), ALLOWED_VALUES.get(term.field)
    for value in term.values:
        what = f"{term.field}:{shorten(value, MAX_VALUE_LENGTH)} names nothing"
        if form is not None and re.fullmatch(form.pattern, value) is None:
            raise CatalogError(what, form.mend)
        if allowed is not None and not any(matches_wildcard(value, word) for word in allowed):
            raise CatalogError(what, suggest_similar(value, allowed) or f"they are {', '.join(allowed)}")
