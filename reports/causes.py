"""Records that drift, gathered by what made them: one change at a provider is told once, however many it meets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.evidence.causes import Cause, causes
from catalog.evidence.changes import Change
from reports.where import on_endpoints

if TYPE_CHECKING:
    from datetime import date

    from catalog.evidence.results import Run
    from reports.standing import Standing

CAUSED = frozenset({Change.NEW, Change.DIFFERENT, Change.ONGOING, Change.PENDING})
"""The changes whose records are told by their causes."""

NAMED = 3
"""Records named beside a cause where there is little room; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """A cause, and where its records stand."""

    cause: Cause
    members: tuple[Standing, ...]
    """By address; a record that several causes made drift stands beside each."""

    @property
    def since(self) -> date | None:
        """The first day on which one of its records drifted without a break."""
        return min((each.since for each in self.members if each.since is not None), default=None)

    @property
    def number(self) -> str:
        """`12 records, 3 endpoints, regression`; of one record, on which of its endpoints."""
        counted = _count(len(self.members), "record")
        if len(self.members) == 1:
            where = on_endpoints(self.cause.drifts[0].finding, self.members[0].result)
        else:
            where = _count(len(self.cause.endpoints), "endpoint") if self.cause.endpoints else ""
        kinds = sorted({each.kind for each in self.members} - {""})
        return ", ".join(part for part in (counted, where, *kinds) if part)

    def named(self, most: int = NAMED) -> str:
        """The first addresses, and how many there are more."""
        more = len(self.members) - most
        told = ", ".join(each.address for each in self.members[:most])
        return f"{told} and {more} more" if more > 0 else told


def gathered(standings: Sequence[Standing]) -> tuple[Gathered, ...]:
    """The causes behind these records, that of the most records first."""
    by_address = {each.address: each for each in standings}
    return tuple(
        Gathered(cause, tuple(by_address[address] for address in cause.records))
        for cause in causes(each.result for each in standings)
    )


def heading(title: str, standings: Sequence[Standing], found: Sequence[Gathered]) -> str:
    """`New drift (41 records, 4 causes)`."""
    return f"{title} ({_count(len(standings), 'record')}, {_count(len(found), 'cause')})"


def ask_again(run: Run, cause: Cause) -> str:
    """The command that probes the records of a cause again."""
    target = f" --target {run.target}" if run.target != "mock" else ""
    return f"pytest probes --cause {cause.id}{target}"


def accept(run: Run, cause: Cause) -> str:
    """The command that accepts all the drifts of a cause until their review."""
    target = f" --target {run.target}" if run.target != "live" else ""
    return f'python -m catalog accept --cause {cause.id}{target} --reason "…"'


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
