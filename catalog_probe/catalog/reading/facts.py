"""Facts: atomic statements of the documents, and which assertions of the records check each."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from itertools import chain
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.files.manifest import provider_folder
from catalog_probe.catalog.files.schemas import schemas
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.model.errors import CatalogError, suggest_similar
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.assertions import assertions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model.assertion import Assertion


COLUMNS = ("id", "section", "row", "statement", "wire", "note", "checked_by")

SET = "set"
"""The last column, which a file or a line may leave out: over what a fact holds that speaks of more than one case."""

DIMENSIONS = (
    "transport",
    "method",
    "element",
    "json-type",
    "credential",
    "endpoint",
    "status",
    "surface",
    "limit",
)
"""What a set can range over."""

IN_PART = "part:"
"""Prefix of `checked_by` if the assertions check only part of a fact; its note says after `UNCHECKED` what is left."""

UNCHECKED = "unchecked:"

NEEDS_TIME_OR_VOLUME = "needs-time-or-volume"
"""Why no assertion checks a fact: it takes a payment, a wait of minutes to months, or more use than a test may cause.

Example: that the spend cap of a tier is 200,000 USD a month (2:8.2).
"""

NOT_ON_THE_WIRE = str(ReasonCode.NOT_ON_THE_WIRE)
"""Why nobody ever observes an assertion; no fact with an effect on the wire need name it."""

_RESTATES = re.compile(r"restates ([^\s;,]+)")


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension of the set over which a fact holds."""

    name: str
    """One of `DIMENSIONS`."""
    members: tuple[str, ...] = ()
    """The members that the documents name; without any, all are meant."""

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.members)})" if self.members else self.name


_DIMENSION = re.compile(r"([a-z-]+)(?:\((.+)\))?")


def parse_set(text: str) -> tuple[Dimension, ...]:
    """Parse the cell `set` of a fact; an empty cell has no dimension.

    >>> parse_set("method(PUT, PATCH) x endpoint")
    (Dimension(name='method', members=('PUT', 'PATCH')), Dimension(name='endpoint', members=()))

    Raises:
        ValueError: a part names no dimension, or a dimension comes twice.
    """
    parts = text.split(" x ") if text else []
    matches = [_DIMENSION.fullmatch(part) for part in parts]
    dimensions = tuple(
        Dimension(match[1], tuple((match[2] or "").split(", ")) if match[2] else ()) for match in matches if match
    )
    names = [dimension.name for dimension in dimensions]
    if len(names) != len(parts) or len(set(names)) != len(names) or not set(names) <= set(DIMENSIONS):
        raise ValueError(f"{text!r} is no set")
    return dimensions


class Wire(StrEnum):
    """Whether a client that sends requests and reads answers could observe a fact."""

    YES = "yes"
    TOLD = "told"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True, slots=True)
class Fact:
    """One atomic statement of the documents."""

    id: str
    section: str
    """`<document>:<section>`, as `2:7.3`."""
    row: str
    """The words by which a citation finds the row in its section: `missing max_tokens`."""
    statement: str
    wire: Wire
    note: str = ""
    checked_by: tuple[str, ...] = ()
    """Ids of assertions, e.g. `pa/errors/general/rate_limit#answer/status`; `*` stands for any text without a `#`."""
    in_part: bool = False
    """Whether these assertions check only part of the fact."""
    reason: str = ""
    """Why no assertion checks the fact, one of `unchecked_reasons`; empty if some do, or none does yet."""
    set: tuple[Dimension, ...] = ()
    """Over what it holds; empty if it speaks of one case."""

    @property
    def citation(self) -> str:
        """How a record cites the fact's row: `2:7.3#missing max_tokens`."""
        return f"{self.section}#{self.row}"

    @property
    def restates(self) -> str:
        """The id of the fact that this one repeats, or an empty string: `restates pa-2.7.3-a-1` -> `pa-2.7.3-a-1`."""
        match = _RESTATES.match(self.note)
        return match[1] if match else ""

    def matches_name(self, name: str) -> bool:
        """Whether a user may mean this fact: by the beginning of its id, by its section or by its citation."""
        return self.id.startswith(name.lower()) or name in (self.section, self.citation)

    @classmethod
    def parse(cls, cells: Mapping[str, str]) -> Self:
        """Parse one line, given by its columns.

        Example: `checked_by` may be `part:pa/errors/general/*#answer/status; …` or a reason, `needs-time-or-volume`.

        Raises:
            ValueError: `wire` or `set` has an unknown value.
        """
        checked_by = cells["checked_by"].strip()
        reason = checked_by if checked_by in unchecked_reasons() else ""
        patterns = "" if reason else checked_by.removeprefix(IN_PART)
        return cls(
            id=cells["id"],
            section=cells["section"],
            row=cells["row"],
            statement=cells["statement"],
            wire=Wire(cells["wire"]),
            note=cells["note"],
            checked_by=tuple(filter(None, map(str.strip, patterns.split(";")))),
            in_part=checked_by.startswith(IN_PART),
            reason=reason,
            set=parse_set(cells.get(SET, "")),
        )


