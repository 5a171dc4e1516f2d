"""The first screen of a report as data: sections, blind providers, coverage, matrix. Every view shows the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import completeness, earlier_runs, run_verdict
from catalog_probe.catalog.evidence.completeness import add_missing_results, select_record_results
from catalog_probe.catalog.evidence.earlier_runs import pending_until
from catalog_probe.catalog.model import KINDS, Outcome
from catalog_probe.catalog.model.assertion import Reach
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.catalog.model.record_states import RecordState
from catalog_probe.catalog.text.readable_text import format_count
from catalog_probe.reports.content.causes import Attributor, ReportedCause, report_causes
from catalog_probe.reports.content.layers import LayerShare, UpstreamFault, list_layers, list_upstream_faults
from catalog_probe.reports.content.records import (
    ReportedRecord,
    Section,
    group_into_sections,
    report_records,
)
from catalog_probe.reports.content.words import format_age
from catalog_probe.reports.history import (
    describe_resolution,
    format_resolved_assumption,
    iterate_resolved_assumptions,
    list_discovered,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run


@dataclass(frozen=True, slots=True)
class FamilyCell:
    """One family of records of one provider, in the matrix."""

    provider: str
    kind: str
    family: str
    records: tuple[ReportedRecord, ...]

    @property
    def prefix(self) -> str:
        """The beginning of the addresses of its records: `pa/errors/general`."""
        return f"{self.provider}/{self.kind}/{self.family}"

    @property
    def counts(self) -> Counter[Outcome]:
        return Counter(record.outcome for record in self.records)

    @property
    def oldest(self) -> int | None:
        """The age in days of its oldest evidence."""
        return oldest_age(self.records)


class Overview:
    """A run compared with the runs before it: all that the first screen of any view shows."""

    def __init__(self, run: Run, results: Sequence[Result]) -> None:
        self.run = run
        complete_results = add_missing_results(run, results)
        self.faults = run_verdict.list_faults(run, complete_results)
        """Our own faults that belong to no record."""
        self.exit_status = run_verdict.exit_status(run, complete_results)
        self.results = tuple(select_record_results(complete_results))
        self.records = tuple(report_records(run, self.results))
        self.earlier = tuple(earlier_runs.parse_history(run))

    @cached_property
    def run_names(self) -> tuple[str, ...]:
        """The day of each run shown, oldest first, this one last; the second run of a day is `2026-11-21.2`."""
        runs_per_day: Counter[str] = Counter()
        names = []
        for day in (*(row.today.isoformat() for row in self.earlier), self.run.today):
            runs_per_day[day] += 1
            names.append(day if runs_per_day[day] == 1 else f"{day}.{runs_per_day[day]}")
        return tuple(names)

    @cached_property
    def counts(self) -> Counter[Outcome]:
        return Counter(record.outcome for record in self.records)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The sections that have records, in reading order."""
        return group_into_sections(self.records)

    def records_in(self, name: RecordState) -> tuple[ReportedRecord, ...]:
        return next((section.records for section in self.sections if section.name is name), ())

    @cached_property
    def findings(self) -> tuple[ReportedRecord, ...]:
        return tuple(record for record in self.records if record.is_finding)

    @cached_property
    def added_records(self) -> tuple[ReportedRecord, ...]:
        return tuple(record for record in self.records if record.added)

    @cached_property
    def discoveries(self) -> tuple[str, ...]:
        """Headers, fields and codes that no document names and no earlier run shown has seen."""
        return self._without_earlier(list_discovered(self.results))

    @cached_property
    def resolved_assumptions(self) -> tuple[str, ...]:
        """Assumptions that an answer showed to be wrong, and that no earlier run has listed, grouped as causes are.

        Those of a status come first, then those of the most records. Example: `pa status: assumed 200, observed 201:
        pa/endpoints/batches/create_batch and 3 more`.
        """
        if self.run.answered_by is AnsweredBy.COMPATIBLE:
            return ()  # what another server does says nothing of what we assumed of the provider
        earlier = {name for row in self.earlier for name in row.discovered}
        records_by_difference: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for result, finding in iterate_resolved_assumptions(self.results):
            if format_resolved_assumption(result, finding) not in earlier:
                local_key = finding.assertion.partition("/")[2]
                difference = (result.address.provider, local_key, describe_resolution(finding))
                records_by_difference[difference].append(result.record)
        differences = sorted(
            records_by_difference.items(), key=lambda item: (item[0][1] != "status", -len(item[1]), item[0])
        )
        return tuple(
            f"{provider} {local_key}: {resolution}: {_name_first(records)}"
            for (provider, local_key, resolution), records in differences
        )

    def _without_earlier(self, names: set[str]) -> tuple[str, ...]:
        return tuple(sorted(names.difference(*(row.discovered for row in self.earlier))))

    @cached_property
    def layers(self) -> tuple[LayerShare, ...]:
        """The layers of a compatible server; empty for any other run."""
        return list_layers(self.run, self.results)

    @cached_property
    def upstream_faults(self) -> tuple[UpstreamFault, ...]:
        """The faults that were sent through a compatible server; empty without a mock behind it."""
        return list_upstream_faults(self.run, self.results)

    @cached_property
    def attributor(self) -> Attributor:
        return Attributor(self.run, self.records)

    def report_causes(self, section: Section) -> tuple[ReportedCause, ...]:
        """Return the causes of a section's drifts; that of the most records comes first."""
        return report_causes(section.records, self.attributor)

    @cached_property
    def pending(self) -> str:
        """What is pending, in one sentence; empty if nothing is."""
        records = self.records_in(RecordState.PENDING)
        if not records:
            return ""
        first_day = min(pending_until(record.result) for record in records)
        drift, it = ("drift", "It fails") if len(records) == 1 else ("drifts", "They fail")
        return (
            f"{len(records)} {drift} in statements that no live run has confirmed yet. {it} no run before {first_day}: "
            "until then correct the record, accept the difference, or ask the provider."
        )

    @property
    def has_news(self) -> bool:
        """Whether there is anything to tell that the run before did not."""
        if not all(section.is_quiet for section in self.sections):
            return True
        news = (self.discoveries, self.resolved_assumptions, self.added_records)
        return any((*news, self.blind, self.stale_entries, self.faults))

    @cached_property
    def blind(self) -> dict[str, str]:
        """The providers that had to be observed and were not, with the reason; they make the run exit 10."""
        return run_verdict.find_blind_providers(self.run, self.results)

    def describe_coverage(self, provider: str) -> str:
        """Say how much of a blind provider was observed: nothing, or a part if a record of it has a verdict."""
        has_verdict = any(
            result.outcome.is_conclusive and result.address.provider == provider for result in self.results
        )
        return "observed only in part" if has_verdict else "not observed"

    @cached_property
    def stale_entries(self) -> tuple[str, ...]:
        """The stale accepted differences that belong to no record of the run."""
        return run_verdict.list_stale_entries(self.run, self.results)

    @cached_property
    def verified_count(self) -> int:
        return sum(record.verified for record in self.records)

    @cached_property
    def providers(self) -> tuple[str, ...]:
        return tuple(sorted({record.provider for record in self.records}))

    @cached_property
    def cells(self) -> tuple[FamilyCell, ...]:
        """Every family, by provider, kind and name."""
        records_by_family: dict[tuple[str, str, str], list[ReportedRecord]] = defaultdict(list)
        for record in sorted(self.records, key=lambda record: record.address):
            address = record.result.address
            records_by_family[address.provider, address.kind, address.family].append(record)
        families = sorted(records_by_family, key=lambda family: (family[0], KINDS.index(family[1]), family[2]))
        return tuple(FamilyCell(*family, tuple(records_by_family[family])) for family in families)

    @property
    def mood(self) -> str:
        """The colour of the verdict: `bad`, `warn` or `good`. It is never `good` unless the exit status is 0."""
        if any(record.state.is_red for record in self.records) or self.stale_entries or self.faults:
            return "bad"
        lacks_verdicts = (
            self.records_in(RecordState.COVERAGE_LOST)
            or self.records_in(RecordState.INCONCLUSIVE)
            or not self.counts[Outcome.CONFORMS]
        )
        return "warn" if lacks_verdicts or self.pending or self.exit_status is not Exit.FINE else "good"

    @property
    def shard_note(self) -> str:
        """Which shards the run holds, if it lacks some; else empty."""
        held, missing = completeness.list_shards(self.run.policy), completeness.list_missing_shards(self.run.policy)
        return f", in shard {' + '.join(held)} alone, without {' + '.join(missing)}" if missing else ""

    @property
    def coverage(self) -> str:
        """How much of the catalog rests on evidence, and how old that is."""
        return "".join(text for text, _ in self.coverage_pieces)

    @property
    def coverage_pieces(self) -> tuple[tuple[str, str], ...]:
        """The same as pieces of text, each with the query that finds the records it counts, or an empty one."""
        is_of_provider = self.run.live and self.run.answered_by is not AnsweredBy.COMPATIBLE
        pieces = self._verified_pieces() if is_of_provider else self._conforming_pieces()
        return (*pieces, (self.shard_note, "")) if self.shard_note else tuple(pieces)

    def _verified_pieces(self) -> list[tuple[str, str]]:
        reached = [record for record in self.records if record.outcome is not Outcome.NOT_PROBED]
        observed = sum(record.outcome in _OBSERVED for record in reached)
        oldest = oldest_age(record for record in self.records if record.verified)
        return [
            (str(observed), f"outcome:{','.join(outcome.query_word for outcome in _OBSERVED)}"),
            (f" of {format_count(len(reached), 'record')} that your keys reach {_was(observed)} observed", ""),
            (f", oldest evidence {format_age(oldest)}" if oldest is not None else "", ""),
        ]

    @property
    def evidence_note(self) -> str:
        """How much of the catalog is verified, in all categories: for the foot of the page."""
        if not self.run.live:
            return self._rehearsed_note
        note = f"{self.verified_count} of {len(self.records)} verified{self._reach_note}"
        partly_verified = [record for record in self.records if record.is_partly_verified]
        if partly_verified:
            sent = sum(len(record.sent_steps) for record in partly_verified)
            unsent = sum(len(record.unsent_steps) for record in partly_verified)
            steps = f": {sent} of their {sent + unsent} steps were sent" if unsent else ""
            note += f", {len(partly_verified)} of them in part{steps}"
        return note

    def _conforming_pieces(self) -> list[tuple[str, str]]:
        places = {AnsweredBy.RECORDING: "in the recording", AnsweredBy.COMPATIBLE: "on this server"}
        where = places.get(self.run.answered_by, "on the mock")
        return [
            (str(self.counts[Outcome.CONFORMS]), f"outcome:{Outcome.CONFORMS.words}"),
            (f" of {len(self.records)} conform {where}", ""),
        ]

    @property
    def _rehearsed_note(self) -> str:
        """How many conforming records no client's request can check: there our mock agrees with our own reading."""
        conforming = (record.result for record in self.records if record.outcome is Outcome.CONFORMS)
        number = sum(bool(result.reach) and not Reach(result.reach).is_checked for result in conforming)
        if not number or self.run.answered_by is not AnsweredBy.MOCK:
            return ""
        return f"{number} of what conforms no client's request can check: there our mock agrees with our own reading"

    @property
    def _reach_note(self) -> str:
        """How many records of each reach are verified; empty if no result names its reach."""
        totals = Counter(record.result.reach for record in self.records)
        verified = Counter(record.result.reach for record in self.records if record.verified)
        shares = ", ".join(f"{verified[reach]} of {totals[reach]} {reach}" for reach in Reach if totals[reach])
        return f" ({shares})" if shares else ""


_OBSERVED = (Outcome.CONFORMS, Outcome.DRIFTED, Outcome.FLAKY, Outcome.RESTRICTED)
"""The outcomes of records that an answer was judged for."""


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _name_first(records: Sequence[str]) -> str:
    """Name the first of some records, and count the others: `pa/errors/general/timeout and 3 more`."""
    first, *others = sorted(set(records))
    return f"{first} and {len(others)} more" if others else first


def oldest_age(records: Iterable[ReportedRecord]) -> int | None:
    """Return the age in days of the oldest evidence of these records; None if there is none."""
    return max((record.age for record in records if record.age is not None), default=None)
