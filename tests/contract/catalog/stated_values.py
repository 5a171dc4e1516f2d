"""The values that fact sentences state: status, type, code, retryable.

A fact is a sentence of a few forms: "402 has type billing_error", "An invalid key gives 401". A statement about a
subject in one row ("402") holds in all rows of its section: the documents' tables say what a status shares only once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from catalog_probe.catalog.reading import facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from catalog_probe.catalog.reading.facts import Fact

VALUE = r"(?P<value>[\w:.-]*\w)"

FORMS: Mapping[str, Sequence[str]] = {
    "http_status": (
        r"(?P<subject>.+) (?:gives?|gets?|fail with|maps to) (?P<value>\d{3})\b.*",
        r"(?P<subject>.+) (?:gives|has|have) HTTP status (?P<value>\d{3})",
        r"(?P<subject>.+) answers? .*?(?P<value>\b\d{3})\b.*",
        r"(?P<subject>(?P<value>\d{3})) is an? .*",
        r"(?P<subject>.+): (?P<value>\d{3})",
        r"(?P<subject>.+) are retired \((?P<value>\d{3})\)",
        r"(?P<subject>.+) is HTTP (?P<value>\d{3})\b.*",
        r"(?P<subject>.+) is (?P<value>not an HTTP error)",
        r"Other (?P<subject>unlisted) (?P<value>4xx) .*",
    ),
    "type": (
        rf"(?P<subject>.+) (?:has|have|use) type {VALUE}(?: unless stated)?",
        rf"(?:The )?type of (?P<subject>.+) is {VALUE}",
        r"(?P<subject>.+) (?:gives status|leads? to) (?P<value>[A-Z_]+)",
        r"(?P<subject>.+) has status (?P<value>[A-Z_]+)",
        r"(?P<subject>.+) is (?P<value>[A-Z]+_[A-Z_]+)",
        r"(?P<subject>gRPC) \d+ (?P<value>[A-Z_]+) maps to \d+",
        r"(?P<subject>.+) has (?P<value>no) type",
    ),
    "code": (
        rf"(?P<subject>.+) (?:has|gives?) (?:the )?(?:error_)?code {VALUE}",
        rf"(?P<subject>.+) (?:error code|blocked code|generation code|failure) is {VALUE}",
        rf"(?P<subject>.+) carries details\.error_code {VALUE}",
        rf"(?P<subject>.+(?:block|finish)Reason) can be {VALUE}",
        r"(?P<subject>.+) (?:has|gives) (?P<value>no) code",
        r"(?P<subject>gRPC) (?P<value>\d+) [A-Z_]+ maps to \d+",
        r"(?P<subject>The (?P<value>\w+) error) can arrive .*",
        r"(?P<subject>.+) with \{code: (?P<value>\d+)\}",
    ),
    "retryable": (
        r"Whether (?P<subject>.+) is retryable is not applicable \((?P<value>n/a)\)",
        r"(?P<subject>.+) is (?P<value>(?:not |conditionally )?retryable|transient)\b.*",
        r"On (?P<subject>\d+): (?P<value>poll)",
    ),
}
"""Field of an error record -> the sentences that state it. The first form that fits counts."""

WORDS = {
    "no": None,
    "null": None,
    "not retryable": False,
    "conditionally retryable": "conditional",
    "retryable": True,
    "transient": True,
    "not an HTTP error": "200",
}
"""A word of the documents -> what a record writes for it."""

UNLESS_STATED = "All rows"
"""The subject of a value that holds where no other is stated (2:7.5)."""


@dataclass(frozen=True, slots=True)
class StatedValue:
    """The value that one fact states of one field."""

    fact: Fact
    field: str
    subject: str
    value: str | bool | None


def stated_values(fact: Fact) -> Iterator[StatedValue]:
    """Yield the values that a fact's sentence states, at most one per field."""
    for field, forms in FORMS.items():
        match = next(filter(None, (re.fullmatch(form, fact.statement) for form in forms)), None)
        if match:
            subject = re.sub(r"^(An?|The) ", "", match["subject"])
            yield StatedValue(fact, field, subject, WORDS.get(match["value"], match["value"]))


class StatedFacts:
    """The facts of one provider by row, with the values that they state."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self.facts = facts
        self.by_row: dict[str, list[Fact]] = defaultdict(list)
        self.values_by_row: dict[str, list[StatedValue]] = defaultdict(list)
        self.values_by_section: dict[str, list[StatedValue]] = defaultdict(list)
        for fact in facts:
            self.by_row[fact.citation].append(fact)
            for value in stated_values(fact):
                self.values_by_row[fact.citation].append(value)
                self.values_by_section[fact.section].append(value)

    def words_of_row(self, citation: str) -> str:
        """The label and all statements of a row; empty if there is no such row."""
        facts = self.by_row.get(citation, ())
        return "; ".join((*(fact.row for fact in facts[:1]), *(fact.statement for fact in facts)))


@cache
def stated_facts(provider: str) -> StatedFacts:
    """The shipped facts of a provider."""
    return StatedFacts(facts.read_facts(provider))