@cache
def unchecked_reasons() -> tuple[str, ...]:
    """Return the closed list of reasons why no assertion checks a fact: those of `out_of_reach`, and one of facts."""
    reasons = schemas()["urn:catalog:shared"]["$defs"]["out_of_reach"]["additionalProperties"]["enum"]
    return (*reasons, NEEDS_TIME_OR_VOLUME)


def facts_file(provider: str, folder: Path | None = None) -> Path:
    """Return the path of a provider's facts, by default in its provider folder."""
    return (folder or provider_folder(provider).facts) / f"{provider}.tsv"


def read_facts(provider: str, folder: Path | None = None) -> tuple[Fact, ...]:
    """Read the facts of a provider in the order of the documents; none if it has no file.

    Raises:
        CatalogError: the first line that cannot be read.
    """
    file = facts_file(provider, folder)
    return tuple(_parse_file(file)) if file.exists() else ()


def _parse_file(file: Path) -> Iterator[Fact]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(f"cannot be read ({error})", "check the path, and save it as UTF-8", file=file) from error
    header, *lines = csv.reader(text.splitlines() or [""], delimiter="\t", quoting=csv.QUOTE_NONE)
    if tuple(header) not in (COLUMNS, (*COLUMNS, SET)):
        mend = f"they are {', '.join(COLUMNS)}, and {SET} if you like"
        raise CatalogError(f"has the columns {', '.join(header)}", mend, file=file)
    for number, cells in enumerate(lines, start=2):
        if not len(COLUMNS) <= len(cells) <= len(header):
            what = f"has {len(cells)} cells"
            mend = f"write {len(COLUMNS)}, separated by tabs"
            raise CatalogError(what, mend, file=file, location=str(number))
        by_column = dict(zip(header, cells, strict=False))
        try:
            yield Fact.parse(by_column)
        except ValueError:
            raise _explain_bad_cell(by_column, file, str(number)) from None


def _explain_bad_cell(cells: Mapping[str, str], file: Path, line: str) -> CatalogError:
    """Return the error of a line whose `wire` or `set` cannot be read."""
    wire = cells["wire"]
    if wire not in list(Wire):
        mend = suggest_similar(wire, Wire) or f"it is one of {', '.join(Wire)}"
        return CatalogError(f"wire is {wire!r}", mend, file=file, location=line)
    mend = f"write each of {', '.join(DIMENSIONS)} once, as `method(PUT, PATCH) x endpoint`"
    return CatalogError(f"{SET} is {cells[SET]!r}", mend, file=file, location=line)


def load_fact_checks(provider: str, catalog: Catalog, folder: Path | None = None) -> FactChecks:
    """Match the facts of a provider with the assertions of its records.

    Raises:
        CatalogError: the facts cannot be read.
        KeyError: an address or a surface that a record names does not exist.
    """
    by_record = (assertions(record, catalog.__getitem__) for record in catalog.select(provider))
    probed = chain.from_iterable(filter(documents_something, by_record))
    return FactChecks(read_facts(provider, folder), probed)


def documents_something(assertions: Iterable[Assertion]) -> bool:
    """Whether a row is cited for one of a record's assertions. A record of assumptions alone is not probed."""
    return any(assertion.basis is Basis.DOCUMENTED for assertion in assertions)


def checks_fact(assertion: Assertion, fact: Fact) -> bool:
    """Whether a mismatch of the assertion would be reported as a difference from what the fact states.

    Example: the assumed status 400 checks "an unknown id is refused", because a 200 would be reported. That assertion
    does not check "an unknown id gets a 400": a 404 would not be reported. What is never on the wire checks nothing.
    """
    if assertion.out_of_reach == NOT_ON_THE_WIRE:
        return False
    if assertion.is_only_status_assumed:
        # Only a success in place of a refusal, or the reverse, differs from an assumed status.
        return re.search(rf"\b{re.escape(str(assertion.documented))}\b", fact.statement) is None
    # Another value at an assumed location is a difference from the documented value.
    return assertion.basis is Basis.DOCUMENTED or assertion.is_only_location_assumed


