"""Answer whether a client may depend on assertions: yes, no, or unknown. By the evidence of the records alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.model.clock import add_days
from catalog_probe.catalog.model.errors import CatalogError, suggest_similar
from catalog_probe.catalog.observed.cells import Cell, cells_of
from catalog_probe.catalog.observed.last_seen import is_not_from_provider, target_of
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.reading.record_fields import occurs_on
from catalog_probe.catalog.text.wildcard import matches_wildcard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.rely.rely_file import Dependency, RelyFile


class DependencyStatus(StrEnum):
    """Whether a client may depend on it; `unknown` if it was not observed lately."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CellEvidence:
    """What was last seen of one assertion on one endpoint."""

    assertion: Assertion
    endpoint: str
    """Empty: any endpoint of the record."""
    on: date | None
    """The day on which it was last seen; None: never."""
    mismatch: str = ""
    """The observed class, if the last observation mismatched."""


@dataclass(frozen=True, slots=True)
class DependencyResult:
    """The answer to one dependency, and the evidence against a yes."""

    dependency: Dependency
    records: int
    assertions: int
    differing: tuple[CellEvidence, ...]
    not_observed: tuple[CellEvidence, ...]

    @property
    def answer(self) -> DependencyStatus:
        if self.differing:
            return DependencyStatus.NO
        return DependencyStatus.UNKNOWN if self.not_observed else DependencyStatus.YES


def combine(answers: Iterable[DependencyStatus]) -> DependencyStatus:
    """One no is no, whatever else is unknown; a yes needs all."""
    found = set(answers)
    return next(
        (answer for answer in (DependencyStatus.NO, DependencyStatus.UNKNOWN) if answer in found), DependencyStatus.YES
    )


def evaluate_dependencies(rely: RelyFile, catalog: Catalog, today: date) -> list[DependencyResult]:
    """Answer each dependency of a file.

    Raises:
        CatalogError: a pattern names nothing, with its place in the file.
    """
    fresh = add_days(today, -rely.max_age_days)
    records = _Records(catalog)
    return [_answer(each, records, fresh, _Place(rely, number)) for number, each in enumerate(rely.dependencies)]


@dataclass(frozen=True, slots=True)
class _Place:
    """A `[[rely]]` of the file, for messages."""

    rely: RelyFile
    number: int

    def require(self, field: str, kind: str, names: Iterable[str], known: Iterable[str] = ()) -> None:
        """Refuse a pattern of a field that fits none of these names: a yes about nothing would mislead."""
        names = list(names)
        for pattern in getattr(self.rely.dependencies[self.number], field):
            if not any(matches_wildcard(pattern, name) for name in names):
                mend = suggest_similar(pattern, [*known] or names) or "`catalog-probe catalog show` lists them"
                place = f"rely[{self.number}].{field}"
                raise CatalogError(f"{pattern!r} names no {kind}", mend, file=self.rely.path, location=place)


@dataclass(frozen=True, slots=True)
class _ParsedRecord:
    assertions: Mapping[str, Assertion]
    endpoints: tuple[str, ...]
    cells: Mapping[str, Mapping[str, Cell]]
    """What was last seen, by assertion key and endpoint."""


class _Records:
    """The records of a catalog, each parsed once however many dependencies name it."""

    def __init__(self, catalog: Catalog) -> None:
        self.by_address = {str(record.address): record for record in catalog.records}
        self._lookup = catalog.__getitem__
        self._parsed: dict[str, _ParsedRecord] = {}

    def parsed(self, address: str) -> _ParsedRecord:
        if address not in self._parsed:
            self._parsed[address] = self._parse(self.by_address[address])
        return self._parsed[address]

    def _parse(self, record: Record) -> _ParsedRecord:
        stated = assertions(record, self._lookup)
        cells: dict[str, dict[str, Cell]] = defaultdict(dict)
        if not is_not_from_provider(target_of(record)):  # a run's own copy of the records may hold what a mock did
            for (endpoint, key), cell in cells_of(record, stated).items():
                cells[key][endpoint] = cell
        endpoints = tuple(sorted(occurs_on(record))) or (str(record.address),)
        return _ParsedRecord({str(each.key): each for each in stated}, endpoints, cells)


def _answer(dependency: Dependency, records: _Records, fresh: date, place: _Place) -> DependencyResult:
    place.require("on", "record", records.by_address)
    parsed = [records.parsed(address) for address in records.by_address if _fits_any(dependency.on, address)]
    place.require("endpoints", "endpoint of these records", (name for each in parsed for name in each.endpoints))
    selected = [
        (record, meant, [each for each in record.endpoints if _fits_any(dependency.endpoints, each)])
        for record in parsed
        if (meant := _meant(dependency, record))
    ]
    stated = {key for record in parsed for key in record.assertions}
    meant_keys = {key for _, meant, _ in selected for key in meant}
    place.require("assertions", "assertion of these records", meant_keys, stated)
    if dependency.endpoints:
        selected = [each for each in selected if each[2]]
    differing: list[CellEvidence] = []
    not_observed: list[CellEvidence] = []
    for record, meant, endpoints in selected:
        for key, assertion in meant.items():
            cells = record.cells.get(key, {})
            for endpoint in endpoints or [""]:
                own = {name: cell for name, cell in sorted(cells.items()) if endpoint in ("", name)}
                different = [
                    CellEvidence(assertion, name, cell.on, cell.mismatch) for name, cell in own.items() if cell.mismatch
                ]
                last = max((cell.on for cell in own.values() if cell.on is not None), default=None)
                differing += different
                if not different and (last is None or last < fresh):
                    not_observed.append(CellEvidence(assertion, endpoint, last))
    count = sum(len(meant) for _, meant, _ in selected)
    return DependencyResult(dependency, len(selected), count, tuple(differing), tuple(not_observed))


def _fits_any(patterns: Iterable[str], name: str) -> bool:
    return any(matches_wildcard(pattern, name) for pattern in patterns)


def _meant(dependency: Dependency, record: _ParsedRecord) -> dict[str, Assertion]:
    """The assertions of a record that a dependency means.

    A star means what the documents state and a client can bring about; under a label without any of that, all that is
    stated there. A wrong guess of ours breaks no client, so an assumed key counts where it is written out.
    """
    named = {key: each for key, each in record.assertions.items() if _fits_any(dependency.assertions, key)}
    sure = {key for key, each in named.items() if each.basis is Basis.DOCUMENTED and not each.out_of_reach}
    labels = {record.assertions[key].key.label for key in sure}
    return {
        key: each
        for key, each in named.items()
        if key in sure or each.key.label not in labels or key in dependency.assertions
    }
