"""A term of the search's language, as it is typed, and whether facets (`status:429`) have it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.text.wildcard import matches_wildcard

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

PROSE_FIELDS = frozenset({"message", "note", "observed"})
"""Fields of which a part is enough."""

SPACED_FIELDS = frozenset({"is", "outcome"})
"""Fields whose words the views write with spaces, and results.jsonl with underscores: `is:"not probed"`."""

_TERM = re.compile(r'(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))')


@dataclass(frozen=True, slots=True)
class Term:
    """One part of a query; without a field, a word that may stand anywhere. Any of its values is enough."""

    field: str
    values: tuple[str, ...]
    negated: bool = False


def parse_terms(text: str) -> Iterator[Term]:
    """The terms of a text, in small letters; a field may be one that nobody knows, and then has no value perhaps."""
    for dash, field, quoted, word in _TERM.findall(text.lower()):
        value = quoted or word
        if value:
            if field in SPACED_FIELDS:
                value = re.sub("[ _]", "-", value)
            values = value.split(",") if field and field not in PROSE_FIELDS else [value]
            yield Term(field, tuple(each for each in values if each), negated=bool(dash))


def has_facet(facets: Collection[str], field: str, value: str) -> bool:
    """Whether one of the facets is so; `*` stands for anything, and of prose a part is enough."""
    if field in PROSE_FIELDS:
        return any(each.startswith(f"{field}:") and value in each for each in facets)
    pattern = f"{field}:{value}"
    return any(matches_wildcard(pattern, each) for each in facets)
