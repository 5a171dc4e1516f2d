"""The first screen as data: the verdict in one sentence, what changed, the matrix. Every view tells the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from catalog.evidence import agreement, past, verdicts
from catalog.evidence.blindness import unconfigured
from catalog.evidence.changes import Change
from catalog.evidence.complete import complete, unreported
from catalog.evidence.partly import in_part
from catalog.evidence.self_check import of_records
from catalog.model import KINDS, Outcome
from catalog.model.exits import Exit
from reports import history
from reports.standing import Standing, standings

if TYPE_CHECKING:
    from catalog.evidence.results import Result, Run

GROUPS: Mapping[Change, str] = {
    Change.LOST: "Lost from sight",
    Change.NEW: "New drift",
    Change.DIFFERENT: "Drifts otherwise than before",
    Change.FLAKY: "Flaky",
    Change.BROKEN: "Our own fault",
    Change.STALE: "Ledger entry to mend",
    Change.ONGOING: "Still drifting",
    Change.PENDING: "Pending: never seen as documented",
    Change.FIXED: "Fixed",
    Change.UNSEEN: "Could not look",
    Change.ACCEPTED: "Accepted in the ledger",
}
"""What changed, in the order in which a person should read it."""


FAULTS = "Faults of our own"
"""The heading, in every view, of faults that no record tells."""

CORRECTED = "Assumptions that reality corrected"
"""The heading, in every view, of what we had assumed and an answer showed otherwise."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One family of records of one provider, in the matrix."""

    provider: str
    kind: str
    family: str
    standings: tuple[Standing, ...]

    @property
    def counts(self) -> Counter[Outcome]:
        return Counter(each.outcome for each in self.standings)

    @property
    def oldest(self) -> int | None:
        """The age in days of its oldest evidence."""
        return max((each.age for each in self.standings if each.age is not None), default=None)


