"""Why a provider counts as not observed, and accepted differences that fail a run."""

from __future__ import annotations

from dataclasses import replace

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.results import Invocation, Result
from catalog_probe.catalog.evidence.run_verdict import find_blind_providers
from catalog_probe.catalog.model import AcceptanceState, Outcome, Reason
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.catalog.model.outcome import ReasonCode
from tests.unit.reports.factories import make_run


def make_result(
    outcome: Outcome, number: int = 0, reason: ReasonCode | None = None, detail: str = "", accepted_difference: str = ""
) -> Result:
    reason_given = Reason(reason, detail) if reason else None
    accepted = {"state": accepted_difference} if accepted_difference else None
    return Result(f"pa/errors/general/r{number}", {}, outcome, reason_given, accepted_difference=accepted)


def make_conforming_results(count: int) -> list[Result]:
    return [make_result(Outcome.CONFORMS, 100 + number) for number in range(count)]


TIMED_OUT = make_result(Outcome.INCONCLUSIVE, 1, ReasonCode.READ_TIMEOUT, "not told: nobody can mend it in the target")
REFUSED = make_result(Outcome.INCONCLUSIVE, 2, ReasonCode.CONNECT_REFUSED)
STOPPED_BY_AN_OLD_RELEASE = replace(
    make_result(Outcome.INCONCLUSIVE, 3, ReasonCode.LANE_STOPPED, "wait-too-long: asked to wait 3600 s"), lane="pa:y"
)
STOPPED = replace(
    STOPPED_BY_AN_OLD_RELEASE,
    reason=Reason(ReasonCode.LANE_STOPPED, "wait-too-long: asked to wait 3600 s", cause="wait-too-long"),
)
DEAD_KEY = replace(
    make_result(Outcome.INCONCLUSIVE, 3),
    reason=Reason.with_advice(
        ReasonCode.CONTROL_FAILED, "the control GET x was answered 404", "look at PA_KEY and PA_BASE_URL"
    ),
)
NO_MONEY = replace(
    make_result(Outcome.INCONCLUSIVE, 3),
    reason=Reason.with_advice(ReasonCode.ACCOUNT_TROUBLE, "HTTP 402: pay", "look at the account of PA_KEY"),
)
OF_A_SERVER = make_result(Outcome.INCONCLUSIVE, 3, ReasonCode.ACCOUNT_TROUBLE, "HTTP 402: pay; look at PA_KEY")
NO_KEY = make_result(Outcome.NOT_PROBED, 4, ReasonCode.CREDENTIAL_MISSING, "set PA_KEY")
EMPTY_KEY = make_result(Outcome.NOT_PROBED, 4, ReasonCode.CREDENTIAL_EMPTY, "PA_API_KEY is set but empty")
NOT_ALLOWED = make_result(Outcome.NOT_PROBED, 5, ReasonCode.COST_NOT_ALLOWED, "billable")
RESTRICTED = make_result(Outcome.RESTRICTED, 6, ReasonCode.PROBE_REFUSED)
OURS = make_result(Outcome.INCONCLUSIVE, 7, ReasonCode.ASSUMPTION_FAILED)
NO_FAULT_FREE_REQUEST = make_result(Outcome.INCONCLUSIVE, 8, ReasonCode.FAULT_FREE_NOT_ALLOWED)
NO_FAULT_FREE_AND_ACCEPTED = make_result(
    Outcome.INCONCLUSIVE, 8, ReasonCode.FAULT_FREE_NOT_ALLOWED, accepted_difference=AcceptanceState.ACCOUNTED
)
SILENT = replace(
    make_result(Outcome.INCONCLUSIVE, 9, ReasonCode.NOTHING_OBSERVED), probed_record={"status": ["DOCUMENTED"]}
)
ALL_ASSUMED = replace(SILENT, probed_record={"status": ["UNVERIFIED"]})

OF_PA = make_run(expected=("pa",))
OF_NOBODY = make_run(expected=(), providers=())


