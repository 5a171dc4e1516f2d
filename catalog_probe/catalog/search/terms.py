"""Parse the terms of a query, and match them with facets (`status:429`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.text.wildcard import matches_wildcard

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

PROSE_FIELDS = frozenset({"message", "note", "observed"})
"""Fields that a part of the text matches."""

SPACED_FIELDS = frozenset({"is", "outcome"})
"""Fields of a run with spaces in their values in views, and underscores in results.jsonl. The page's search takes
either."""

_TERM = re.compile(r'(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))')


@dataclass(frozen=True, slots=True)
class Term:
    """One part of a query."""

    field: str
    """Empty for a word that may occur anywhere."""
    values: tuple[str, ...]
    """One of them must match."""
    negated: bool = False


def parse_terms(text: str) -> Iterator[Term]:
    """Yield the terms of a query in lower case; fields are not checked."""
    for dash, field, quoted, word in _TERM.findall(text.lower()):
        value = quoted or word
        if value:
            values = value.split(",") if field and field not in PROSE_FIELDS else [value]
            yield Term(field, tuple(filter(None, values)), negated=bool(dash))


def has_facet(facets: Collection[str], field: str, value: str) -> bool:
    """Whether a facet matches `field:value`; `*` stands for any text, and a part of prose is enough."""
    if field in PROSE_FIELDS:
        return any(facet.startswith(f"{field}:") and value in facet for facet in facets)
    return any(matches_wildcard(f"{field}:{value}", facet) for facet in facets)
