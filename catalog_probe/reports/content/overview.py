"""The first screen as data: the sections, what is blind, the matrix. Every view tells the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import earlier_runs, shards
from catalog_probe.catalog.evidence.completeness import add_missing_results
from catalog_probe.catalog.evidence.harness_results import select_record_results
from catalog_probe.catalog.evidence.verdicts import confirmation, run_verdict
from catalog_probe.catalog.model import KINDS, Outcome
from catalog_probe.catalog.model.answered_by import AnsweredBy
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.model.reach import Reach
from catalog_probe.reports.content.attribution import Attributor
from catalog_probe.reports.content.causes import Gathered, gathered
from catalog_probe.reports.content.sections import QUIET, Name, Section, sections
from catalog_probe.reports.content.standing import Standing, standings
from catalog_probe.reports.content.words import OUTCOMES, days
from catalog_probe.reports.history import nights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.evidence.results import Result, Run


@dataclass(frozen=True, slots=True)
class Cell:
    """One family of records of one provider, in the matrix."""

    provider: str
    kind: str
    family: str
    standings: tuple[Standing, ...]

    @property
    def prefix(self) -> str:
        """What the addresses of its records begin with: `pa/errors/general`."""
        return f"{self.provider}/{self.kind}/{self.family}"

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
        known = add_missing_results(run, results)
        self.faults = run_verdict.list_faults(run, known)
        """Faults of our own that no record tells."""
        self.status = run_verdict.exit_status(run, known)
        """The exit status that the run calls for."""
        self.results = tuple(select_record_results(known))
        self.standings = tuple(standings(run, self.results))
        self.earlier = tuple(earlier_runs.parse_history(run))

    @cached_property
    def run_names(self) -> tuple[str, ...]:
        """The day of each run shown, oldest first, this one last; a second one on a day is `2026-11-21.2`."""
        seen: Counter[str] = Counter()
        names = []
        for day in (*(row.today.isoformat() for row in self.earlier), self.run.today):
            seen[day] += 1
            names.append(day if seen[day] == 1 else f"{day}.{seen[day]}")
        return tuple(names)

    @cached_property
    def counts(self) -> Counter[Outcome]:
        return Counter(each.outcome for each in self.standings)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Every selected record in one of them, in reading order; those without any are left out."""
        return sections(self.standings)

    def members(self, name: Name) -> tuple[Standing, ...]:
        """The records of a section."""
        return next((each.members for each in self.sections if each.name is name), ())

    @cached_property
    def findings(self) -> tuple[Standing, ...]:
        return tuple(each for each in self.standings if each.is_finding)

    @cached_property
    def added(self) -> tuple[Standing, ...]:
        return tuple(each for each in self.standings if each.added)

    @cached_property
    def discovered(self) -> tuple[str, ...]:
        """What answers held beyond the documents and no earlier run shown had seen."""
        known = frozenset().union(*(row.discovered for row in self.earlier))
        return tuple(sorted(nights.discovered(self.results) - known))

    @cached_property
    def resolved(self) -> tuple[str, ...]:
        """What we had assumed and an answer showed otherwise, where no earlier run shown had said so."""
        known = frozenset().union(*(row.discovered for row in self.earlier))
        return tuple(sorted(nights.corrected(self.results) - known))

    @cached_property
    def attributor(self) -> Attributor:
        """Who is likely wrong."""
        return Attributor(self.run, self.standings)

    def gathered(self, section: Section) -> tuple[Gathered, ...]:
        """What made the records of a section drift, that of the most records first."""
        return gathered(section.members, self.attributor)

    @cached_property
    def pending(self) -> str:
        """What is pending, in one sentence; empty where nothing is."""
        members = self.members(Name.PENDING)
        if not members:
            return ""
        first = min(confirmation.pending_until(each.result) for each in members)
        drift, it = ("drift", "It fails") if len(members) == 1 else ("drifts", "They fail")
        return (
            f"{len(members)} {drift} of what no live run has confirmed yet. "
            f"{it} no run before {first}: until then correct the record, accept the difference, or ask the provider."
        )

    @property
    def has_news(self) -> bool:
        """Whether there is anything to tell that the run before did not."""
        told = any(each.name not in QUIET for each in self.sections)
        return told or any((self.discovered, self.resolved, self.added, self.blind, self.stale_entries, self.faults))

    @cached_property
    def blind(self) -> dict[str, str]:
        """The providers that had to be observed and were not, and why: what makes the run exit 10."""
        return run_verdict.blind_providers(self.run, self.results)

    def describe_coverage(self, provider: str) -> str:
        """Say how much of a blind provider was observed: nothing, or a part if a record of it has a verdict."""
        seen = any(each.outcome.is_conclusive and each.address.provider == provider for each in self.results)
        return "observed only in part" if seen else "not observed"

    @cached_property
    def stale_entries(self) -> tuple[str, ...]:
        """Accepted differences that fail the run and that no record here tells."""
        lost = (each for each in self.members(Name.LOST) if run_verdict.is_stale(each.result))
        told = (f"{each.address}: {run_verdict.acceptance_field(each.result, 'detail')}" for each in lost)
        return (*run_verdict.list_stale_entries(self.run, self.results), *told)

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
        wrong = any(run_verdict.is_failure(each) or run_verdict.is_broken(each) for each in self.results)
        if wrong or self.stale_entries or self.faults:
            return "bad"
        unseen = self.members(Name.LOST) or self.members(Name.INCONCLUSIVE) or not self.counts[Outcome.CONFORMS]
        return "warn" if unseen or self.pending or self.status is not Exit.FINE else "good"

    @property
    def share(self) -> str:
        """Of a shard, that all this speaks of its share alone; empty where the run is the whole."""
        held, missing = shards.list_shards(self.run.policy), shards.list_missing_shards(self.run.policy)
        return f", in shard {' + '.join(held)} alone, without {' + '.join(missing)}" if missing else ""

    @property
    def _rehearsed(self) -> str:
        """How many of those that conform no client's requests can check: our mock answers as we read the documents."""
        conform = (each.result for each in self.standings if each.outcome is Outcome.CONFORMS)
        number = sum(bool(result.reach) and not Reach(result.reach).is_checked for result in conform)
        rehearsed = number and self.run.answered_by is AnsweredBy.MOCK
        return f", {number} of them only rehearsed" if rehearsed else ""

    @property
    def _verified_by_reach(self) -> str:
        """Of the records of each reach, how many are verified; empty where no result tells its reach."""
        every = Counter(each.result.reach for each in self.standings)
        verified = Counter(each.result.reach for each in self.standings if each.verified)
        told = ", ".join(f"{verified[reach]} of {every[reach]} {reach}" for reach in Reach if every[reach])
        return f" ({told})" if told else ""

    @property
    def coverage(self) -> str:
        """How much of the catalog rests on evidence, and how old that is."""
        return "".join(text for text, _ in self.coverage_counted)

    @property
    def coverage_counted(self) -> tuple[tuple[str, str], ...]:
        """The same in pieces, each with the query that finds what it counts, or none."""
        total = len(self.standings)
        share = ((self.share, ""),) if self.share else ()
        if not self.run.live:
            number = self.counts[Outcome.CONFORMS]
            where = "in the recording" if self.run.answered_by is AnsweredBy.RECORDING else "on the mock"
            conform = (str(number), f"outcome:{OUTCOMES[Outcome.CONFORMS]}")
            return conform, (f" of {total} conform {where}{self._rehearsed}", ""), *share
        partly = sum(each.in_part for each in self.standings)
        said = [(str(self.verified), "is:verified"), (f" of {total} verified{self._verified_by_reach}", "")]
        said += [(", ", ""), (str(partly), "is:in-part"), (" of them in part", "")] if partly else []
        oldest = f", oldest evidence {days(self.oldest)}" if self.oldest is not None else ""
        return *said, (oldest, ""), *share
