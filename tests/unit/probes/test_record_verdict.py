"""What the verdicts on the steps of a record make of it: the gravest first, and nothing that no attempt confirmed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalog_probe.catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.codes import FindingCode, ReasonCode
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.probes.judging.verdicts.record_verdict import judge_record, retract
from catalog_probe.probes.judging.verdicts.verdict import Verdict

HERE, THERE = "pa/endpoints/models/list_models", "pa/endpoints/files/list_files"
DRIFT = Finding("status-differs", Aspect.STATUS, Severity.MUST, "status", "answer", observed=410)
TOLD = Finding("matches-another-record", Aspect.STATE, Severity.INFO, "told", "answer")
FINE = Verdict(Outcome.CONFORMS)
DRIFTED = Verdict(Outcome.DRIFTED, None, (DRIFT,), (Observation(HERE, "answer", mismatched={"status": "410"}),))
LOST = Verdict(
    Outcome.INCONCLUSIVE,
    Reason(ReasonCode.SERVER_FAULT, "500"),
    (DRIFT, TOLD),
    (Observation(THERE, "answer", ("type",), {"status": "500"}, {"message": "no-body"}),),
)
FLAKY = Verdict(Outcome.FLAKY, Reason(ReasonCode.ATTEMPTS_DIFFER))
REFUSED = Verdict(Outcome.RESTRICTED, Reason(ReasonCode.PROBE_REFUSED))
OF_ANOTHER = Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.ANOTHER_REVISION, "is of another revision"))
BROKEN = Verdict(Outcome.HARNESS_ERROR, Reason(ReasonCode.RECIPE_INCOMPLETE))


def not_observed_finding(verdict: Verdict) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.label, each.endpoints) for each in verdict.findings if each.code == FindingCode.NOT_OBSERVED]


@pytest.mark.parametrize(
    ("step_verdicts", "outcome"),
    [
        ((FINE, FINE), Outcome.CONFORMS),
        ((FINE, LOST), Outcome.INCONCLUSIVE),
        ((LOST, REFUSED), Outcome.INCONCLUSIVE),
        ((FINE, REFUSED), Outcome.RESTRICTED),
        ((LOST, FLAKY), Outcome.FLAKY),
        ((FLAKY, DRIFTED), Outcome.DRIFTED),
        ((DRIFTED, BROKEN), Outcome.HARNESS_ERROR),
    ],
)
def test_of_different_labels_the_gravest_counts(step_verdicts: tuple[Verdict, ...], outcome: Outcome) -> None:
    labelled = {(f"label_{number}", HERE): each for number, each in enumerate(step_verdicts)}
    together = judge_record(labelled)
    assert together.outcome is outcome
    assert together.reason in [each.reason for each in step_verdicts if each.outcome is outcome]
    assert together.step_verdicts == labelled


def test_a_label_that_conforms_somewhere_was_looked_at_unless_attempts_differ_elsewhere() -> None:
    assert judge_record({("answer", HERE): FINE, ("answer", THERE): LOST}).outcome is Outcome.CONFORMS
    assert judge_record({("answer", HERE): FINE, ("answer", THERE): FLAKY}).outcome is Outcome.FLAKY


def test_what_is_stated_of_another_revision_is_missed_only_where_nothing_else_was_seen() -> None:
    beside = judge_record({("answer", HERE): FINE, ("old", HERE): OF_ANOTHER})
    assert beside.outcome is Outcome.CONFORMS
    assert not_observed_finding(beside) == [("old", (HERE,))]
    alone = judge_record({("old", HERE): OF_ANOTHER})
    assert (alone.outcome, alone.reason) == (Outcome.INCONCLUSIVE, OF_ANOTHER.reason)
    assert not_observed_finding(alone) == []
    lost_too = judge_record({("answer", HERE): FINE, ("old", HERE): OF_ANOTHER, ("stream", HERE): LOST})
    assert lost_too.reason == LOST.reason


def test_beside_a_drift_no_other_step_drifts_unconfirmed() -> None:
    together = judge_record({("answer", HERE): DRIFTED, ("answer", THERE): LOST})
    assert [each.endpoints for each in together.findings if each.is_drift] == [(HERE,)]
    assert replace(TOLD, endpoints=(THERE,)) in together.findings
    assert not_observed_finding(together) == [("answer", (THERE,))]
    assert [observation.endpoint for observation in together.observations] == [HERE, THERE]
    assert together.observations[1].not_observed == {
        "type": "server-fault",
        "status": "server-fault",
        "message": "no-body",
    }
    assert (together.observations[1].matched, together.observations[1].mismatched) == ((), {})


def test_where_no_step_has_a_verdict_each_says_what_it_may_be() -> None:
    together = judge_record({("answer", THERE): LOST})
    assert together.findings == (replace(DRIFT, endpoints=(THERE,)), replace(TOLD, endpoints=(THERE,)))
    assert together.observations == LOST.observations


def test_only_steps_of_a_label_that_was_seen_elsewhere_are_told() -> None:
    """What was asked nowhere else is the record's own verdict, and no note beside it."""
    together = judge_record({("answer", HERE): DRIFTED, ("stream", THERE): LOST})
    assert not_observed_finding(together) == []
    assert not_observed_finding(judge_record({("answer", HERE): DRIFTED, ("answer", ""): LOST})) == [("answer", ())]


def test_what_was_found_is_on_the_endpoint_of_its_observation_or_else_of_its_step() -> None:
    named_by_its_observation = judge_record({("answer", ""): DRIFTED})
    assert named_by_its_observation.findings[0].endpoints == (HERE,)
    assert judge_record({("answer", THERE): replace(DRIFTED, observations=())}).findings[0].endpoints == (THERE,)


def test_a_verdict_that_was_not_seen_after_all_keeps_what_is_only_told() -> None:
    should = replace(DRIFT, severity=Severity.SHOULD)
    reason = Reason(ReasonCode.CONTROL_FAILED, "401")
    taken_back = retract(replace(DRIFTED, findings=(DRIFT, should, TOLD)), reason)
    assert (taken_back.outcome, taken_back.reason, taken_back.findings) == (Outcome.INCONCLUSIVE, reason, (TOLD,))
    assert taken_back.observations == (Observation(HERE, "answer", not_observed={"status": "control-failed"}),)
