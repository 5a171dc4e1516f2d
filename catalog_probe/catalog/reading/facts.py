"""What the documents say, cut into atomic statements, and which assertions of the records look at each."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import provider_folder
from catalog_probe.catalog.files.schemas import schemas
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.errors import CatalogError, suggest_similar
from catalog_probe.catalog.reading.assertions import assertions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model.assertion import Assertion

SHIPPED_FACTS = provider_folders.SHIPPED.facts
"""The facts that this package ships: one file a provider, see its README."""

COLUMNS = ("id", "section", "row", "statement", "wire", "note", "checked_by")

IN_PART = "part:"
"""Before the assertions of a fact that look at some of it; its note says what they leave out, after `UNCHECKED`."""

UNCHECKED = "unchecked:"

NOT_ON_THE_WIRE = str(ReasonCode.NOT_ON_THE_WIRE)
"""Why nobody ever sees an assertion: no fact with an effect on the wire need name it."""

_RESTATES = re.compile(r"restates ([^\s;,]+)")


class Wire(StrEnum):
    """Whether somebody who sends requests and reads answers could observe it."""

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
    statement: str
    wire: Wire
    note: str = ""
    checked_by: tuple[str, ...] = ()
    """Ids of assertions; a `*` stands for any run of characters on its side of the `#`."""
    in_part: bool = False
    """Whether they look at some of it alone."""
    reason: str = ""
    """Why no assertion looks at it, one of `reasons`; empty where some do, and where that is still to be done."""

    @property
    def citation(self) -> str:
        """How a record cites the row that it is of: `2:7.3#missing max_tokens`."""
        return f"{self.section}#{self.row}"

    @property
    def restates(self) -> str:
        """The id of the fact that it says again, or an empty text."""
        found = _RESTATES.match(self.note)
        return found[1] if found else ""

    def goes_by(self, name: str) -> bool:
        """Whether a person means it by this: the beginning of its id, its section, or its row as a record cites it."""
        return self.id.startswith(name.lower()) or name in (self.section, self.citation)

    @classmethod
    def of(cls, cells: Mapping[str, str]) -> Self:
        """Read one line by its columns.

        Raises:
            ValueError: `wire` is none of its words.
        """
        checked = cells["checked_by"].strip()
        reason = checked if checked in out_of_reach_reasons() else ""
        named = "" if reason else checked.removeprefix(IN_PART)
        return cls(
            id=cells["id"],
            section=cells["section"],
            row=cells["row"],
            statement=cells["statement"],
            wire=Wire(cells["wire"]),
            note=cells["note"],
            checked_by=tuple(each.strip() for each in named.split(";") if each.strip()),
            in_part=checked.startswith(IN_PART),
            reason=reason,
        )


@cache
def out_of_reach_reasons() -> tuple[str, ...]:
    """Why no client may be able to bring something about: the closed list of a record's `out_of_reach`."""
    return tuple(schemas()["urn:catalog:shared"]["$defs"]["out_of_reach"]["additionalProperties"]["enum"])


def facts_file(provider: str, folder: Path | None = None) -> Path:
    """Where the facts of a provider lie: in a folder, or in its home."""
    return (folder or provider_folder(provider).facts) / f"{provider}.tsv"


def read_facts(provider: str, folder: Path | None = None) -> tuple[Fact, ...]:
    """The facts of one provider in the order of the documents; none where it has no file.

    Raises:
        CatalogError: at the first line that cannot be read.
    """
    file = facts_file(provider, folder)
    return tuple(_read(file)) if file.exists() else ()


def _read(file: Path) -> Iterator[Fact]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(f"cannot be read ({error})", "check the path, and save it as UTF-8", file=file) from error
    header, *lines = csv.reader(text.splitlines() or [""], delimiter="\t", quoting=csv.QUOTE_NONE)
    if tuple(header) != COLUMNS:
        raise CatalogError(f"has the columns {', '.join(header)}", f"they are {', '.join(COLUMNS)}", file=file)
    for number, cells in enumerate(lines, start=2):
        if len(cells) != len(COLUMNS):
            what = f"has {len(cells)} cells"
            raise CatalogError(what, f"write {len(COLUMNS)}, parted by tabs", file=file, location=str(number))
        try:
            yield Fact.of(dict(zip(COLUMNS, cells, strict=True)))
        except ValueError:
            wire = cells[COLUMNS.index("wire")]
            mend = suggest_similar(wire, Wire) or f"it is one of {', '.join(Wire)}"
            raise CatalogError(f"wire is {wire!r}", mend, file=file, location=str(number)) from None


