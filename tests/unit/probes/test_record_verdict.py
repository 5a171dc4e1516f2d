"""From the verdicts on steps to the verdict on the record, and what of a verdict is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.retention import VALUE_CHARACTERS
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.probes.judging.verdict import Verdict, judge_record, not_observed_finding, retract

if TYPE_CHECKING:
    import pytest


HERE, THERE = "pa/endpoints/models/list_models", "pa/endpoints/files/list_files"
DRIFT = Finding("status-differs", Aspect.STATUS, Severity.MUST, "status", "answer", observed=410)
NOTE = Finding("matches-another-record", Aspect.STATE, Severity.INFO, "told", "answer")
CONFORMS = Verdict(Outcome.CONFORMS)
DRIFTED = Verdict(Outcome.DRIFTED, None, (DRIFT,), (Observation(HERE, "answer", mismatched={"status": "410"}),))
SERVER_FAULT = Verdict(
    Outcome.INCONCLUSIVE,
    Reason(ReasonCode.SERVER_FAULT, "500"),
    (DRIFT, NOTE),
    (Observation(THERE, "answer", ("type",), {"status": "500"}, {"message": "no-body"}),),
)
FLAKY = Verdict(Outcome.FLAKY, Reason(ReasonCode.ATTEMPTS_DIFFER))
REFUSED = Verdict(Outcome.RESTRICTED, Reason(ReasonCode.PROBE_REFUSED))
ANOTHER_REVISION = Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.ANOTHER_REVISION, "is of another revision"))
BROKEN = Verdict(Outcome.HARNESS_ERROR, Reason(ReasonCode.RECIPE_INCOMPLETE))


def list_not_observed(verdict: Verdict) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (finding.label, finding.endpoints) for finding in verdict.findings if finding.code == FindingCode.NOT_OBSERVED
    ]


def test_gravest_outcome_of_the_labels_counts(subtests: pytest.Subtests) -> None:
    cases: list[tuple[tuple[Verdict, ...], Outcome]] = [
        ((CONFORMS, CONFORMS), Outcome.CONFORMS),
        ((CONFORMS, SERVER_FAULT), Outcome.INCONCLUSIVE),
        ((SERVER_FAULT, REFUSED), Outcome.INCONCLUSIVE),
        ((CONFORMS, REFUSED), Outcome.RESTRICTED),
        ((SERVER_FAULT, FLAKY), Outcome.FLAKY),
        ((FLAKY, DRIFTED), Outcome.DRIFTED),
        ((DRIFTED, BROKEN), Outcome.HARNESS_ERROR),
    ]
    for step_verdicts, outcome in cases:
        with subtests.test(step_verdicts=step_verdicts):
            labelled = {(f"label_{number}", HERE): verdict for number, verdict in enumerate(step_verdicts)}
            together = judge_record(labelled)
            assert together.outcome is outcome
            assert together.reason in [verdict.reason for verdict in step_verdicts if verdict.outcome is outcome]
            assert together.step_verdicts == labelled


def test_label_conforms_if_one_endpoint_does_and_none_is_flaky() -> None:
    assert judge_record({("answer", HERE): CONFORMS, ("answer", THERE): SERVER_FAULT}).outcome is Outcome.CONFORMS
    assert judge_record({("answer", HERE): CONFORMS, ("answer", THERE): FLAKY}).outcome is Outcome.FLAKY


def test_another_revision_counts_only_if_nothing_else_was_observed() -> None:
    with_other_label = judge_record({("answer", HERE): CONFORMS, ("old", HERE): ANOTHER_REVISION})
    assert with_other_label.outcome is Outcome.CONFORMS
    assert list_not_observed(with_other_label) == [("old", (HERE,))]
    alone = judge_record({("old", HERE): ANOTHER_REVISION})
    assert (alone.outcome, alone.reason) == (Outcome.INCONCLUSIVE, ANOTHER_REVISION.reason)
    assert list_not_observed(alone) == []
    lost_too = judge_record(
        {("answer", HERE): CONFORMS, ("old", HERE): ANOTHER_REVISION, ("stream", HERE): SERVER_FAULT}
    )
    assert lost_too.reason == SERVER_FAULT.reason


def test_unconfirmed_drift_beside_a_drift_is_not_observed() -> None:
    together = judge_record({("answer", HERE): DRIFTED, ("answer", THERE): SERVER_FAULT})
    assert [finding.endpoints for finding in together.findings if finding.is_drift] == [(HERE,)]
    assert replace(NOTE, endpoints=(THERE,)) in together.findings
    assert list_not_observed(together) == [("answer", (THERE,))]
    assert [observation.endpoint for observation in together.observations] == [HERE, THERE]
    assert together.observations[1].not_observed == {
        "type": "server-fault",
        "status": "server-fault",
        "message": "no-body",
    }
    assert (together.observations[1].matched, together.observations[1].mismatched) == ((), {})


def test_inconclusive_step_keeps_its_findings() -> None:
    together = judge_record({("answer", THERE): SERVER_FAULT})
    assert together.findings == (replace(DRIFT, endpoints=(THERE,)), replace(NOTE, endpoints=(THERE,)))
    assert together.observations == SERVER_FAULT.observations


def test_only_steps_of_a_label_observed_elsewhere_are_noted() -> None:
    """A step asked nowhere else decides the verdict, so it needs no note."""
    together = judge_record({("answer", HERE): DRIFTED, ("stream", THERE): SERVER_FAULT})
    assert list_not_observed(together) == []
    assert list_not_observed(judge_record({("answer", HERE): DRIFTED, ("answer", ""): SERVER_FAULT})) == [
        ("answer", ())
    ]


def test_finding_has_the_endpoint_of_its_observation_or_step() -> None:
    named_by_its_observation = judge_record({("answer", ""): DRIFTED})
    assert named_by_its_observation.findings[0].endpoints == (HERE,)
    assert judge_record({("answer", THERE): replace(DRIFTED, observations=())}).findings[0].endpoints == (THERE,)


def test_retracted_verdict_keeps_only_notes() -> None:
    should = replace(DRIFT, severity=Severity.SHOULD)
    reason = Reason(ReasonCode.CONTROL_FAILED, "401")
    retracted = retract(replace(DRIFTED, findings=(DRIFT, should, NOTE)), reason)
    assert (retracted.outcome, retracted.reason, retracted.findings) == (Outcome.INCONCLUSIVE, reason, (NOTE,))
    assert retracted.observations == (Observation(HERE, "answer", not_observed={"status": "control-failed"}),)


TEAPOT = Finding(FindingCode.STATUS_DIFFERS, Aspect.STATUS, Severity.MUST, "", "answer", observed=418)
NEW_HEADER = Finding(FindingCode.UNDOCUMENTED_HEADER, Aspect.HEADER, Severity.INFO, "", "answer", "x-new", observed="1")


def make_drift(*findings: Finding) -> Verdict:
    return Verdict(Outcome.DRIFTED, findings=findings)


def test_drift_keys_ignore_notes_and_assumptions() -> None:
    resolving = replace(NEW_HEADER, severity=Severity.SHOULD)
    assert make_drift(TEAPOT, NEW_HEADER, resolving).drift_keys == make_drift(TEAPOT).drift_keys
    assert make_drift(NEW_HEADER).drift_keys == frozenset()


def test_drift_keys_depend_on_values_and_endpoints(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Finding, ...]] = [
        (),
        (replace(TEAPOT, observed=500),),
        (replace(TEAPOT, endpoints=("a", "c")),),
        (TEAPOT, TEAPOT),
    ]
    for findings in cases:
        with subtests.test(findings=findings):
            assert make_drift(*findings).drift_keys != make_drift(replace(TEAPOT, endpoints=("a", "b"))).drift_keys


def test_trimmed_verdict_keeps_short_values() -> None:
    long = "x" * (2 * VALUE_CHARACTERS)
    observation = Observation("", "answer", mismatched={"message": long})
    step = Verdict(Outcome.DRIFTED, findings=(replace(TEAPOT, observed=long),), observations=(observation,))
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
