"""Which steps are asked again: each by itself, also the one whose endpoint the recipe does not name."""

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

FINE = Verdict(Outcome.CONFORMS, None)
GONE = Verdict(
    Outcome.DRIFTED,
    None,
    (Finding("status-differs", Aspect.STATUS, Severity.MUST, "status", "answer", documented=404, observed=410),),
)
STOPPED = Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.READ_TIMEOUT, "no answer"))
UNNAMED, NAMED = ("answer", ""), ("answer", "pa/endpoints/messages/create_message")


def test_a_drift_where_the_recipe_names_no_endpoint_is_looked_at_again() -> None:
    """Beside other endpoints that conform: it stands only if a second look agrees."""
    first = {UNNAMED: GONE, NAMED: FINE}
    assert list_open_steps([first]) == {UNNAMED}
    assert not list_open_steps([first, {UNNAMED: GONE}])
    assert conclude_record([first, {UNNAMED: GONE}]).outcome is Outcome.DRIFTED
    assert conclude_record([first, {UNNAMED: FINE}]).outcome is Outcome.FLAKY


def test_a_label_that_was_never_sent_is_no_step_once_its_endpoints_are_asked() -> None:
    assert list_open_steps([{UNNAMED: STOPPED}]) == {UNNAMED}
    assert conclude_record([{UNNAMED: STOPPED}, {NAMED: FINE}]).outcome is Outcome.CONFORMS
    assert not list_open_steps([{UNNAMED: STOPPED}, {NAMED: FINE}])


def test_that_one_label_has_got_its_endpoints_hides_no_other_label() -> None:
    other = ("stream", "")
    assert list_open_steps([{UNNAMED: STOPPED, other: GONE}, {NAMED: FINE}]) == {other}


def test_what_was_settled_is_not_unsettled_by_what_other_steps_are_asked_again_for() -> None:
    assert conclude_record([{NAMED: GONE}, {NAMED: GONE}, {NAMED: FINE}]).outcome is Outcome.DRIFTED
    assert conclude_record([{NAMED: FINE}, {NAMED: STOPPED}]).outcome is Outcome.CONFORMS


def test_a_drift_after_a_step_conformed_counts_all_the_same() -> None:
    flaky = conclude_record([{NAMED: FINE}, {NAMED: GONE}])
    assert flaky.outcome is Outcome.FLAKY
    assert flaky.reason is not None
    assert flaky.reason.detail == "conforms, then drifted (status-differs)"


def test_of_more_attempts_than_are_made_the_first_decide() -> None:
    different = [replace(GONE, findings=(replace(GONE.findings[0], observed=status),)) for status in (410, 411, 412)]
    assert len(different) == MAX_ATTEMPTS
    final = conclude_record([{NAMED: each} for each in (*different, different[0])])
    assert final.outcome is Outcome.DRIFTED
    assert [finding.observed for finding in final.findings] == [412]


def test_only_what_may_have_passed_by_then_is_asked_again_later() -> None:
    assert has_transient_step([{NAMED: STOPPED}])
    assert has_transient_step([{NAMED: GONE, UNNAMED: FINE}, {NAMED: STOPPED}])
    assert not has_transient_step([{NAMED: GONE}])
    assert not has_transient_step([{NAMED: STOPPED}, {NAMED: FINE}])
    assert not has_transient_step([{NAMED: STOPPED}, {NAMED: STOPPED}])


STEP = Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.STEP_UNSEEN, "after what was never done"))
REFUSED = Verdict(Outcome.RESTRICTED, Reason(ReasonCode.PROBE_REFUSED, "403"))
LATER = ("gone", "")


def test_what_waits_for_a_step_is_asked_again_with_what_is_open_and_never_for_itself() -> None:
    assert list_open_steps([{NAMED: STOPPED, LATER: STEP}]) == {NAMED, LATER}
    assert list_open_steps([{NAMED: FINE, LATER: STEP}]) == frozenset()
    assert list_open_steps([{NAMED: STOPPED, LATER: REFUSED}]) == {NAMED}
    assert list_open_steps([{NAMED: STOPPED, LATER: replace(STEP, reason=None)}]) == {NAMED}
    often: list[dict[tuple[str, str], Verdict]] = [{LATER: STEP}] * (MAX_ATTEMPTS - 1)
    assert list_open_steps([*often, {NAMED: STOPPED}]) == {NAMED, LATER}
    assert list_open_steps([*often, {LATER: STEP, NAMED: STOPPED}]) == {NAMED}


def test_a_step_that_was_seen_in_the_end_shows_what_waited_for_it() -> None:
    assert conclude_record([{NAMED: STOPPED, LATER: STEP}, {NAMED: FINE, LATER: FINE}]).outcome is Outcome.CONFORMS
    assert conclude_record([{NAMED: STOPPED, LATER: REFUSED}, {NAMED: FINE, LATER: FINE}]).outcome is Outcome.RESTRICTED


def test_how_attempts_differ_is_told_by_what_drifts_alone() -> None:
    noted = replace(GONE.findings[0], code="field-undocumented", severity=Severity.INFO)
    seen = replace(GONE, findings=(*GONE.findings, noted))
    told = conclude_record([{NAMED: seen}, {NAMED: STOPPED}, {NAMED: STOPPED}])
    assert (told.outcome, told.reason) == (
        Outcome.INCONCLUSIVE,
        Reason(
            ReasonCode.ATTEMPTS_DISAGREE,
            "drifted (status-differs), then inconclusive (read-timeout), then inconclusive (read-timeout)",
        ),
    )
