"""Which steps get another attempt, and how the attempts of a record are concluded."""

from __future__ import annotations

from dataclasses import replace

from catalog_probe.catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.judging.verdicts.attempts import (
    MAX_ATTEMPTS,
    conclude_record,
    has_transient_step,
    list_open_steps,
)
from catalog_probe.probes.judging.verdicts.verdict import Verdict

CONFORMS = Verdict(Outcome.CONFORMS, None)
DRIFTED = Verdict(
    Outcome.DRIFTED,
    None,
    (Finding("status-differs", Aspect.STATUS, Severity.MUST, "status", "answer", documented=404, observed=410),),
)
STOPPED = Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.READ_TIMEOUT, "no answer"))
UNNAMED, NAMED = ("answer", ""), ("answer", "pa/endpoints/messages/create_message")


def test_drift_without_endpoint_is_asked_again() -> None:
    """The drift stands only if a second attempt agrees, whatever other endpoints show."""
    first = {UNNAMED: DRIFTED, NAMED: CONFORMS}
    assert list_open_steps([first]) == {UNNAMED}
    assert not list_open_steps([first, {UNNAMED: DRIFTED}])
    assert conclude_record([first, {UNNAMED: DRIFTED}]).outcome is Outcome.DRIFTED
    assert conclude_record([first, {UNNAMED: CONFORMS}]).outcome is Outcome.FLAKY


def test_unnamed_step_is_dropped_once_its_endpoints_are_asked() -> None:
    assert list_open_steps([{UNNAMED: STOPPED}]) == {UNNAMED}
    assert conclude_record([{UNNAMED: STOPPED}, {NAMED: CONFORMS}]).outcome is Outcome.CONFORMS
    assert not list_open_steps([{UNNAMED: STOPPED}, {NAMED: CONFORMS}])


def test_other_unnamed_labels_stay_open() -> None:
    other = ("stream", "")
    assert list_open_steps([{UNNAMED: STOPPED, other: DRIFTED}, {NAMED: CONFORMS}]) == {other}


def test_concluded_step_is_kept_in_later_attempts() -> None:
    assert conclude_record([{NAMED: DRIFTED}, {NAMED: DRIFTED}, {NAMED: CONFORMS}]).outcome is Outcome.DRIFTED
    assert conclude_record([{NAMED: CONFORMS}, {NAMED: STOPPED}]).outcome is Outcome.CONFORMS


def test_drift_after_a_conforming_attempt_is_flaky() -> None:
    flaky = conclude_record([{NAMED: CONFORMS}, {NAMED: DRIFTED}])
    assert flaky.outcome is Outcome.FLAKY
    assert flaky.reason is not None
    assert flaky.reason.detail == "conforms, then drifted (status-differs)"


LIMITED = replace(DRIFTED, outcome=Outcome.INCONCLUSIVE, reason=Reason(ReasonCode.UNASKED_RATE_LIMIT, "429"))


def test_limit_too_early_is_drift_only_if_three_attempts_show_it() -> None:
    assert conclude_record([{NAMED: LIMITED}, {NAMED: CONFORMS}]).outcome is Outcome.CONFORMS
    assert conclude_record([{NAMED: LIMITED}] * 2).outcome is Outcome.INCONCLUSIVE
    assert conclude_record([{NAMED: LIMITED}] * 3).outcome is Outcome.DRIFTED


def test_fault_that_came_and_went_in_one_step_is_no_drift_in_another() -> None:
    other = ("limited", NAMED[1])
    attempts = [{NAMED: LIMITED, other: LIMITED}, {NAMED: CONFORMS, other: LIMITED}, {other: LIMITED}]
    assert conclude_record(attempts).outcome is Outcome.INCONCLUSIVE


def test_attempts_beyond_the_maximum_are_ignored() -> None:
    different = [
        replace(DRIFTED, findings=(replace(DRIFTED.findings[0], observed=status),)) for status in (410, 411, 412)
    ]
    assert len(different) == MAX_ATTEMPTS
    final = conclude_record([{NAMED: verdict} for verdict in (*different, different[0])])
    assert final.outcome is Outcome.DRIFTED
    assert [finding.observed for finding in final.findings] == [412]


def test_transient_steps() -> None:
    assert has_transient_step([{NAMED: STOPPED}])
    assert has_transient_step([{NAMED: DRIFTED, UNNAMED: CONFORMS}, {NAMED: STOPPED}])
    assert not has_transient_step([{NAMED: DRIFTED}])
    assert not has_transient_step([{NAMED: STOPPED}, {NAMED: CONFORMS}])
    assert not has_transient_step([{NAMED: STOPPED}, {NAMED: STOPPED}])


STEP = Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.STEP_UNSEEN, "after what was never done"))
REFUSED = Verdict(Outcome.RESTRICTED, Reason(ReasonCode.PROBE_REFUSED, "403"))
LATER = ("gone", "")


def test_dependent_step_is_asked_again_with_open_steps_only() -> None:
    assert list_open_steps([{NAMED: STOPPED, LATER: STEP}]) == {NAMED, LATER}
    assert list_open_steps([{NAMED: CONFORMS, LATER: STEP}]) == frozenset()
    assert list_open_steps([{NAMED: STOPPED, LATER: REFUSED}]) == {NAMED}
    assert list_open_steps([{NAMED: STOPPED, LATER: replace(STEP, reason=None)}]) == {NAMED}
    earlier_attempts: list[dict[tuple[str, str], Verdict]] = [{LATER: STEP}] * (MAX_ATTEMPTS - 1)
    assert list_open_steps([*earlier_attempts, {NAMED: STOPPED}]) == {NAMED, LATER}
    assert list_open_steps([*earlier_attempts, {LATER: STEP, NAMED: STOPPED}]) == {NAMED}


def test_dependent_step_is_concluded_after_its_step() -> None:
    assert (
        conclude_record([{NAMED: STOPPED, LATER: STEP}, {NAMED: CONFORMS, LATER: CONFORMS}]).outcome is Outcome.CONFORMS
    )
    assert (
        conclude_record([{NAMED: STOPPED, LATER: REFUSED}, {NAMED: CONFORMS, LATER: CONFORMS}]).outcome
        is Outcome.RESTRICTED
    )


def test_disagreement_names_only_drifts() -> None:
    note = replace(DRIFTED.findings[0], code="field-undocumented", severity=Severity.INFO)
    with_note = replace(DRIFTED, findings=(*DRIFTED.findings, note))
    verdict = conclude_record([{NAMED: with_note}, {NAMED: STOPPED}, {NAMED: STOPPED}])
    assert (verdict.outcome, verdict.reason) == (
        Outcome.INCONCLUSIVE,
        Reason(
            ReasonCode.ATTEMPTS_DISAGREE,
            "drifted (status-differs), then inconclusive (read-timeout), then inconclusive (read-timeout)",
        ),
    )
