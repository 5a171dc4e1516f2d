"""What a result means to pytest: passed, failed, skipped, an expected failure, or an error of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.verdicts import confirmation, run_verdict
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.model.explanations import REASONS
from catalog_probe.catalog.text.sanitizing import sanitize_line, sanitize_row

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result


def settle(result: Result) -> None:
    """End the test as the outcome table of DESIGN.md says; what makes the run exit 1 fails, nothing else does."""
    if run_verdict.is_failure(result):
        pytest.fail(told(result), pytrace=False)
    if confirmation.is_pending(result):
        waiting = f"never confirmed; pending until {confirmation.pending_until(result)}: {result.drifts[0].message}"
        pytest.xfail(sanitize_line(waiting))
    if run_verdict.is_accepted(result):
        pytest.xfail(
            sanitize_line(run_verdict.acceptance_field(result, "reason")) or "accepted in catalog/divergences.json"
        )
    if result.outcome is not Outcome.CONFORMS:
        pytest.skip(reason_of(result))


def told(result: Result) -> str:
    """A failure in the terminal: what is wrong first, for pytest's list has room for one line; then how to see more."""
    lines = [
        f"{finding.label}: {finding.message}  [{finding.code}]"
        for finding in result.findings
        if finding.is_drift or finding.code == FindingCode.MATCHES_ANOTHER_RECORD
    ]
    if run_verdict.is_stale(result):
        lines.insert(0, f"stale accepted difference: {run_verdict.acceptance_field(result, 'detail')}")
    elif result.accepted_difference:
        lines.append(f"  accepted difference: {run_verdict.acceptance_field(result, 'detail')}")
    if result.outcome is Outcome.FLAKY and result.reason:
        lines.insert(0, f"{result.outcome}: {result.reason.detail}")
    sources = ", ".join(result.parsed_record.sources)
    lines.append(f"  documented in {sources}; `catalog-probe catalog show {result.record}`")
    return "\n".join(map(sanitize_row, lines))


def reason_of(result: Result) -> str:
    """Why there is no verdict, with what to do about it."""
    if result.reason is None:
        return str(result.outcome)
    code = REASONS.get(result.reason.code)
    step = f" ({code.next_step})" if code else ""
    return sanitize_line(f"{result.outcome}: {result.reason.code}: {result.reason.detail}{step}")
