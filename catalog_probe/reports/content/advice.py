"""What to do next, most urgent first: the next steps of catalog.codes, gathered over the records they serve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.evidence.verdicts.changes import Change
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.model.explanations import ALL
from catalog_probe.reports.content.sections import Name, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.reports.content.standing import Standing


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, and the records it would settle."""

    code: str
    next_step: str
    addresses: tuple[str, ...]


def steps(standings: Sequence[Standing]) -> list[Step]:
    """The next steps of a run, in the order in which its sections are read; one that serves several is said once."""
    gathered: dict[str, list[Standing]] = {}
    for each in sorted(standings, key=lambda each: _READ.index(name_of(each))):
        if each.change in (Change.NONE, Change.FIXED, Change.ACCEPTED):
            continue
        for code in codes(each.result)[:1]:
            gathered.setdefault(code, []).append(each)
    return [Step(code, next_step(code), tuple(each.address for each in members)) for code, members in gathered.items()]


_READ = list(Name)


def codes(result: Result) -> list[str]:
    """The codes that explain a result, the most telling first."""
    return list(dict.fromkeys(_codes(result)))


def means(code: str) -> str:
    return ALL[code].means if code in ALL else "This code is not in catalog_probe/catalog/model/codes.py."


def next_step(code: str) -> str:
    return ALL[code].next_step if code in ALL else "Report it: every code should be explained."


def reason(result: Result) -> str:
    """Why there is no verdict, in one line."""
    if result.reason is None:
        return ""
    return f"{result.reason.code}: {result.reason.detail}" if result.reason.detail else result.reason.code


def _codes(result: Result) -> Iterator[str]:
    if run_verdict.is_stale(result):
        yield FindingCode.STALE_DIVERGENCE
    if result.outcome is not Outcome.DRIFTED and result.reason is not None:
        yield result.reason.code
    yield from (finding.code for finding in result.findings if finding.is_drift)
    yield from (finding.code for finding in result.findings if finding.code == FindingCode.MATCHES_ANOTHER_RECORD)
