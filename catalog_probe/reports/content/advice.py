"""What to do next: the next steps of the codes, most urgent first, each once for all its records."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.changes import Change
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.explanations import ALL
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.reports.content.sections import SectionName, classify_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.reports.content.reported_records import ReportedRecord

_READING_ORDER = list(SectionName)


@dataclass(frozen=True, slots=True)
class NextStep:
    """One thing to do, and the records that it would settle."""

    code: str
    text: str
    addresses: tuple[str, ...]


def list_next_steps(records: Sequence[ReportedRecord]) -> list[NextStep]:
    """Return the next steps of a run, in the order in which its sections are read."""
    addresses_by_code: dict[str, list[str]] = defaultdict(list)
    for record in sorted(records, key=lambda record: _READING_ORDER.index(classify_record(record))):
        codes = list_codes(record.result)
        if codes and record.change not in (Change.NONE, Change.FIXED, Change.ACCEPTED):
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
