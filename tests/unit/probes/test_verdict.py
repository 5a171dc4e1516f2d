"""Drift keys that two attempts must share, and trimming of verdicts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.retention import VALUE_CHARACTERS
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.codes import FindingCode, ReasonCode
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.probes.judging.verdicts.not_observed import not_observed_finding
from catalog_probe.probes.judging.verdicts.verdict import Verdict

if TYPE_CHECKING:
    import pytest

DRIFT = Finding(FindingCode.STATUS_DIFFERS, Aspect.STATUS, Severity.MUST, "", "answer", observed=418)
NOTE = Finding(FindingCode.UNDOCUMENTED_HEADER, Aspect.HEADER, Severity.INFO, "", "answer", "x-new", observed="1")


def make_drift(*findings: Finding) -> Verdict:
    return Verdict(Outcome.DRIFTED, findings=findings)


def test_drift_keys_ignore_notes_and_assumptions() -> None:
    resolving = replace(NOTE, severity=Severity.SHOULD)
    assert make_drift(DRIFT, NOTE, resolving).drift_keys == make_drift(DRIFT).drift_keys
    assert make_drift(NOTE).drift_keys == frozenset()


def test_drift_keys_depend_on_values_and_endpoints(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Finding, ...]] = [
        (),
        (replace(DRIFT, observed=500),),
        (replace(DRIFT, endpoints=("a", "c")),),
        (DRIFT, DRIFT),
    ]
    for findings in cases:
        with subtests.test(findings=findings):
            assert make_drift(*findings).drift_keys != make_drift(replace(DRIFT, endpoints=("a", "b"))).drift_keys


def test_trimmed_verdict_keeps_short_values() -> None:
    long = "x" * (2 * VALUE_CHARACTERS)
    observation = Observation("", "answer", mismatched={"message": long})
    step = Verdict(Outcome.DRIFTED, findings=(replace(DRIFT, observed=long),), observations=(observation,))
    whole = replace(step, step_verdicts={("answer", ""): step}, reason=Reason(ReasonCode.ATTEMPTS_DISAGREE))
    kept = whole.trim()
    assert (kept.outcome, kept.reason) == (whole.outcome, whole.reason)
    for verdict in (kept, kept.step_verdicts["answer", ""]):
        assert len(str(verdict.findings[0].observed)) <= VALUE_CHARACTERS
        assert len(verdict.observations[0].mismatched["message"]) <= VALUE_CHARACTERS


def test_not_observed_finding_names_label_and_endpoints(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, tuple[str, ...], str]] = [
        ("answer", (), "answer: budget: spent"),
        ("answer", ("a",), "answer on a: budget: spent"),
        ("answer", ("a", "b"), "answer on 2 endpoints: budget: spent"),
        ("", ("a",), "a: budget: spent"),
        ("", ("a", "b"), "2 endpoints: budget: spent"),
    ]
    for label, endpoints, message in cases:
        with subtests.test(label=label):
            finding = not_observed_finding(label, Reason("budget", "spent"), *endpoints)
            assert (finding.message, finding.location, finding.endpoints, finding.severity) == (
                message,
                label,
                endpoints,
                Severity.INFO,
            )