def test_the_reason_why_an_expected_provider_is_blind() -> None:
    cases: list[tuple[list[Result], str]] = [
        ([], "no record has a result"),
        ([NO_KEY], "nothing was probed (credential-missing: set PA_KEY)"),
        ([NO_KEY, NO_KEY, NOT_ALLOWED], "nothing was probed (credential-missing: set PA_KEY)"),
        ([NO_KEY, NO_KEY, EMPTY_KEY], "the API key is missing: PA_API_KEY is set but empty"),
        ([NOT_ALLOWED], "nothing was probed (cost-not-allowed)"),
        ([make_result(Outcome.NOT_PROBED)], "nothing was probed"),
        ([OURS], "no record has a verdict (assumption-failed)"),
        ([NO_FAULT_FREE_AND_ACCEPTED], "no record has a verdict (twin-not-allowed)"),
        ([NO_FAULT_FREE_REQUEST], "no record has a verdict (twin-not-allowed)"),
        ([TIMED_OUT, TIMED_OUT, REFUSED, RESTRICTED], "no record has a verdict (read-timeout)"),
        ([RESTRICTED], "no record has a verdict (probe-refused)"),
        ([*make_conforming_results(50), STOPPED], "the lane pa:y was stopped (wait-too-long)"),
        ([*make_conforming_results(50), STOPPED_BY_AN_OLD_RELEASE], "the lane pa:y was stopped (lane-stopped)"),
        ([DEAD_KEY, DEAD_KEY], "no record has a verdict (control-failed: look at PA_KEY and PA_BASE_URL)"),
        ([NO_MONEY], "no record has a verdict (account-trouble: look at the account of PA_KEY)"),
        ([OF_A_SERVER], "no record has a verdict (account-trouble)"),
        ([*make_conforming_results(4), TIMED_OUT], ""),
        ([*make_conforming_results(4), TIMED_OUT, REFUSED], "2 of 6 probes are inconclusive (read-timeout)"),
        ([*make_conforming_results(4), TIMED_OUT, OURS, OURS, NO_FAULT_FREE_AND_ACCEPTED, NOT_ALLOWED], ""),
        (
            [*make_conforming_results(4), NO_FAULT_FREE_REQUEST, NO_FAULT_FREE_REQUEST],
            "2 of 6 probes are inconclusive (twin-not-allowed)",
        ),
        ([*make_conforming_results(4), SILENT, SILENT], "2 of 6 probes are inconclusive (nothing-observed)"),
        ([*make_conforming_results(4), ALL_ASSUMED, ALL_ASSUMED], ""),
        ([make_result(Outcome.DRIFTED)], ""),
        ([make_result(Outcome.FLAKY)], ""),
        ([make_result(Outcome.HARNESS_ERROR)], ""),
    ]
    for results, reason in cases:
        assert find_blind_providers(OF_PA, results) == ({"pa": reason} if reason else {})


def test_a_lane_of_whose_surface_no_control_succeeded_is_named() -> None:
    cases: list[tuple[dict[str, str], str]] = [({"surface": "pa_content"}, "pa:x (pa_content)"), ({}, "pa:x")]
    for probed, lane in cases:
        dead = replace(DEAD_KEY, lane="pa:x", probed_record=probed)
        reason = f"the lane {lane} had no control that succeeded (control-failed: look at PA_KEY and PA_BASE_URL)"
        results = [*make_conforming_results(50), dead]
        assert find_blind_providers(OF_PA, results) == {"pa": reason}, probed
        alive = replace(make_conforming_results(1)[0], lane="pa:x", probed_record=probed)
        assert find_blind_providers(OF_PA, [*results, alive]) == {}, probed


def put_on_lane(lane: str, results: list[Result], first: int = 200) -> list[Result]:
    return [replace(result, lane=lane, record=f"pa/errors/general/r{first + n}") for n, result in enumerate(results)]


