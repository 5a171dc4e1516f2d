"""Answer whether a client may depend on assertions: yes, no or unknown, by the evidence in the records alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
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
    from collections.abc import Callable, Iterable, Mapping
    from datetime import date

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.rely.rely_file import Dependency, RelyFile


class DependencyStatus(StrEnum):
    """Whether a client may depend on something; `unknown` if it was not observed lately."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CellEvidence:
    """The last observation of one assertion on one endpoint."""

    assertion: Assertion
    endpoint: str
    """Empty for any endpoint of the record."""
    on: date | None
    """The day of the last observation; None for never."""
    mismatch: str = ""
    """The observed class, or empty if it matched."""


@dataclass(frozen=True, slots=True)
class DependencyResult:
    """The answer for one dependency, and the evidence against a yes."""

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
    """Combine answers: one no makes a no, and one unknown prevents a yes."""
    distinct = set(answers)
    for status in (DependencyStatus.NO, DependencyStatus.UNKNOWN):
        if status in distinct:
            return status
    return DependencyStatus.YES


def evaluate_dependencies(rely: RelyFile, catalog: Catalog, today: date) -> list[DependencyResult]:
    """Answer each dependency of a file.

    Raises:
        CatalogError: a pattern matches nothing, with its position in the file.
    """
    fresh_since = add_days(today, -rely.max_age_days)

    @cache  # several dependencies may name one record
    def parse(address: str) -> _ParsedRecord:
        return _parse_record(catalog[address], catalog)

    addresses = [str(record.address) for record in catalog.records]
    results = []
    for index, dependency in enumerate(rely.dependencies):
        require = _PatternCheck(rely, index).require
        require("on", "record", addresses)
        records = [parse(address) for address in addresses if _matches_any(dependency.on, address)]
        results.append(_evaluate(dependency, records, fresh_since, require))
    return results


@dataclass(frozen=True, slots=True)
class _PatternCheck:
    """Checks the patterns of one `[[rely]]`."""

    rely: RelyFile
    index: int

    def require(self, field: str, kind: str, names: Iterable[str], similar_names: Iterable[str] = ()) -> None:
        """Refuse a pattern that matches none of the names: a yes about nothing would mislead."""
        names = list(names)
        for pattern in getattr(self.rely.dependencies[self.index], field):
            if not any(matches_wildcard(pattern, name) for name in names):
                suggestion = suggest_similar(pattern, [*similar_names] or names)
                mend = suggestion or "`catalog-probe catalog show` lists them"
                location = f"rely[{self.index}].{field}"
                raise CatalogError(f"{pattern!r} names no {kind}", mend, file=self.rely.path, location=location)


@dataclass(frozen=True, slots=True)
class _ParsedRecord:
    assertions: Mapping[str, Assertion]
    endpoints: tuple[str, ...]
    cells: Mapping[str, Mapping[str, Cell]]
    """Assertion key -> endpoint -> last observation."""


def _parse_record(record: Record, catalog: Catalog) -> _ParsedRecord:
    own_assertions = assertions(record, catalog.__getitem__)
    cells: dict[str, dict[str, Cell]] = defaultdict(dict)
    if not is_not_from_provider(target_of(record)):  # a run's own copy of the records may have evidence of a mock
        for (endpoint, key), cell in cells_of(record, own_assertions).items():
            cells[key][endpoint] = cell
    endpoints = tuple(sorted(occurs_on(record))) or (str(record.address),)
    return _ParsedRecord({str(assertion.key): assertion for assertion in own_assertions}, endpoints, cells)


def _evaluate(
    dependency: Dependency, records: Iterable[_ParsedRecord], fresh_since: date, require: Callable[..., None]
) -> DependencyResult:
    records = list(records)
    require("endpoints", "endpoint of these records", (name for record in records for name in record.endpoints))
    selected = [(record, _select_assertions(dependency, record)) for record in records]
    selected = [(record, own_assertions) for record, own_assertions in selected if own_assertions]
    selected_keys = {key for _, own_assertions in selected for key in own_assertions}
    all_keys = {key for record in records for key in record.assertions}
    require("assertions", "assertion of these records", selected_keys, all_keys)
    differing: list[CellEvidence] = []
    not_observed: list[CellEvidence] = []
    record_count = assertion_count = 0
    for record, own_assertions in selected:
        endpoints = [name for name in record.endpoints if _matches_any(dependency.endpoints, name)]
        if dependency.endpoints and not endpoints:
            continue
        record_count += 1
        assertion_count += len(own_assertions)
        for key, assertion in own_assertions.items():
            for endpoint in endpoints or [""]:
                cells = sorted(
                    (name, cell) for name, cell in record.cells.get(key, {}).items() if endpoint in ("", name)
                )
                mismatched = [
                    CellEvidence(assertion, name, cell.on, cell.mismatch) for name, cell in cells if cell.mismatch
                ]
                last_day = max((cell.on for _, cell in cells if cell.on is not None), default=None)
                differing += mismatched
                if not mismatched and (last_day is None or last_day < fresh_since):
                    not_observed.append(CellEvidence(assertion, endpoint, last_day))
    return DependencyResult(dependency, record_count, assertion_count, tuple(differing), tuple(not_observed))


def _matches_any(patterns: Iterable[str], name: str) -> bool:
    return any(matches_wildcard(pattern, name) for pattern in patterns)


def _select_assertions(dependency: Dependency, record: _ParsedRecord) -> dict[str, Assertion]:
    """Return the assertions of a record that a dependency's patterns select.

    A pattern selects what the documents state and a client can cause; under a label without such assertions, all of
    them. A wrong assumption of ours breaks no client, so another assumed assertion counts only if its key is written
    out.
    """
    matching = {
        key: assertion for key, assertion in record.assertions.items() if _matches_any(dependency.assertions, key)
    }
    certain = {
        key for key, assertion in matching.items() if assertion.basis is Basis.DOCUMENTED and not assertion.out_of_reach
    }
    certain_labels = {matching[key].key.label for key in certain}
    return {
        key: assertion
        for key, assertion in matching.items()
        if key in certain or assertion.key.label not in certain_labels or key in dependency.assertions
    }
