"""Why records have no verdict, grouped by reason, and what to do next."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.catalog.model.explanations import ALL
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.model.record_states import SECTIONS, Attention, RecordState
from catalog_probe.catalog.text.readable_text import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.reports.content.records import ReportedRecord


@dataclass(frozen=True, slots=True)
class NextStep:
    """One thing to do, and the records that it would settle."""

    code: str
    text: str
    addresses: tuple[str, ...]


def list_next_steps(run: Run, records: Sequence[ReportedRecord]) -> list[NextStep]:
    """Return the next steps of a run, in the order in which its sections are read.

    The differences of a compatible server have none: their advice is that of their layer, for the server's author.
    """
    is_compatible = run.answered_by is AnsweredBy.COMPATIBLE
    addresses_by_code: dict[str, list[str]] = defaultdict(list)
    for record in sorted(records, key=lambda record: SECTIONS.index(record.state.section)):
        codes = list_codes(record.result)
        if is_compatible and record.outcome is Outcome.DRIFTED:
            continue
        if codes and record.state.attention is Attention.ACT:
            addresses_by_code[codes[0]].append(record.address)
    return [NextStep(code, advise_on_code(code), tuple(addresses)) for code, addresses in addresses_by_code.items()]


def list_codes(result: Result) -> list[str]:
    """Return the codes that explain a result, the most telling first, each once."""
    return list(dict.fromkeys(_iterate_codes(result)))


def explain_code(code: str) -> str:
    return ALL[code].means if code in ALL else "This code is not in catalog_probe/catalog/model/outcome.py."


def advise_on_code(code: str) -> str:
    return ALL[code].next_step if code in ALL else "Report it: every code should be explained."


def format_reason(result: Result) -> str:
    """Return why a result has no verdict, in one line; empty if it has one."""
    if result.reason is None:
        return ""
    return f"{result.reason.code}: {result.reason.detail}" if result.reason.detail else result.reason.code


def _iterate_codes(result: Result) -> Iterator[str]:
    if run_verdict.is_stale(result):
        yield FindingCode.STALE_DIVERGENCE
    if result.outcome is not Outcome.DRIFTED and result.reason is not None:
        yield result.reason.code
    yield from (finding.code for finding in result.drifts)
    yield from (finding.code for finding in result.findings if finding.code == FindingCode.MATCHES_ANOTHER_RECORD)


ORDER = (Outcome.INCONCLUSIVE, Outcome.RESTRICTED, Outcome.NOT_PROBED)
"""Records that could not be observed come before those that were not meant to be."""

MAX_REASONS = 3  # details listed per group; the others are counted


@dataclass(frozen=True, slots=True)
class ReasonGroup:
    """The records of one provider that have no verdict for the same reason."""

    outcome: Outcome
    provider: str
    code: str
    detail: str
    """The detail of the reason if all records share it, else empty."""
    records: tuple[ReportedRecord, ...]

    @property
    def since(self) -> str:
        """`, since 2026-11-20` if coverage was lost; `, some since …` if not of all records on that day."""
        lost = [record for record in self.records if record.state is RecordState.COVERAGE_LOST]
        days = {record.since for record in lost if record.since is not None}
        if not days:
            return ""
        is_shared = len(days) == 1 and len(lost) == len(self.records)
        return f", {'' if is_shared else 'some '}since {min(days)}"

    @property
    def means(self) -> str:
        return explain_code(self.code)

    @property
    def next_step(self) -> str:
        return advise_on_code(self.code)

    @property
    def reasons(self) -> list[str]:
        """The detail that all records share, or the most frequent details with their counts; one per line."""
        if self.detail:
            return [self.detail]
        counts = Counter(record.reason_detail for record in self.records)
        if len(counts) == 1:
            return [self.means]
        most_frequent = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        lines = [f"{number} of them: {detail or self.means}" for detail, number in most_frequent[:MAX_REASONS]]
        if len(most_frequent) > MAX_REASONS:
            lines.append(f"and {format_count(len(most_frequent) - MAX_REASONS, 'more reason')}")
        return lines

    @property
    def title(self) -> str:
        """The address of the only record, or `3 records of PA`."""
        if len(self.records) == 1:
            return self.records[0].address
        return f"{len(self.records)} records of {self.provider.upper()}"


def group_by_reason(records: Sequence[ReportedRecord]) -> list[ReasonGroup]:
    """Group the records without a verdict by outcome, provider and reason code."""
    groups: dict[tuple[int, str, str], list[ReportedRecord]] = defaultdict(list)
    for record in records:
        if record.outcome in ORDER:
            groups[ORDER.index(record.outcome), record.provider, record.reason_code or "no-reason"].append(record)
    return [
        ReasonGroup(
            ORDER[position],
            provider,
            code,
            _shared_detail(members),
            tuple(sorted(members, key=lambda record: record.address)),
        )
        for (position, provider, code), members in sorted(groups.items(), key=lambda item: item[0])
    ]


def _shared_detail(records: Sequence[ReportedRecord]) -> str:
    details = {record.reason_detail for record in records}
    return details.pop() if len(details) == 1 else ""
