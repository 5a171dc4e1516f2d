"""What a declaration selects of a catalog: assertions, and the endpoints on which they have to hold."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.model.assertion import Basis
from catalog.model.errors import CatalogError, did_you_mean
from catalog.model.wildcard import ANYTHING, fits
from catalog.reading.assertions import assertions
from catalog.reading.facts import occurs_on

if TYPE_CHECKING:
    from catalog.model import Record
    from catalog.model.assertion import Assertion
    from catalog.reading.store import Catalog
    from catalog.rely.declared import Declared, Leaning


@dataclass(frozen=True, slots=True)
class Selected:
    """One record of a leaning: what of it is leaned on, and where."""

    record: Record
    stated: tuple[Assertion, ...]
    """All that the record asserts; its evidence speaks of just this."""
    meant: tuple[Assertion, ...]
    endpoints: tuple[str, ...]
    """Where it has to hold, each; empty: on some endpoint."""
    left_out: int
    """What a pattern with a star would name and does not mean: assumed, or beyond any client's reach."""


def selected(declared: Declared, catalog: Catalog) -> list[tuple[Leaning, list[Selected]]]:
    """What each leaning selects.

    Raises:
        CatalogError: a pattern names nothing, with its place in the file: what nobody can look at is no promise.
    """
    states = _States(catalog)
    return [
        (leaning, _of_leaning(leaning, states, _Place(declared, number)))
        for number, leaning in enumerate(declared.leanings)
    ]


def promises(declared: Declared, catalog: Catalog) -> frozenset[tuple[str, str]]:
    """All that a declaration selects, as (assertion id, endpoint or `*`): by this two of them are the same.

    Raises:
        CatalogError: as `selected`.
    """
    return frozenset(
        (assertion.id, endpoint)
        for _, own in selected(declared, catalog)
        for each in own
        for assertion in each.meant
        for endpoint in each.endpoints or (ANYTHING,)
    )


@dataclass(frozen=True, slots=True)
class _Place:
    declared: Declared
    number: int

    def nothing(self, field: str, pattern: str, what: str, known: Iterable[str]) -> CatalogError:
        mend = did_you_mean(pattern, known) or "`python -m catalog show` lists them"
        place = f"rely[{self.number}].{field}"
        return CatalogError(f"{pattern!r} names no {what}", mend, file=self.declared.file, place=place)


class _States:
    """What the records of a catalog state, each taken apart once however many leanings select it."""

    def __init__(self, catalog: Catalog) -> None:
        self.records = {str(record.address): record for record in catalog.records}
        self._lookup = catalog.__getitem__
        self._keyed: dict[str, dict[str, Assertion]] = {}

    def of(self, address: str) -> Mapping[str, Assertion]:
        """The assertions of a record by their keys."""
        if address not in self._keyed:
            stated = assertions(self.records[address], self._lookup)
            self._keyed[address] = {str(each.key): each for each in stated}
        return self._keyed[address]


def _of_leaning(leaning: Leaning, states: _States, place: _Place) -> list[Selected]:
    addresses = _fitting(leaning.on, states.records)
    for pattern in leaning.on:
        if not any(fits(pattern, address) for address in addresses):
            raise place.nothing("on", pattern, "record", states.records)
    keys = {key: None for address in addresses for key in states.of(address)}
    endpoints = {endpoint: None for address in addresses for endpoint in _places(states.records[address])}
    wanted, where = _fitting(leaning.assertions, keys), _fitting(leaning.endpoints, endpoints)
    found = [_of_record(leaning, states.records[each], states.of(each), wanted, where) for each in addresses]
    meant = {str(assertion.key) for each in found for assertion in each.meant}
    for pattern in leaning.assertions:
        if not any(fits(pattern, key) for key in meant):
            raise place.nothing("assertions", pattern, "assertion of these records", keys)
    for pattern in leaning.endpoints:
        if not any(fits(pattern, endpoint) for endpoint in where):
            raise place.nothing("endpoints", pattern, "endpoint of these records", endpoints)
    return [each for each in found if each.meant and (each.endpoints or not leaning.endpoints)]


def _fitting(patterns: Iterable[str], texts: Iterable[str]) -> dict[str, None]:
    """The texts that are as some pattern says, each once, in their order."""
    return {text: None for text in texts if any(fits(pattern, text) for pattern in patterns)}


def _of_record(
    leaning: Leaning, record: Record, stated: Mapping[str, Assertion], wanted: Container[str], where: Container[str]
) -> Selected:
    named = [(key, each) for key, each in stated.items() if key in wanted]
    sure = {each.key.label for _, each in named if _is_promised(each)}
    meant = tuple(
        each for key, each in named if _is_promised(each) or each.key.label not in sure or key in leaning.assertions
    )
    endpoints = tuple(each for each in sorted(_places(record)) if each in where)
    return Selected(record, tuple(stated.values()), meant, endpoints, len(named) - len(meant))


def _is_promised(assertion: Assertion) -> bool:
    """Whether a star means it wherever it stands: the documents state it, and a client can bring it about.

    Anything else is meant where its key is written out, or where nothing of this kind stands under its label: our own
    guess, turning out wrong, breaks no client that leans on the documents.
    """
    return assertion.basis is Basis.DOCUMENTED and not assertion.out_of_reach


def _places(record: Record) -> Iterator[str]:
    yield from occurs_on(record) or (str(record.address),)