class Overview:
    """A run beside the runs before it: all that the first screen of any view says."""

    def __init__(self, run: Run, results: Sequence[Result]) -> None:
        self.run = run
        known = complete(run, results)
        self.faults = verdicts.faults(run, known)
        """Faults of our own that no record tells."""
        self.status = verdicts.of_run(run, known)
        """The exit status that the run calls for."""
        self.results = tuple(of_records(known))
        self.standings = tuple(standings(run, self.results))
        self.earlier = tuple(past.rows(run))

    @cached_property
    def counts(self) -> Counter[Outcome]:
        return Counter(each.outcome for each in self.standings)

    @cached_property
    def changes(self) -> dict[Change, tuple[Standing, ...]]:
        """The records of each kind of change, in reading order; kinds without any are left out."""
        found = {change: tuple(each for each in self.standings if each.change is change) for change in GROUPS}
        return {change: each for change, each in found.items() if each}

    @cached_property
    def unconfigured(self) -> tuple[Standing, ...]:
        """What was not asked because an address, a key or a value is wanting, and that nobody lost by it."""
        return tuple(each for each in self.standings if unconfigured(each.result) and each.change is not Change.LOST)

    @cached_property
    def findings(self) -> tuple[Standing, ...]:
        return tuple(each for each in self.standings if each.is_finding)

    @cached_property
    def added(self) -> tuple[Standing, ...]:
        return tuple(each for each in self.standings if each.added)

    @cached_property
    def discovered(self) -> tuple[str, ...]:
        """What answers held beyond the documents and no earlier run shown had seen."""
        known = frozenset().union(*(row.seen for row in self.earlier))
        return tuple(sorted(history.discovered(self.results) - known))

    @cached_property
    def corrected(self) -> tuple[str, ...]:
        """What we had assumed and an answer showed otherwise, where no earlier run shown had said so."""
        known = frozenset().union(*(row.seen for row in self.earlier))
        return tuple(sorted(history.corrected(self.results) - known))

    @cached_property
    def pending(self) -> str:
        """What is pending, in one sentence; empty where nothing is."""
        members = self.changes.get(Change.PENDING, ())
        if not members:
            return ""
        first = min(agreement.until(each.result) for each in members)
        drift, it = ("drift", "It fails") if len(members) == 1 else ("drifts", "They fail")
        return (
            f"{len(members)} {drift} of what no live night has yet seen as documented. "
            f"{it} no run before {first}: until then correct the record, accept the divergence, or ask the provider."
        )

    @property
    def has_news(self) -> bool:
        """Whether there is anything to tell that the run before did not."""
        news = (self.changes, self.discovered, self.corrected, self.added, self.blind, self.stale_entries, self.faults)
        return any(news)

    @cached_property
    def blind(self) -> dict[str, str]:
        """The providers that had to be looked at and really were not, and why: what makes the run exit 10."""
        return verdicts.blind(self.run, self.results)

    @cached_property
    def stale_entries(self) -> tuple[str, ...]:
        """Entries of the ledger that fail the run and that no record here tells."""
        lost = (each for each in self.changes.get(Change.LOST, ()) if verdicts.stale(each.result))
        told = (f"{each.address}: {verdicts.of_ledger(each.result, 'detail')}" for each in lost)
        return (*verdicts.stale_entries(self.run, self.results), *told)

    @cached_property
    def verified(self) -> int:
        return sum(each.verified for each in self.standings)

    @cached_property
    def oldest(self) -> int | None:
        return max((each.age for each in self.standings if each.verified and each.age is not None), default=None)

    @cached_property
    def providers(self) -> tuple[str, ...]:
        return tuple(sorted({each.result.address.provider for each in self.standings}))

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every family, by provider, kind and name."""
        members: dict[tuple[str, str, str], list[Standing]] = {}
        for each in self.standings:
            lies = each.result.address
            members.setdefault((lies.provider, lies.kind, lies.family), []).append(each)
        ordered = sorted(members, key=lambda key: (key[0], KINDS.index(key[1]), key[2]))
        return tuple(Cell(*key, tuple(sorted(members[key], key=lambda each: each.address))) for key in ordered)

    @property
    def mood(self) -> str:
        """`bad`, `warn` or `good`: the colour of the verdict; never `good` where the exit status is not 0."""
        wrong = any(verdicts.failed(each) or verdicts.broken(each) for each in self.results)
        if wrong or self.stale_entries or self.faults:
            return "bad"
        unseen = not {Change.LOST, Change.UNSEEN}.isdisjoint(self.changes) or not self.counts[Outcome.CONFORMS]
        return "warn" if unseen or self.pending or self.status is not Exit.FINE else "good"

    @property
    def headline(self) -> tuple[str, ...]:
        """What happened, in the parts of one sentence."""
        if not self.standings:
            return ("nothing was probed",)
        number = {change: len(self.changes.get(change, ())) for change in GROUPS}
        new = "new drift" if self.earlier else "drift"
        drifting = self.counts[Outcome.DRIFTED]
        never_reported = sum(map(unreported, self.results))
        unseen, lost = self._beside_the_blind(Change.UNSEEN), self._beside_the_blind(Change.LOST)
        was = "was" if len(self.blind) == 1 else "were"
        parts = [
            f"{_names(tuple(self.blind))} {was} not really looked at" if self.blind else "",
            f"{lost}{' more' if self.blind else ''} lost from sight" if lost else "",
            f"{never_reported} selected and never reported" if never_reported else "",
            _count(number[Change.NEW], new),
            _count(number[Change.DIFFERENT], "changed drift"),
            f"{number[Change.ONGOING]} still drifting" if number[Change.ONGOING] else "",
            f"{number[Change.FLAKY]} flaky" if number[Change.FLAKY] else "",
            _count(number[Change.BROKEN] + len(self.faults), "fault of our own", "faults of our own"),
            _count(number[Change.STALE] + len(self.stale_entries), "stale ledger entry", "stale ledger entries"),
            _count(number[Change.PENDING], "pending drift"),
            f"{number[Change.FIXED]} fixed" if number[Change.FIXED] else "",
            f"{number[Change.ACCEPTED]} accepted" if number[Change.ACCEPTED] else "",
            f"{unseen}{' more' if self.blind else ''} could not be looked at" if unseen else "",
        ]
        said = [part for part in parts if part]
        if not drifting and self.counts[Outcome.CONFORMS]:
            partly = self.blind or never_reported or lost or self.faults
            said.insert(bool(self.blind) + bool(lost), "no drift in what was seen" if partly else "no drift")
        return tuple(said) or ("nothing could be judged",)

    def _beside_the_blind(self, change: Change) -> int:
        """How many records of one kind of change belong to providers that were looked at, and were reported."""
        members = self.changes.get(change, ())
        return sum(each.result.address.provider not in self.blind and not unreported(each.result) for each in members)

    @property
    def coverage(self) -> str:
        """How much of the catalog rests on evidence, and how old that is."""
        total = len(self.standings)
        if not self.run.live:
            return f"{self.counts[Outcome.CONFORMS]} of {total} conform on the mock"
        partly = sum(each.verified and in_part(each.result) for each in self.standings)
        said = f"{self.verified} of {total} verified" + (f", {partly} of them in part" if partly else "")
        return f"{said}, oldest evidence {days(self.oldest)}" if self.oldest is not None else said

    @property
    def verdict(self) -> str:
        """The whole sentence."""
        said = f"{', '.join(self.headline)}; {self.coverage}"
        return f"{said[0].upper()}{said[1:]}."


def days(age: int | None) -> str:
    """An age in words."""
    if age is None:
        return "never"
    return "today" if age == 0 else _count(age, "day")


def _count(number: int, one: str, many: str = "") -> str:
    if not number:
        return ""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def _names(providers: Sequence[str]) -> str:
    return " and ".join(provider.upper() for provider in providers)
