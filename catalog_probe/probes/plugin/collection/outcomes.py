"""Translates a result for pytest: passed, failed, skipped or an expected failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence import earlier_runs, run_verdict
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.explanations import REASONS
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.text.readable_text import sanitize_line, sanitize_row

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result


def settle(result: Result) -> None:
    """End the test of a record by its outcome. Only what makes the run exit 1 fails."""
    if run_verdict.is_failure(result):
        pytest.fail(describe_failure(result), pytrace=False)
    if earlier_runs.is_pending(result):
        message = result.drifts[0].message
        pytest.xfail(sanitize_line(f"never confirmed; pending until {earlier_runs.pending_until(result)}: {message}"))
    if run_verdict.is_accepted(result):
        reason = sanitize_line(run_verdict.acceptance_field(result, "reason"))
        pytest.xfail(reason or "accepted in catalog/divergences.json")
    if result.outcome is not Outcome.CONFORMS:
        pytest.skip(describe_reason(result))


def describe_failure(result: Result) -> str:
    """Describe a failure in lines; pytest's list shows only the first."""
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


def describe_reason(result: Result) -> str:
    """Say why there is no verdict, and what to do about it."""
    if result.reason is None:
        return str(result.outcome)
    explanation = REASONS.get(result.reason.code)
    advice = f" ({explanation.next_step})" if explanation else ""
    return sanitize_line(f"{result.outcome}: {result.reason.code}: {result.reason.detail}{advice}")