class FactChecks:
    """The facts and assertions of one provider, and which assertions each fact names."""

    def __init__(self, facts: Iterable[Fact], assertions: Iterable[Assertion]) -> None:
        self.facts = tuple(facts)
        self._fact_by_id = {fact.id: fact for fact in self.facts}
        self._assertion_by_id = {assertion.id: assertion for assertion in assertions}
        self._matches: dict[str, tuple[Assertion, ...]] = {}

    @property
    def documented_assertions(self) -> tuple[Assertion, ...]:
        """Every assertion of the provider for which a row is cited."""
        return tuple(assertion for assertion in self._assertion_by_id.values() if assertion.basis is Basis.DOCUMENTED)

    @cached_property
    def assertions_without_fact(self) -> tuple[Assertion, ...]:
        """The documented assertions that no fact names: a fact is missing, or the assertion says more than its row."""
        ids_in_facts = {assertion.id for fact in self.facts for assertion in self.assertions_for(fact)}
        return tuple(
            assertion
            for assertion in self.documented_assertions
            if assertion.id not in ids_in_facts and assertion.out_of_reach != NOT_ON_THE_WIRE
        )

    def find_assertions(self, pattern: str) -> tuple[Assertion, ...]:
        """Return the assertions whose id matches a pattern of `checked_by`, whatever their basis.

        Example: `pa/errors/general/*#answer/status` finds the status of each general error.
        """
        if pattern not in self._matches:
            self._matches[pattern] = tuple(self._match(pattern))
        return self._matches[pattern]

    def assertions_for(self, fact: Fact) -> tuple[Assertion, ...]:
        """Return the assertions that check a fact: those that it names, else those of the fact that it restates."""
        source = self.checked_fact(fact)
        named = {
            assertion.id: assertion for pattern in source.checked_by for assertion in self.find_assertions(pattern)
        }
        return tuple(assertion for assertion in named.values() if checks_fact(assertion, source))

    def is_unchecked(self, fact: Fact) -> bool:
        """Whether a client could observe a fact, and no assertion checks it and no reason says why not."""
        return fact.wire is Wire.YES and not self.assertions_for(fact) and not self.checked_fact(fact).reason

    def checked_fact(self, fact: Fact) -> Fact:
        """Return the fact whose `checked_by` applies: this one, or if it has none, the fact that it restates."""
        visited = {fact.id}  # facts may restate each other in a ring
        while not fact.checked_by and not fact.reason:
            restated = self._fact_by_id.get(fact.restates)
            if restated is None or restated.id in visited:
                break
            fact = restated
            visited.add(fact.id)
        return fact

    def list_citing_assertions(self, fact: Fact) -> tuple[Assertion, ...]:
        """Return the documented assertions that cite the fact's row, and so are likely to check it."""
        return tuple(self._by_citation.get(fact.citation, ()))

    def suggest(self, pattern: str) -> str:
        """Return a suggestion, in words, for a pattern that matches nothing."""
        address = pattern.partition("#")[0]
        return suggest_similar(pattern, self._by_address.get(address) or self._assertion_by_id)

    @cached_property
    def _by_citation(self) -> Mapping[str, Sequence[Assertion]]:
        """Citation of a row -> the documented assertions with it, e.g. `2:7.3#missing max_tokens` -> three of them."""
        by_citation: dict[str, list[Assertion]] = defaultdict(list)
        for assertion in self.documented_assertions:
            for citation in assertion.source.split("; "):
                by_citation[citation].append(assertion)
        return by_citation

    @cached_property
    def _by_address(self) -> Mapping[str, Mapping[str, Assertion]]:
        """Address -> id -> assertion; most patterns have their `*` after the `#`."""
        by_address: dict[str, dict[str, Assertion]] = defaultdict(dict)
        for assertion_id, assertion in self._assertion_by_id.items():
            by_address[assertion.address][assertion_id] = assertion
        return by_address

    def _match(self, pattern: str) -> Iterator[Assertion]:
        if pattern in self._assertion_by_id:
            yield self._assertion_by_id[pattern]
        elif "*" in pattern:
            address_regex, id_regex = _compile(pattern.partition("#")[0]), _compile(pattern)
            for address in filter(address_regex.fullmatch, self._by_address):
                by_id = self._by_address[address]
                yield from (assertion for id_, assertion in by_id.items() if id_regex.fullmatch(id_))


def _compile(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which `*` stands for any text without a `#`."""
    return re.compile("[^#]*".join(map(re.escape, pattern.split("*"))))
