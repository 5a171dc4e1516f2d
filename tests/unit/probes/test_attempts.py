"""From attempts to an outcome, and from outcomes to an exit status."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.model.errors import Exit, select_exit
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.judging import attempts
from catalog_probe.probes.judging.attempts import (
    MAX_ATTEMPTS,
    conclude_early,
    conclude_record,
    conclude_step,
    is_transient,
    list_open_steps,
    needs_another_attempt,
)
from catalog_probe.probes.judging.verdict import Verdict
from tests.harness.exit_status import LIVE, find_exit_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest


def make_finding(code: str) -> Finding:
    return Finding(code, Aspect.STATUS, Severity.MUST, code, "answer", observed={"any": [code]})


CONFORMS = Verdict(Outcome.CONFORMS)
GONE = Verdict(Outcome.DRIFTED, None, (make_finding("status-differs"),))
OTHER = Verdict(Outcome.DRIFTED, None, (make_finding("type-differs"),))
THIRD = Verdict(Outcome.DRIFTED, None, (make_finding("header-missing"),))
BOTH = Verdict(Outcome.DRIFTED, None, (*GONE.findings, *OTHER.findings))
FAULT = Verdict(Outcome.INCONCLUSIVE, Reason("server-fault"), (make_finding("status-differs"),))
PAGE = Verdict(Outcome.INCONCLUSIVE, Reason("gateway-page"), (make_finding("body-malformed"),))
BUSY = Verdict(Outcome.INCONCLUSIVE, Reason("unasked-overload"))
ASSUMPTION_FAILED = Verdict(Outcome.INCONCLUSIVE, Reason("assumption-failed"))
LANE_STOPPED = Verdict(Outcome.INCONCLUSIVE, Reason("lane-stopped"))
REFUSED = Verdict(Outcome.RESTRICTED, Reason("probe-refused"))
BROKEN = Verdict(Outcome.HARNESS_ERROR, Reason("recipe-error"))
ALL = (CONFORMS, GONE, OTHER, THIRD, BOTH, FAULT, PAGE, BUSY, ASSUMPTION_FAILED, LANE_STOPPED, REFUSED, BROKEN)

WORDS = {
    "match": (CONFORMS,),
    "drift": (GONE, OTHER, THIRD, BOTH),
    "postponed": (FAULT, PAGE),
    "unobservable": (ASSUMPTION_FAILED, REFUSED, BROKEN),
    "any": ALL,
}
REASONS = {"flaky": "attempts-differ", "inconclusive": "attempts-disagree"}
_, _, rows = (attempts.__doc__ or "").partition("again?  outcome\n")
TABLE = [re.split("  +", row) for row in rows.partition("\n```")[0].splitlines()]


def fits(row: str, sequence: Sequence[Verdict]) -> bool:
    """Whether the words of a row, `drift, same drift`, are those of these attempts."""
    if row == "end, after any attempts":
        return sequence[-1] is LANE_STOPPED
    words = row.split(", ")
    if len(words) != len(sequence) or any(
        verdict not in WORDS[word.removeprefix("same ")] for word, verdict in zip(words, sequence, strict=True)
    ):
        return False
    pairs = zip(words[1:], itertools.pairwise(sequence), strict=True)
    return all(before.drift_keys & after.drift_keys for word, (before, after) in pairs if word.startswith("same "))


def test_first_row_of_the_table_that_fits_decides() -> None:
    deciding = set()
    sequences: list[tuple[Verdict, ...]] = [(verdict,) for verdict in ALL]
    for sequence in sequences:
        row, again, outcome = next((*row, "")[:3] for row in TABLE if fits(row[0], sequence))
        deciding.add(row)
        assert needs_another_attempt(sequence) is (again == "yes"), (row, sequence)
        if again == "yes":
            sequences += [(*sequence, verdict) for verdict in ALL]
            continue
        final, last = conclude_step(sequence), sequence[-1]
        reason = final.reason.code if final.reason is not None else None
        if outcome == "last":
            assert (final.outcome, final.reason) == (last.outcome, last.reason), (row, sequence)
        else:
            assert (final.outcome, reason) == (outcome, REASONS.get(outcome)), (row, sequence)
    assert deciding == {row for row, *_ in TABLE}


def test_common_finding_of_two_drifts_is_kept() -> None:
    status, other = (
        replace(verdict.findings[0], assertion=f"answer/{verdict.findings[0].code}") for verdict in (GONE, OTHER)
    )
    observation = Observation("", "answer", mismatched={"status-differs": "410", "type-differs": "teapot"})
    both = Verdict(Outcome.DRIFTED, None, (status, other), (observation,))
    final = conclude_step((replace(GONE, findings=(status,)), both))
    assert final.findings == (status,)
    assert final.observations[0].mismatched == {"status-differs": "410"}
    assert final.observations[0].not_observed == {"type-differs": "attempts-differ"}


def test_last_of_two_different_drifts_is_kept() -> None:
    assert conclude_step((GONE, OTHER, THIRD)) is THIRD


def make_fault(*findings: Finding) -> Verdict:
    return Verdict(Outcome.INCONCLUSIVE, Reason("server-fault"), findings)


STATUS = Finding("status-differs", Aspect.STATUS, Severity.MUST, "", "answer", "", 404, 500)
OTHER_LABEL = replace(STATUS, label="other")


def test_repeated_server_fault_is_drift_only_with_findings(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, tuple[Finding, ...], str]] = [("own", (STATUS,), "drifted"), ("foreign", (), "inconclusive")]
    for case, faults, outcome in cases:
        with subtests.test(case=case):
            assert conclude_step((make_fault(*faults),) * MAX_ATTEMPTS).outcome == outcome


def test_different_server_faults_are_inconclusive() -> None:
    final = conclude_step((make_fault(STATUS), make_fault(OTHER_LABEL), make_fault(STATUS)))
    assert (final.outcome, final.reason and final.reason.code) == (Outcome.INCONCLUSIVE, "server-fault")


def test_every_sequence_of_attempts_is_concluded() -> None:
    for sequence in itertools.product(ALL, repeat=MAX_ATTEMPTS):
        count = next((n for n in range(1, MAX_ATTEMPTS) if not needs_another_attempt(sequence[:n])), MAX_ATTEMPTS)
        assert not needs_another_attempt(sequence[:count])
        final = conclude_step(sequence[:count])
        if final.outcome is Outcome.DRIFTED:
            assert count > 1, "a drift is confirmed"
            assert CONFORMS not in sequence[:count]
        if final.outcome is Outcome.CONFORMS:
            assert sequence[count - 1] is CONFORMS
            assert all(is_transient(verdict) for verdict in sequence[: count - 1]), (
                "what was seen otherwise is no accident"
            )
        if final.outcome is Outcome.FLAKY:
            assert sum(verdict.outcome.is_conclusive for verdict in sequence[:count]) > 1


def make_result(
    outcome: Outcome, number: int = 0, *, provider: str = "pa", reason: str = "", accepted_difference: str = ""
) -> Result:
    return Result(
        f"{provider}/errors/general/r{number}",
        {},
        outcome,
        Reason(reason) if reason else None,
        accepted_difference={"state": accepted_difference} if accepted_difference else None,
    )


CONFORMING = [make_result(Outcome.CONFORMS, number) for number in range(8)]
TIMED_OUT = make_result(Outcome.INCONCLUSIVE, reason="read-timeout")


def test_exit_status_of_results(subtests: pytest.Subtests) -> None:
    cases: list[tuple[list[Result], Exit]] = [
        ([], Exit.BLIND),
        (CONFORMING, Exit.FINE),
        ([*CONFORMING, make_result(Outcome.DRIFTED)], Exit.DRIFT),
        ([*CONFORMING, make_result(Outcome.FLAKY)], Exit.DRIFT),
        ([*CONFORMING, make_result(Outcome.DRIFTED, accepted_difference="accounted")], Exit.FINE),
        ([*CONFORMING, make_result(Outcome.DRIFTED, accepted_difference="new_aspects")], Exit.DRIFT),
        ([*CONFORMING, make_result(Outcome.CONFORMS, accepted_difference="stale")], Exit.DRIFT),
        ([*CONFORMING, make_result(Outcome.RESTRICTED)], Exit.FINE),
        ([*CONFORMING, TIMED_OUT, TIMED_OUT], Exit.FINE),
        ([*CONFORMING, TIMED_OUT, TIMED_OUT, TIMED_OUT], Exit.BLIND),
        ([*CONFORMING, replace(make_result(Outcome.INCONCLUSIVE, reason="lane-stopped"), lane="pa:x")], Exit.BLIND),
        ([*CONFORMING, *[make_result(Outcome.INCONCLUSIVE, reason="twin-not-allowed")] * 3], Exit.BLIND),
        (
            [
                *CONFORMING,
                *[make_result(Outcome.INCONCLUSIVE, reason="twin-not-allowed", accepted_difference="accounted")] * 3,
            ],
            Exit.FINE,
        ),
        (
            [
                *CONFORMING,
                *[make_result(Outcome.INCONCLUSIVE, reason="gateway-page", accepted_difference="accounted")] * 3,
            ],
            Exit.BLIND,
        ),
        ([TIMED_OUT], Exit.BLIND),
        ([make_result(Outcome.RESTRICTED)], Exit.BLIND),
        ([TIMED_OUT, make_result(Outcome.RESTRICTED)], Exit.BLIND),
        ([make_result(Outcome.NOT_PROBED, reason="credential-missing")], Exit.BLIND),
        ([make_result(Outcome.NOT_PROBED, reason="no-recipe")], Exit.BLIND),
        ([make_result(Outcome.CONFORMS, provider="pb")], Exit.BLIND),
        ([*CONFORMING, make_result(Outcome.INCONCLUSIVE, reason="not-reported")], Exit.BLIND),
        ([make_result(Outcome.NOT_PROBED, reason="credential-missing", provider="pb"), *CONFORMING], Exit.FINE),
        ([TIMED_OUT, make_result(Outcome.DRIFTED, provider="pb")], Exit.BLIND),
        ([TIMED_OUT, make_result(Outcome.HARNESS_ERROR, provider="pb")], Exit.HARNESS_ERROR),
        ([*CONFORMING, make_result(Outcome.HARNESS_ERROR), make_result(Outcome.DRIFTED)], Exit.HARNESS_ERROR),
    ]
    for results, status in cases:
        with subtests.test(results=results):
            assert find_exit_status(results, "pa") is status


def test_run_without_verdict_is_never_fine(subtests: pytest.Subtests) -> None:
    cases: list[tuple[list[Result], Exit]] = [
        ([], Exit.NOTHING_SELECTED),
        ([make_result(Outcome.NOT_PROBED, reason="provider-not-configured")], Exit.BLIND),
        ([make_result(Outcome.NOT_PROBED, reason="credential-empty")], Exit.BLIND),
        ([make_result(Outcome.NOT_PROBED, reason="provider-only-cause")], Exit.NOTHING_SELECTED),
        ([make_result(Outcome.NOT_PROBED, reason="cost-not-allowed")], Exit.NOTHING_SELECTED),
        ([TIMED_OUT], Exit.BLIND),
        ([make_result(Outcome.RESTRICTED)], Exit.BLIND),
        ([TIMED_OUT, make_result(Outcome.NOT_PROBED, provider="pb")], Exit.BLIND),
        ([TIMED_OUT, make_result(Outcome.CONFORMS, provider="pb")], Exit.FINE),
        ([make_result(Outcome.NOT_PROBED), make_result(Outcome.CONFORMS, provider="pb")], Exit.FINE),
    ]
    for results, status in cases:
        with subtests.test(results=results):
            assert find_exit_status(results) is status


def test_stale_accepted_difference_is_drift() -> None:
    run = replace(
        LIVE,
        expected=("pa",),
        policy={"stale_accepted_differences": ["divergences.json:pa/errors/general/x: is stale"]},
    )
    assert run_verdict.exit_status(run, CONFORMING) is Exit.DRIFT


@given(st.sets(st.sampled_from(Exit), min_size=1))
def test_highest_exit_status_applies(statuses: set[Exit]) -> None:
    order = [Exit.USAGE, Exit.HARNESS_ERROR, Exit.BLIND, Exit.DRIFT, Exit.NOTHING_SELECTED, Exit.FINE]
    assert select_exit(statuses) is min(statuses, key=order.index)


@given(st.lists(st.tuples(st.sampled_from(Outcome), st.sampled_from(["pa", "pb"]))))
def test_harness_error_always_wins(outcomes: list[tuple[Outcome, str]]) -> None:
    results = [
        make_result(outcome, number, provider=provider, reason="x")
        for number, (outcome, provider) in enumerate(outcomes)
    ]
    status = find_exit_status(results, "pa")
    assert find_exit_status([*results, make_result(Outcome.HARNESS_ERROR, 999)], "pa") is Exit.HARNESS_ERROR
    assert (status is Exit.FINE) <= all(
        result.outcome in (Outcome.CONFORMS, Outcome.RESTRICTED, Outcome.INCONCLUSIVE, Outcome.NOT_PROBED)
        for result in results
    )


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


def test_drift_that_was_seen_once_is_no_drift_if_it_cannot_be_asked_again() -> None:
    other = ("stream", NAMED[1])
    failed = Reason(ReasonCode.CONTROL_FAILED, "401")
    verdict = conclude_early([{NAMED: DRIFTED, other: CONFORMS}], failed)
    assert {key: verdict.step_verdicts[key].outcome for key in (NAMED, other)} == {
        NAMED: Outcome.INCONCLUSIVE,
        other: Outcome.CONFORMS,
    }
    assert verdict.reason == failed
    assert conclude_early([{NAMED: DRIFTED}, {NAMED: DRIFTED, other: STOPPED}], failed).outcome is Outcome.DRIFTED


def test_attempts_beyond_the_maximum_are_ignored() -> None:
    different = [
        replace(DRIFTED, findings=(replace(DRIFTED.findings[0], observed=status),)) for status in (410, 411, 412)
    ]
    assert len(different) == MAX_ATTEMPTS
    final = conclude_record([{NAMED: verdict} for verdict in (*different, different[0])])
    assert final.outcome is Outcome.DRIFTED
    assert [finding.observed for finding in final.findings] == [412]


STEP = Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.STEP_UNSEEN, "after what was never done"))
PROBE_REFUSED = Verdict(Outcome.RESTRICTED, Reason(ReasonCode.PROBE_REFUSED, "403"))
LATER = ("gone", "")


def test_dependent_step_is_asked_again_with_open_steps_only() -> None:
    assert list_open_steps([{NAMED: STOPPED, LATER: STEP}]) == {NAMED, LATER}
    assert list_open_steps([{NAMED: CONFORMS, LATER: STEP}]) == frozenset()
    assert list_open_steps([{NAMED: STOPPED, LATER: PROBE_REFUSED}]) == {NAMED}
    assert list_open_steps([{NAMED: STOPPED, LATER: replace(STEP, reason=None)}]) == {NAMED}
    earlier_attempts: list[dict[tuple[str, str], Verdict]] = [{LATER: STEP}] * (MAX_ATTEMPTS - 1)
    assert list_open_steps([*earlier_attempts, {NAMED: STOPPED}]) == {NAMED, LATER}
    assert list_open_steps([*earlier_attempts, {LATER: STEP, NAMED: STOPPED}]) == {NAMED}


def test_dependent_step_is_concluded_after_its_step() -> None:
    assert (
        conclude_record([{NAMED: STOPPED, LATER: STEP}, {NAMED: CONFORMS, LATER: CONFORMS}]).outcome is Outcome.CONFORMS
    )
    assert (
        conclude_record([{NAMED: STOPPED, LATER: PROBE_REFUSED}, {NAMED: CONFORMS, LATER: CONFORMS}]).outcome
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
