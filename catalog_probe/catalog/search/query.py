"""The small language in which records are looked for: `status:429 provider:pc is:new seen:<7d -overloaded`.

`catalog-probe catalog find`, `pytest probes -k` and the search of a report use the same words. A word is found anywhere
in what is said of a record; `field:value` must be so, `*` stands for anything, a comma for "or", and `-` before it for
"not". All of a query must hold. The page has the same rules in its script, and a test holds both together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.errors import CatalogError, suggest_similar
from catalog_probe.catalog.observed.last_seen import live_messages, seen_on
from catalog_probe.catalog.reading.headers import header_names
from catalog_probe.catalog.reading.record_fields import keywords, meaning, note, occurs_on
from catalog_probe.catalog.reading.statuses import documented_status
from catalog_probe.catalog.search.terms import Term, has_facet, parse_terms
from catalog_probe.catalog.search.values import require_possible_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Record

RECORD_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "provider": "whose it is: pa",
        "kind": "endpoints, errors or rate_limits",
        "family": "the third part of the address",
        "status": "a documented HTTP status: 429, 4*",
        "type": "the error type",
        "code": "the error code",
        "param": "the field that an error names",
        "header": "a response header that it states",
        "message": "words of its message, documented or seen",
        "note": "words of its note",
        "tag": "DOCUMENTED, LIVE_VERIFIED, UNVERIFIED",
        "endpoint": "an endpoint on which it occurs; * at either end",
        "seen": "how old its evidence is: <7d, >30d, 0d, never",
    }
)
"""The fields that every record has, and what each says."""

RUN_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "is": "its section: regressed, coverage-lost, flaky, fixed, …; "
        "or drifted, new, failing, added, verified, in-part",
        "outcome": "drifted, inconclusive, not-probed, …",
        "finding": "the code of a finding",
        "reason": "the code of why there is no verdict",
        "cause": "the id of a cause",
        "observed": "what was seen of a difference",
        "label": "the label of a step that differs",
        "lane": "the lane",
        "cost": "free, billable, …",
    }
)
"""Those that only a run has: a report knows them."""

K_FIELDS = ("provider", "kind", "family", "status", "type", "code", "param", "header", "tag")
"""Those that `-k` knows as well. It looks for parts of words: what names other records, and prose, would mislead it."""

_AGE = re.compile(r"([<>]?)(\d+)d?")


@dataclass(frozen=True, slots=True)
class SearchEntry:
    """What can be found of a record: its facets (`status:429`), all that is said of it, the age of its evidence."""

    facets: frozenset[str]
    text: str
    age: int | None

    @classmethod
    def of(cls, record: Record, today: date) -> SearchEntry:
        """What the record itself says."""
        found = tuple(record_facets(record))
        day = seen_on(record)
        said = "\n".join((str(record.address), record.title, meaning(record), *found, *keywords(record))).lower()
        return cls(frozenset(found), split_names(said), (today - day).days if day else None)

    def fits(self, terms: Iterable[Term]) -> bool:
        """Whether all of a query holds."""
        return all(any(self._has(each.field, value) for value in each.values) is not each.negated for each in terms)

    def _has(self, field: str, value: str) -> bool:
        if not field:
            return value in self.text
        if field == "seen":
            return _is_so_old(self.age, value)
        return has_facet(self.facets, field, value)


def parse(text: str, *, known: Iterable[str] = RECORD_FIELDS) -> tuple[Term, ...]:
    """The terms of a query.

    Raises:
        CatalogError: it names a field that is not known here, or a value that its field can never be.
    """
    return tuple(_known_terms(text, frozenset(known)))


def find_unmatched_term(text: str, records: Iterable[Record]) -> tuple[str, str] | None:
    """Of a query that finds nothing, the first part that no record has, and what comes nearest to it, if anything does.

    None where each part alone finds something, or what it asks is how old the evidence is.
    """
    spoken = [SearchEntry.of(record, date.min) for record in records]
    for each in parse(text):
        if each.negated or each.field == "seen":
            continue
        if not any(one.fits([each]) for one in spoken):
            start, said = f"{each.field}:" if each.field else "", ",".join(each.values)
            return f"{start}{said}", suggest_similar(said, _had(start, spoken))
    return None


def _had(start: str, spoken: Iterable[SearchEntry]) -> set[str]:
    """The values that a field has in some record; without a field, every word."""
    if not start:
        return {word for one in spoken for word in re.findall(r"\w[\w.-]*\w", one.text)}
    return {facet.removeprefix(start) for one in spoken for facet in one.facets if facet.startswith(start)}


def record_facets(record: Record) -> Iterator[str]:
    """What a record is found by, as `field:value` in lower case."""
    address = record.address
    for field, values in (
        ("provider", [address.provider]),
        ("kind", [address.kind]),
        ("family", [address.family]),
        ("status", _statuses(record)),
        ("type", [record.data.get("type")]),
        ("code", [record.data.get("code")]),
        ("param", [record.data.get("param")]),
        ("header", sorted(header_names(record))),
        ("tag", sorted(record.tags)),
        ("endpoint", sorted(occurs_on(record))),
        ("message", [meaning(record), *live_messages(record)]),
        ("note", [note(record)]),
    ):
        yield from (f"{field}:{value}".lower() for value in values if value not in (None, ""))


def keywords_for_k(record: Record) -> frozenset[str]:
    """The words that `-k` knows of a record beside its address."""
    return keywords(record) | {each for each in record_facets(record) if each.partition(":")[0] in K_FIELDS}


def split_names(text: str) -> str:
    """A text and the same with its compound names apart, so that `not found` finds `not_found` and `not-found`."""
    return f"{text}\n{re.sub('[_/-]', ' ', text)}"


def _known_terms(text: str, known: frozenset[str]) -> Iterator[Term]:
    for term in parse_terms(text):
        if term.field and term.field not in known and (term.field in RECORD_FIELDS or term.field in RUN_FIELDS):
            raise CatalogError(f"{term.field}: is known of a run alone", "look for it in the search of a report")
        if term.field and term.field not in known:
            close = suggest_similar(term.field, known)
            raise CatalogError(f"no field is called {term.field!r}", close or f"they are {', '.join(sorted(known))}")
        require_possible_values(term)
        yield term


def _is_so_old(age: int | None, value: str) -> bool:
    if value == "never":
        return age is None
    found = _AGE.fullmatch("0" if value == "today" else value)
    if found is None or age is None:
        return False
    number = int(found[2])
    return {"<": age < number, ">": age > number, "": age == number}[found[1]]


def _statuses(record: Record) -> list[str]:
    if record.kind != "errors":
        return []
    stated = documented_status(record)
    return [*map(str, stated.members), *([f"{stated.hundreds}xx"] if stated.hundreds else [])]