def test_a_failed_lane_withholds_only_its_own_results() -> None:
    no_control = "the lane had no control that succeeded (control-failed: look at PA_KEY and PA_BASE_URL)"
    failed_lanes: list[tuple[list[Result], str]] = [
        ([DEAD_KEY, DEAD_KEY], no_control),
        ([DEAD_KEY, NOT_ALLOWED, ALL_ASSUMED], no_control),
        ([*make_conforming_results(3), STOPPED], "the lane was stopped (wait-too-long)"),
    ]
    for failed, reason in failed_lanes:
        sound_lane, failed_lane = (
            put_on_lane("pa:x", make_conforming_results(10)),
            put_on_lane("pa:y", failed, first=300),
        )
        reasons, addresses = run_verdict.find_withheld(OF_PA, [*sound_lane, *failed_lane])
        assert reasons == {"pa:y": reason}, failed
        assert addresses == {result.record for result in failed_lane}, failed
        assert set(find_blind_providers(OF_PA, [*sound_lane, *failed_lane])) == {"pa"}, (
            "all the same the night did not see it"
        )


def test_a_stopped_lane_withholds_all_its_surfaces() -> None:
    """The lane was stopped on the surface of one record, and no control succeeded for the records without a surface."""
    on_a_surface = [
        replace(result, probed_record={"surface": "pa_content"}) for result in (*make_conforming_results(3), STOPPED)
    ]
    stopped_lane = put_on_lane("pa:y", [DEAD_KEY, *on_a_surface], first=300)
    reasons, addresses = run_verdict.find_withheld(
        OF_PA, [*put_on_lane("pa:x", make_conforming_results(10)), *stopped_lane]
    )
    assert reasons == {"pa:y": "the lane was stopped (wait-too-long)"}
    assert addresses == {result.record for result in stopped_lane}


def test_a_provider_is_withheld_whose_other_lanes_did_not_look_either() -> None:
    results = [
        *put_on_lane("pa:x", [*make_conforming_results(3), TIMED_OUT]),
        *put_on_lane("pa:y", [DEAD_KEY], first=300),
    ]
    reasons, addresses = run_verdict.find_withheld(OF_PA, results)
    assert set(reasons) == {"pa"}
    assert addresses == {result.record for result in results}
    assert run_verdict.find_withheld(make_run(), put_on_lane("pa:x", make_conforming_results(4))) == ({}, frozenset())


def lose(result: Result) -> Result:
    """Return the result of a record whose last verdict is in the record, so that its coverage is lost."""
    note = "conforms, seen on live in run r1 at 2026-11-02T04:00:00Z"
    return replace(result, probed_record={"observed": {"verified_at": "2026-11-02", "note": note}})


def test_lost_coverage_counts_with_inconclusive_results() -> None:
    no_key, ours = lose(EMPTY_KEY), lose(OURS)
    assert find_blind_providers(OF_PA, [*make_conforming_results(6), EMPTY_KEY, OURS]) == {}
    assert find_blind_providers(OF_PA, [*make_conforming_results(1), no_key]) == {
        "pa": "1 of 2 had a verdict before and have none now (credential-empty: PA_API_KEY is set but empty)"
    }
    assert find_blind_providers(OF_PA, [*make_conforming_results(2), TIMED_OUT, no_key]) == {
        "pa": "1 of 4 probes are inconclusive and 1 had a verdict before and have none now (read-timeout)"
    }
    assert find_blind_providers(OF_PA, [*make_conforming_results(4), no_key]) == {}
    assert find_blind_providers(OF_PA, [*make_conforming_results(4), ours, no_key]) == {
        "pa": "1 of 6 probes are inconclusive and 1 had a verdict before and have none now (assumption-failed)"
    }


def test_without_any_verdict_the_tried_and_keyless_records_make_it_blind() -> None:
    shard = replace(OF_NOBODY, policy={"shard": "1/2"})
    assert find_blind_providers(OF_NOBODY, [NO_KEY]) == {"pa": "nothing was probed (credential-missing: set PA_KEY)"}
    assert find_blind_providers(shard, [NO_KEY]) == {}, "another shard may have the key"
    assert find_blind_providers(shard, [TIMED_OUT]) == {"pa": "no record has a verdict (read-timeout)"}
    assert find_blind_providers(OF_NOBODY, [NOT_ALLOWED]) == {}
    assert find_blind_providers(OF_NOBODY, [NO_KEY, *make_conforming_results(1)]) == {}


