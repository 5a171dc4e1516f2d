"""The query language for records: `status:429 provider:openai is:new -overloaded /v1/messages`.

`catalog-probe catalog find`, `pytest probes -k` and the search of a report use it. A bare word may occur anywhere in
the text of a record. In `field:value`, `*` stands for any text and a comma means "or". `-` before a term means "not".
All terms must match. Of a URL only its path counts, and `404->400` is read as `404→400`. The script of the report page
implements the same rules, and a test compares both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import names_of, providers
from catalog_probe.catalog.model import KINDS
from catalog_probe.catalog.model.errors import CatalogError, suggest_similar
from catalog_probe.catalog.model.outcome import FindingCode, Outcome, ReasonCode
from catalog_probe.catalog.model.record import Tag
from catalog_probe.catalog.model.record_states import SECTIONS
from catalog_probe.catalog.observed import live_messages, seen_on
from catalog_probe.catalog.reading.record_fields import (
    documented_status,
    keywords,
    meaning,
    note,
    occurs_on,
    request_line,
)
from catalog_probe.catalog.reading.response_headers import header_names
from catalog_probe.catalog.recognition.advice import May, advise_for_record
from catalog_probe.catalog.text.readable_text import shorten

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Record


_OTHER_SPECIAL_CHARACTERS = re.compile(r"[?\[]")  # special to `fnmatch` beside the `*`; here they are literal


def matches_wildcard(pattern: str, text: str) -> bool:
    """Whether a text matches a pattern. Everything but `*` is literal, and case counts."""
    return fnmatchcase(text, _OTHER_SPECIAL_CHARACTERS.sub(r"[\g<0>]", pattern))


PROSE_FIELDS = frozenset({"message", "note", "observed", "path", "change"})
"""Fields that a part of the text matches."""

SPACED_FIELDS = frozenset({"is", "outcome"})
"""Fields of a run with spaces in their values in views, and underscores in results.jsonl. The page's search takes
either."""

_TERM = re.compile(r'(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))')
_ORIGIN = re.compile(r"https?://[^\s/]*")
_ARROW = re.compile(r"(?<=\S)->(?=\S)")


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
    plain_text = _ARROW.sub("→", _ORIGIN.sub("", text.lower()))
    for dash, field, quoted, word in _TERM.findall(plain_text):
        value = quoted or word
        if value:
            values = value.split(",") if field and field not in PROSE_FIELDS else [value]
            yield Term(field, tuple(filter(None, values)), negated=bool(dash))


def has_facet(facets: Collection[str], field: str, value: str) -> bool:
    """Whether a facet matches `field:value`; `*` stands for any text, and a part of prose is enough."""
    if field in PROSE_FIELDS:
        return any(facet.startswith(f"{field}:") and value in facet for facet in facets)
    return any(matches_wildcard(f"{field}:{value}", facet) for facet in facets)


EXTRA_MARKS = ("drifted", "new", "failing", "added", "verified", "in-part")
"""Other values of `is:`, which a record may have besides its section."""

ALLOWED_VALUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "kind": KINDS,
        "retry": tuple(may for may in May if may is not May.UNKNOWN),
        "tag": tuple(tag.lower() for tag in Tag),
        "is": (*SECTIONS, *EXTRA_MARKS),
        "outcome": tuple(outcome.query_word for outcome in Outcome),
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


RECORD_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "provider": "the provider: pa or anthropic",
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
        "path": "the request, or a part of it, of an endpoint on which it occurs: /v1/messages",
        "retry": "whether to send the request again: yes, no, conditional",
        "endpoint": "an endpoint on which it occurs; * at either end",
        "seen": "how old its evidence is: <7d, >30d, 0d, never",
    }
)
"""Fields that can be searched in every record, with their descriptions."""

RUN_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "is": "its section: regressed, coverage-lost, flaky, fixed, …; "
        "or drifted, new, failing, added, verified, in-part",
        "outcome": "drifted, inconclusive, not-probed, …",
        "finding": "the code of a finding",
        "reason": "the code of the reason why there is no verdict",
        "cause": "the id of a cause",
        "observed": "the observed value of a difference",
        "change": "documented and observed value of a difference: 404→400",
        "label": "the label of a step that differs",
        "lane": "the lane",
        "cost": "free, billable, …",
    }
)
"""Fields that exist only in a run, so only the search of a report knows them."""

K_FIELDS = ("provider", "kind", "family", "status", "type", "code", "param", "header", "tag", "path", "retry")
"""Fields that `-k` knows too. It matches parts of words, so names of other records and prose would give wrong hits."""

_AGE = re.compile(r"([<>]?)(\d+)d?")


@dataclass(frozen=True, slots=True)
class SearchEntry:
    """What a search can match in one record."""

    facets: frozenset[str]
    """`field:value`, in lower case."""
    text: str
    """All text about the record, in lower case."""
    age: int | None
    """Days since its last observation; None for never."""

    @classmethod
    def from_record(cls, record: Record, today: date, requests: Mapping[str, str]) -> SearchEntry:
        """Build the entry of a record outside any run; `requests` is that of `list_requests`."""
        facets = tuple(record_facets(record, requests))
        day = seen_on(record)
        parts = (*list_addresses(record), record.title, meaning(record), *facets, *keywords(record))
        text = split_names("\n".join(parts).lower())
        return cls(frozenset(facets), text, (today - day).days if day else None)

    def matches(self, terms: Iterable[Term]) -> bool:
        """Whether all terms of a query match."""
        return all(any(self._has(term.field, value) for value in term.values) is not term.negated for term in terms)

    def _has(self, field: str, value: str) -> bool:
        if not field:
            return value in self.text
        if field == "seen":
            return _matches_age(self.age, value)
        return has_facet(self.facets, field, value)


def parse_query(text: str) -> tuple[Term, ...]:
    """Parse a query over records: `status:429 quota` gives a term with a field and one without.

    Raises:
        CatalogError: an unknown field, or a value that its field can never have.
    """
    terms = tuple(parse_terms(text))
    for term in terms:
        if term.field in RUN_FIELDS:
            raise CatalogError(f"{term.field}: exists only in a run", "look for it in the search of a report")
        if term.field and term.field not in RECORD_FIELDS:
            mend = suggest_similar(term.field, RECORD_FIELDS) or f"they are {', '.join(sorted(RECORD_FIELDS))}"
            raise CatalogError(f"no field is called {term.field!r}", mend)
        require_possible_values(term)
    return terms


def find_unmatched_term(text: str, records: Collection[Record]) -> tuple[str, str] | None:
    """For a query without results, return the first term that no record matches, with a suggestion or an empty string.

    Return None if each term alone matches a record. Negated terms and ages are not considered.
    """
    requests = list_requests(records)
    entries = [SearchEntry.from_record(record, date.min, requests) for record in records]  # ages are skipped below
    for term in parse_query(text):
        if term.negated or term.field == "seen":
            continue
        if not any(entry.matches([term]) for entry in entries):
            prefix = f"{term.field}:" if term.field else ""
            value = ",".join(term.values)
            if "→" in value:
                return value, "a change exists only in a run: look for it in the search of a report"
            if "/" in value and term.field in ("", "path"):
                return f"{prefix}{value}", suggest_path(value, requests.values())
            return f"{prefix}{value}", suggest_similar(value, _known_values(prefix, entries))
    return None


def suggest_path(typed: str, requests: Iterable[str]) -> str:
    """Suggest the path template that a typed path fits, else the most similar one.

    >>> suggest_path("/v1/models/gpt-5", ["GET /v1/models", "GET /v1/models/{model}"])
    'did you mean /v1/models/{model}?'
    """
    paths = sorted({request.partition(" ")[2] for request in requests})
    for path in paths:
        pattern = "[^/]+".join(map(re.escape, re.split(r"\{[^}]*\}", path)))
        if re.fullmatch(pattern, typed, re.IGNORECASE):
            return f"did you mean {path}?"
    return suggest_similar(typed, paths)


def list_requests(records: Iterable[Record]) -> dict[str, str]:
    """Return address -> request line of the endpoints: `pa/endpoints/messages/create` -> `POST /v1/messages`."""
    return {
        str(record.address): " ".join(request_line(record))
        for record in records
        if {"method", "path"} <= record.data.keys()
    }


def _known_values(prefix: str, entries: Iterable[SearchEntry]) -> set[str]:
    """Collect the values that a field has in some record; without a field, every word."""
    if not prefix:
        return {word for entry in entries for word in re.findall(r"\w[\w.-]*\w", entry.text)}
    return {facet.removeprefix(prefix) for entry in entries for facet in entry.facets if facet.startswith(prefix)}


def record_facets(record: Record, requests: Mapping[str, str]) -> Iterator[str]:
    """Yield the facets of a record, as `field:value` in lower case; `requests` is that of `list_requests`."""
    address = record.address
    endpoints = sorted(occurs_on(record))
    for field, values in (
        ("provider", names_of(address.provider)),
        ("kind", [address.kind]),
        ("family", [address.family]),
        ("status", _statuses(record)),
        ("type", [record.data.get("type")]),
        ("code", [record.data.get("code")]),
        ("param", [record.data.get("param")]),
        ("header", sorted(header_names(record))),
        ("tag", sorted(record.tags)),
        ("endpoint", endpoints),
        ("path", [requests.get(endpoint) for endpoint in endpoints]),
        ("retry", [advise_for_record(record).may] if _has_retry_advice(record) else []),
        ("message", [meaning(record), *live_messages(record)]),
        ("note", [note(record)]),
    ):
        yield from (f"{field}:{value}".lower() for value in values if value not in (None, ""))


def list_addresses(record: Record) -> list[str]:
    """Return the address of a record by each name of its provider: `pc/errors/…` and `openai/errors/…`."""
    _, _, rest = str(record.address).partition("/")
    return [f"{name}/{rest}" for name in names_of(record.address.provider)]


def _has_retry_advice(record: Record) -> bool:
    """Whether a record has retry advice: errors have, of providers with a manifest, which a foreign run may lack."""
    return record.kind == "errors" and record.provider in providers()


def keywords_for_k(record: Record, requests: Mapping[str, str]) -> frozenset[str]:
    """Return the words by which an expression of `-k` finds a record besides its address."""
    facets = {facet for facet in record_facets(record, requests) if facet.partition(":")[0] in K_FIELDS}
    facets.discard("retry:unknown")  # else `-k unknown_model` is fine, but `-k unknown` finds half of the records
    return keywords(record).union(list_addresses(record), facets)


def split_names(text: str) -> str:
    """Append the text with names split into words, so that `not found` matches `not_found` and `not-found`."""
    return f"{text}\n{re.sub('[_/-]', ' ', text)}"


def _matches_age(age: int | None, value: str) -> bool:
    if value == "never":
        return age is None
    match = _AGE.fullmatch("0" if value == "today" else value)
    if match is None or age is None:
        return False
    days = int(match[2])
    return {"<": age < days, ">": age > days, "": age == days}[match[1]]


def _statuses(record: Record) -> list[str]:
    if record.kind != "errors":
        return []
    status = documented_status(record)
    return [*map(str, status.members), *([f"{status.hundreds}xx"] if status.hundreds else [])]
