"""What two attempts must share to agree on a drift, and what of a verdict outlives the answers that it is about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalog_probe.catalog.evidence.retention import VALUE_CHARACTERS
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.codes import FindingCode, ReasonCode
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.probes.judging.verdicts.not_observed import not_observed_finding
from catalog_probe.probes.judging.verdicts.verdict import Verdict

DRIFT = Finding(FindingCode.STATUS_DIFFERS, Aspect.STATUS, Severity.MUST, "", "answer", observed=418)
TOLD = Finding(FindingCode.UNDOCUMENTED_HEADER, Aspect.HEADER, Severity.INFO, "", "answer", "x-new", observed="1")


def differing(*findings: Finding) -> Verdict:
    return Verdict(Outcome.DRIFTED, findings=findings)


def test_what_is_only_told_makes_no_other_drift() -> None:
    settled = replace(TOLD, severity=Severity.SHOULD)
    assert differing(DRIFT, TOLD, settled).drift_keys == differing(DRIFT).drift_keys
    assert differing(TOLD).drift_keys == frozenset()


@pytest.mark.parametrize(
    "other", [(), (replace(DRIFT, observed=500),), (replace(DRIFT, endpoints=("a", "c")),), (DRIFT, DRIFT)]
)
def test_another_difference_or_one_on_other_endpoints_is_another(other: tuple[Finding, ...]) -> None:
    assert differing(*other).drift_keys != differing(replace(DRIFT, endpoints=("a", "b"))).drift_keys


def test_no_more_is_kept_of_what_was_seen_than_a_person_reads() -> None:
    long = "x" * (2 * VALUE_CHARACTERS)
    observation = Observation("", "answer", mismatched={"message": long})
    step = Verdict(Outcome.DRIFTED, findings=(replace(DRIFT, observed=long),), observations=(observation,))
    whole = replace(step, step_verdicts={("answer", ""): step}, reason=Reason(ReasonCode.ATTEMPTS_DISAGREE))
    kept = whole.trim()
    assert (kept.outcome, kept.reason) == (whole.outcome, whole.reason)
    for each in (kept, kept.step_verdicts["answer", ""]):
        assert len(str(each.findings[0].observed)) <= VALUE_CHARACTERS
        assert len(each.observations[0].mismatched["message"]) <= VALUE_CHARACTERS


@pytest.mark.parametrize(
    ("label", "endpoints", "told"),
    [
        ("answer", (), "answer: budget: spent"),
        ("answer", ("a",), "answer on a: budget: spent"),
        ("answer", ("a", "b"), "answer on 2 endpoints: budget: spent"),
        ("", ("a",), "a: budget: spent"),
        ("", ("a", "b"), "2 endpoints: budget: spent"),
    ],
)
def test_what_was_not_looked_at_is_named(label: str, endpoints: tuple[str, ...], told: str) -> None:
    found = not_observed_finding(label, Reason("budget", "spent"), *endpoints)
    assert (found.message, found.location, found.endpoints, found.severity) == (told, label, endpoints, Severity.INFO)