def test_one_lost_observation_makes_a_run_on_a_mock_blind_and_no_other() -> None:
    cases: list[tuple[Result, bool]] = [
        (TIMED_OUT, True),
        (RESTRICTED, True),
        (OURS, True),
        (SILENT, True),
        (ALL_ASSUMED, False),
        (NO_FAULT_FREE_AND_ACCEPTED, False),
        (NOT_ALLOWED, False),
        (NO_KEY, False),
    ]
    for lost, is_blind in cases:
        results = [*make_conforming_results(50), lost]
        on_a_mock = make_run(live=False, expected=("pa",), providers=("pa",))
        assert set(find_blind_providers(on_a_mock, results)) == ({"pa"} if is_blind else set()), lost
        assert find_blind_providers(replace(on_a_mock, live=True), results) == {}, lost
        assert find_blind_providers(replace(on_a_mock, answered_by=AnsweredBy.GATEWAY), results) == {}, lost
        assert find_blind_providers(replace(on_a_mock, invocation=Invocation(traffic=("one.har",))), results) == {}, (
            lost
        )


def test_expect_all_lists_the_records_without_verdict() -> None:
    cases: list[tuple[list[Result], str]] = [
        (make_conforming_results(3), ""),
        ([NOT_ALLOWED], ""),
        ([ALL_ASSUMED], ""),
        ([SILENT], "1 record has no verdict: pa/errors/general/r9 (nothing-observed)"),
        ([NO_KEY], "1 record has no verdict: pa/errors/general/r4 (credential-missing)"),
        (
            [NO_KEY, TIMED_OUT, RESTRICTED],
            "3 records have no verdict: pa/errors/general/r4 (credential-missing), "
            "pa/errors/general/r1 (read-timeout), pa/errors/general/r6 (probe-refused)",
        ),
        (
            [make_result(Outcome.NOT_PROBED, 1, ReasonCode.STOPPED_EARLY)] * 3 + [make_result(Outcome.RESTRICTED)],
            "4 records have no verdict: " + ", ".join(["pa/errors/general/r1 (stopped-early)"] * 3) + " and 1 more",
        ),
        ([make_result(Outcome.RESTRICTED)], "1 record has no verdict: pa/errors/general/r0 (restricted)"),
    ]
    for results, reason in cases:
        strict = replace(OF_NOBODY, policy={"expect_all": True})
        expected = {"pa": f"all was expected, and {reason}"} if reason else {}
        assert find_blind_providers(strict, [*make_conforming_results(1), *results]) == expected


def test_an_accepted_difference_that_fails_the_run_is_listed_once() -> None:
    entry = "accepted difference: l.json:pa/errors/general/r0: was to be reviewed by 2026-11-01; renew it"
    described = make_run(
        policy={
            "stale_accepted_differences": [entry],
            "stale_accepted_addresses": {"pa/errors/general/r0": entry},
        }
    )
    assert run_verdict.list_stale_entries(make_run(), []) == ()
    assert run_verdict.list_stale_entries(described, []) == (entry,)
    assert (
        run_verdict.list_stale_entries(
            described, [make_result(Outcome.DRIFTED, 0, accepted_difference=AcceptanceState.STALE)]
        )
        == ()
    )
    assert run_verdict.list_stale_entries(
        described, [make_result(Outcome.DRIFTED, 1, accepted_difference=AcceptanceState.STALE)]
    ) == (entry,)
    assert run_verdict.list_stale_entries(
        described, [make_result(Outcome.DRIFTED, 0, accepted_difference=AcceptanceState.ACCOUNTED)]
    ) == (entry,)


def test_missing_fields_of_an_accepted_difference_are_empty() -> None:
    plain = make_result(Outcome.DRIFTED)
    assert run_verdict.acceptance_field(plain, "reason") == ""
    entry = Result(plain.record, {}, Outcome.DRIFTED, accepted_difference={"reason": "known", "detail": None})
    assert [run_verdict.acceptance_field(entry, field) for field in ("reason", "detail", "review_by")] == [
        "known",
        "",
        "",
    ]
