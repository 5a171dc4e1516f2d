"""Several runs as a matrix: families, records and assertions down, runs across. Every view tells the same. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from catalog.evidence.causes import id_of
from catalog.evidence.same_drift import cause, observed_class
from catalog.evidence.self_check import of_records
from catalog.model import KINDS, Address
from catalog.model.text import brief
from catalog.reading import over_runs, query
from catalog.reading.over_runs import OverRuns
from catalog.reading.values import ABSENT, demand_among
from reports.across.columns import Column, Told, columns
from reports.across.seen import OfRecord, Seen, Share, Shared
from reports.facets import LONGEST
from reports.facts import title
from reports.words import OUTCOMES, count

if TYPE_CHECKING:
    from catalog.evidence.results import Result, Run
    from catalog.model import Outcome


KNOWN: Mapping[str, str] = {**query.OF_RECORDS, **over_runs.FIELDS}
"""The fields that a query over runs may name: without brackets, any of the runs is enough."""

OF_COLUMNS = ("provider", "run", "target", "region", "revision")
"""The fields of which these runs have a few values, so that another one is a slip and no question."""


@dataclass(frozen=True)
class Row:
    """One record: what each run has of it, None where the run did not have it."""

    address: Address
    cells: tuple[OfRecord | None, ...]
    facets: tuple[frozenset[str], ...]
    """What each run has of it, as a query asks for it."""
    today: date
    """The day of the newest run: evidence is so old on it."""

    @cached_property
    def newest(self) -> Result:
        """Of the last run that has it: what the record says is told from here."""
        return next(cell.result for cell in reversed(self.cells) if cell is not None)

    @property
    def title(self) -> str:
        return title(self.newest)

    @cached_property
    def differs(self) -> bool:
        """Whether the runs that looked at it did not all see the same."""
        told = {self._told(cell) for cell in self.cells if cell is not None and cell.result.outcome.conclusive}
        return len(told) > 1

    @cached_property
    def assertions(self) -> Mapping[str, tuple[Seen | None, ...]]:
        """What each run saw of each thing that the record asserts, by key; first that on which they do not agree."""
        keys = dict.fromkeys(key for cell in self.cells if cell is not None for key in cell.assertions)
        found = {key: tuple(None if cell is None else cell.of(key) for cell in self.cells) for key in keys}
        return dict(sorted(found.items(), key=lambda item: (agree(item[1]), not _drifts(item[1]))))

    def assumed(self, key: str) -> bool:
        """Whether no document states it."""
        return any(cell.assumed(key) for cell in self.cells if cell is not None)

    @cached_property
    def spoken(self) -> query.Spoken:
        """What a query finds it by: what its record says, and what each run has of it."""
        said = query.Spoken.of(self.newest.probed_record, self.today)
        return replace(said, facets=said.facets.union(*self.facets), runs=self.facets)

    @staticmethod
    def _told(cell: OfRecord) -> tuple[Outcome, tuple[tuple[str, str], ...]]:
        drifts = sorted({(each.assertion or each.code, observed_class(each)) for each in cell.result.drifts})
        return cell.result.outcome, tuple(drifts)


def agree(seen: Sequence[Seen | None]) -> bool:
    """Whether all runs that looked at an assertion saw it alike; how many endpoints it was makes no difference."""
    looked = [each for each in seen if each is not None and each.looked_at]
    return len({tuple(sorted(observed for observed, _ in each.otherwise)) for each in looked}) <= 1


def _drifts(seen: Sequence[Seen | None]) -> bool:
    return any(each is not None and each.otherwise for each in seen)


@dataclass(frozen=True, slots=True)
class FamilyCell:
    """A family in one run."""

    share: Share
    outcomes: Counter[Outcome]
    """How many of its records came out how; what the run did not have is in none."""


@dataclass(frozen=True)
class Family:
    """The records of one family of one provider."""

    provider: str
    kind: str
    family: str
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """`pa/errors/general`."""
        return f"{self.provider}/{self.kind}/{self.family}"

    @property
    def query(self) -> str:
        """What finds its records."""
        return f"provider:{self.provider} kind:{self.kind} family:{self.family}"

    @cached_property
    def cells(self) -> tuple[FamilyCell, ...]:
        return tuple(_family_cell(own) for own in zip(*(row.cells for row in self.rows), strict=True))


def _family_cell(cells: Sequence[OfRecord | None]) -> FamilyCell:
    there = [cell for cell in cells if cell is not None]
    return FamilyCell(sum((cell.share for cell in there), Share()), Counter(cell.result.outcome for cell in there))


class Comparison:
    """Runs beside each other."""

    def __init__(self, told: Iterable[Told]) -> None:
        """Set runs beside each other, in their order; each is read when the one before it is in its place.

        Raises:
            EvidenceError: one of them is there twice.
        """
        self._shared = Shared()
        runs: list[Run] = []
        self._known: list[dict[str, Result]] = []
        for run, results in told:
            runs.append(run)
            self._known.append(self._shared.by_address(of_records(results)))
        self.columns: tuple[Column, ...] = columns(runs)
        self._today = date.fromisoformat(max(each.today for each in self.columns))

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Every record that any run has, by address."""
        addresses = sorted({address for known in self._known for address in known})
        return tuple(self._row(address) for address in addresses)

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """Every family, by provider, kind and name."""
        return families(self.rows)

    @cached_property
    def differing(self) -> tuple[Row, ...]:
        """The records that the runs did not see alike."""
        return tuple(row for row in self.rows if row.differs)

    @property
    def sentence(self) -> str:
        """What there is to say first."""
        runs, records = count(len(self.columns), "run"), count(len(self.rows), "record")
        if len(self.columns) == 1:
            return f"{runs} with {records}."
        if not self.differing:
            return f"{runs} saw the same of {records}, as far as they looked."
        return f"{runs} differ on {len(self.differing)} of {records}."

    def found(self, text: str) -> tuple[Row, ...]:
        """The records that fit a query.

        Raises:
            CatalogError: it cannot be read, or names a provider, a run, a target, a region or a revision of none of
                these runs.
        """
        asked = query.parse(text, known=KNOWN)
        for part in asked:
            for term in part.terms if isinstance(part, OverRuns) else (part,):
                if term.field in OF_COLUMNS:
                    for value in term.values:
                        demand_among(term.field, value, self._values(term.field))
        return tuple(row for row in self.rows if row.spoken.fits(asked))

    def _values(self, field: str) -> list[str]:
        """What a field is in these runs."""
        found = {each for row in self.rows for each in row.spoken.facets if each.startswith(f"{field}:")}
        return sorted(each.partition(":")[2] for each in found)

    def _row(self, address: str) -> Row:
        cells = tuple(
            OfRecord(known[address], known, self._shared) if address in known else None for known in self._known
        )
        told = zip(self.columns, cells, strict=True)
        facets = tuple(frozenset(_facets(column, cell, address)) for column, cell in told)
        return Row(Address.parse(address), cells, facets, self._today)


def families(rows: Sequence[Row]) -> tuple[Family, ...]:
    """The families of some records, by provider, kind and name."""
    members: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        lies = row.address
        members.setdefault((lies.provider, lies.kind, lies.family), []).append(row)
    ordered = sorted(members, key=lambda key: (key[0], KINDS.index(key[1]), key[2]))
    return tuple(Family(*key, tuple(members[key])) for key in ordered)


def _facets(column: Column, cell: OfRecord | None, address: str) -> Iterator[str]:
    """What a run has of a record, in the words of a query (`catalog/reading/over_runs.py`)."""
    yield from column.facets
    revision = column.revision_of(address.partition("/")[0])
    if revision:
        yield f"revision:{revision.lower()}"
    if cell is None:
        yield f"outcome:{ABSENT}"
        return
    result = cell.result
    yield f"outcome:{OUTCOMES[result.outcome].replace(' ', '-')}"
    for finding in result.findings:
        yield f"finding:{finding.code}"
        yield brief(f"observed:{observed_class(finding)}".lower(), LONGEST)
        if finding.drifts:
            yield f"cause:{id_of(cause(result.address.provider, finding))}"
    if result.reason is not None:
        yield f"reason:{result.reason.code}"