def load_fact_checks(provider: str, catalog: Catalog, folder: Path | None = None) -> FactChecks:
    """The facts of a provider beside what its records assert.

    Raises:
        CatalogError: the facts cannot be read.
        KeyError: an address or a surface that a record names does not exist.
    """
    made = (each for record in catalog.select(provider) for each in assertions(record, catalog.__getitem__))
    return FactChecks(read_facts(provider, folder), made)


def checks_fact(assertion: Assertion, fact: Fact) -> bool:
    """Whether a difference from it would be told as one from the documents, in what the fact says.

    Where a status is assumed, a success in place of a refusal is still a difference from the documents, and so is the
    other way round; another status is not. Where a place is assumed, another value there is.
    What is never on the wire looks at nothing.
    """
    if assertion.out_of_reach == NOT_ON_THE_WIRE:
        return False
    if assertion.is_only_status_assumed:
        return re.search(rf"\b{re.escape(str(assertion.documented))}\b", fact.statement) is None
    return assertion.basis is Basis.DOCUMENTED or assertion.is_only_location_assumed


class FactChecks:
    """The assertions of one provider's records, and which of them each fact names."""

    def __init__(self, facts: Iterable[Fact], assertions: Iterable[Assertion]) -> None:
        self.facts = tuple(facts)
        self._facts = {fact.id: fact for fact in self.facts}
        self._by_id = {each.id: each for each in assertions}
        self._found: dict[str, tuple[Assertion, ...]] = {}

    @property
    def documented(self) -> tuple[Assertion, ...]:
        """Every assertion that rests on a row."""
        return tuple(each for each in self._by_id.values() if each.basis is Basis.DOCUMENTED)

    @cached_property
    def unnamed(self) -> tuple[Assertion, ...]:
        """The documented assertions that no fact names: either a fact is missing, or they say more than a row does."""
        named = {each.id for fact in self.facts for each in self.of(fact)}
        return tuple(each for each in self.documented if each.id not in named and each.out_of_reach != NOT_ON_THE_WIRE)

    def named_by(self, pattern: str) -> tuple[Assertion, ...]:
        """The assertions that an id names, whatever their basis; `*` stands for any run on its side of the `#`."""
        if pattern not in self._found:
            self._found[pattern] = tuple(self._named_by(pattern))
        return self._found[pattern]

    def of(self, fact: Fact) -> tuple[Assertion, ...]:
        """The assertions that look at a fact: those it names, else those of the fact that it restates."""
        told = self.told_by(fact)
        named = {each.id: each for pattern in told.checked_by for each in self.named_by(pattern)}
        return tuple(each for each in named.values() if checks_fact(each, told))

    def wanting(self, fact: Fact) -> bool:
        """Whether it is still to be done: a fact on the wire without assertions and without a reason."""
        return fact.wire is Wire.YES and not self.of(fact) and not self.told_by(fact).reason

    def told_by(self, fact: Fact) -> Fact:
        """The fact whose `checked_by` counts for this one: itself, or the one that it restates and leaves to check."""
        seen = {fact.id}
        while not fact.checked_by and not fact.reason and fact.restates in self._facts and fact.restates not in seen:
            fact = self._facts[fact.restates]
            seen.add(fact.id)
        return fact

    def candidates(self, fact: Fact) -> tuple[Assertion, ...]:
        """The documented assertions that cite the fact's row: where to look for those that compare its statement."""
        return tuple(self._by_citation.get(fact.citation, ()))

    def nearest(self, pattern: str) -> str:
        """What may have been meant by a name that nothing has, in words."""
        address = pattern.partition("#")[0]
        return suggest_similar(pattern, self._by_address.get(address) or self._by_id)

    @cached_property
    def _by_citation(self) -> Mapping[str, Sequence[Assertion]]:
        found: dict[str, list[Assertion]] = defaultdict(list)
        for each in self.documented:
            for citation in each.source.split("; "):
                found[citation].append(each)
        return found

    @cached_property
    def _by_address(self) -> Mapping[str, Mapping[str, Assertion]]:
        """By address, and there by id: most ids with a `*` have it on the far side of the `#`."""
        found: dict[str, dict[str, Assertion]] = defaultdict(dict)
        for id_, each in self._by_id.items():
            found[each.address][id_] = each
        return found

    def _named_by(self, pattern: str) -> Iterator[Assertion]:
        if pattern in self._by_id:
            yield self._by_id[pattern]
        elif "*" in pattern:
            of_address, like = _like(pattern.partition("#")[0]), _like(pattern)
            for address in filter(of_address.fullmatch, self._by_address):
                yield from (each for id_, each in self._by_address[address].items() if like.fullmatch(id_))


def _like(pattern: str) -> re.Pattern[str]:
    """What an id with `*` in it means: any run without a `#`."""
    return re.compile("[^#]*".join(re.escape(part) for part in pattern.split("*")))
