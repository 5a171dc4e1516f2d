"""Drift periods, from the history alone: a cause from its first night to the night on which it was gone. Pure.

Only a verdict says anything: a night that could not look, or did not draw an endpoint, neither ends nor changes what
was observed there before. All runs of one day are one night, so shards show the same as the run they merge into.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow
    from catalog_probe.catalog.model import Json


class PeriodEnding(StrEnum):
    """How a difference ended."""

    RECOVERED = "recovered"
    CHANGED = "changed"
    """Another difference replaced it, so nobody saw it agree."""


@dataclass(slots=True)
class AffectedRecord:
    """One record in a drift period."""

    differs: set[str] = field(default_factory=set)
    """The differences, each as `answer/status 422`."""
    endpoints: set[str] = field(default_factory=set)
    """The endpoints on which the record differed."""
    ended: date | None = None
    ending: PeriodEnding | None = None


@dataclass(slots=True)
class DriftPeriod:
    """The nights on which a cause made something differ, without a break."""

    cause: str
    provider: str
    first: date
    last: date
    code: str = ""
    summary: str = ""
    """The cause in words; empty if the history does not describe it."""
    records: dict[str, AffectedRecord] = field(default_factory=dict)
    """By address."""
    ended: date | None = None
    ending: PeriodEnding | None = None
    replaced_ids: set[str] = field(default_factory=set)
    """The ids of the periods that it replaced when it began."""
    never_confirmed: bool = False
    """Whether no live run before it had confirmed any of this."""
    accepted: bool = False
    """Whether all of it was accepted on its last night."""

    @property
    def id(self) -> str:
        """`pa-3f2a9c01/2026-11-02`; later nights do not change it."""
        return f"{self.cause}/{self.first}"


def find_drift_periods(rows: Iterable[HistoryRow]) -> list[DriftPeriod]:
    """Return all drift periods of a history, by their first night. The rows may be in any order."""
    ordered_rows = sorted(rows, key=night_order)
    replay = _Replay({cause: words for row in ordered_rows for cause, words in row.causes.items()})
    for _, night in groupby(ordered_rows, key=lambda row: row.today):
        replay.add_night(list(night))
    return sorted(replay.periods, key=lambda period: (period.first, period.provider, period.cause))


def night_order(row: HistoryRow) -> tuple[date, str, str]:
    """Return the sort key that puts the rows of a history into the order of their nights."""
    return row.today, row.started_at, row.run


class _Replay:
    """Replays a history night by night."""

    def __init__(self, cause_words: Mapping[str, Mapping[str, Json]]) -> None:
        self._cause_words = cause_words
        self.periods: list[DriftPeriod] = []
        self._open: dict[str, dict[str, DriftPeriod]] = defaultdict(dict)
        """The period of each open difference, by address and name of the difference."""
        self._open_by_cause: dict[str, DriftPeriod] = {}

    def add_night(self, rows: Sequence[HistoryRow]) -> None:
        """Add the runs of one day."""
        drifting_periods: dict[str, DriftPeriod] = {}
        for row in rows:
            for address, outcome in row.outcomes.items():
                if outcome is Outcome.DRIFTED:
                    drifting_periods |= {period.id: period for period in self._add_drift(address, row)}
                elif outcome is Outcome.CONFORMS and address not in row.drifts:
                    for name in list(self._open[address]):
                        self._end_difference(address, name, row.today, PeriodEnding.RECOVERED)
        for period in drifting_periods.values():
            drifts = [drift for row in rows for drift in _list_drifts(period, row)]
            period.accepted = all(drift.get("accepted", False) for drift in drifts)
        self._end_periods(rows[0].today)

    def _add_drift(self, address: str, row: HistoryRow) -> Iterator[DriftPeriod]:
        """Add the drift of a record, and yield the periods that it belongs to."""
        drift = row.drifts.get(address, {})
        # Not strict: lines of earlier versions have no causes.
        causes = dict(zip(drift.get("differs", ()), drift.get("causes", ()), strict=False))
        open_before = dict(self._open[address])
        new_labels = {_label(name) for name in causes.keys() - open_before.keys()}
        for name in sorted(open_before.keys() - causes.keys()):
            endpoints = open_before[name].records[address].endpoints
            if endpoints.isdisjoint(drift.get("not_drawn", ())):
                is_replaced = _label(name) in new_labels
                self._end_difference(
                    address, name, row.today, PeriodEnding.CHANGED if is_replaced else PeriodEnding.RECOVERED
                )
        for name, cause in sorted(causes.items()):
            period = self._open[address].get(name) or self._open_by_cause.get(cause) or self._begin(address, cause, row)
            self._continue(period, address, name, cause, row)
            if period.first == row.today and name not in open_before:
                replaced_ids = {
                    earlier.id
                    for earlier_name, earlier in open_before.items()
                    if earlier_name not in causes and _label(earlier_name) == _label(name)
                }
                period.replaced_ids |= replaced_ids - {period.id}
            yield period

    def _begin(self, address: str, cause: str, row: HistoryRow) -> DriftPeriod:
        words = self._cause_words.get(cause, {})
        period = DriftPeriod(
            cause,
            provider=address.partition("/")[0],
            first=row.today,
            last=row.today,
            code=str(words.get("code", "")),
            summary=str(words.get("summary", "")),
            never_confirmed="first" in row.drifts.get(address, {}),
        )
        self.periods.append(period)
        return period

    def _continue(self, period: DriftPeriod, address: str, name: str, cause: str, row: HistoryRow) -> None:
        period.last = row.today
        record = period.records.setdefault(address, AffectedRecord())
        record.ended, record.ending = None, None
        record.differs.add(name)
        record.endpoints |= set(row.drifts.get(address, {}).get("on", ()))
        self._open[address][name] = period
        self._open_by_cause.setdefault(cause, period)

    def _end_difference(self, address: str, name: str, day: date, ending: PeriodEnding) -> None:
        """End one difference of a record; the last of a period takes the record out of it."""
        period = self._open[address].pop(name)
        if period not in self._open[address].values():
            period.records[address].ended, period.records[address].ending = day, ending

    def _end_periods(self, day: date) -> None:
        """End the periods that no record belongs to any more."""
        open_ids = {period.id for periods in self._open.values() for period in periods.values()}
        for cause, period in list(self._open_by_cause.items()):
            if period.id not in open_ids:
                endings = [record.ending for record in period.records.values() if record.ended == day]
                period.ended = day
                period.ending = PeriodEnding.RECOVERED if PeriodEnding.RECOVERED in endings else PeriodEnding.CHANGED
                del self._open_by_cause[cause]


def _list_drifts(period: DriftPeriod, row: HistoryRow) -> list[Mapping[str, Json]]:
    """Return what a row keeps of the records of a period that drifted in it."""
    drifting = (address for address in period.records if row.outcomes.get(address) is Outcome.DRIFTED)
    return [row.drifts.get(address, {}) for address in drifting]


def _label(name: str) -> str:
    return name.partition("/")[0]
