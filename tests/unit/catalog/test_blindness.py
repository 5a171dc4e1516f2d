"""Why a provider counts as not observed, and accepted differences that fail a run."""

from __future__ import annotations

from dataclasses import replace

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.results import Invocation, Result
from catalog_probe.catalog.evidence.run_verdict import find_blind_providers, find_gaps_under_expect_all
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
STOPPED = make_result(Outcome.INCONCLUSIVE, 3, ReasonCode.LANE_STOPPED)
WAITED = make_result(Outcome.INCONCLUSIVE, 3, ReasonCode.LANE_STOPPED, "wait-too-long: asked to wait 3600 s")
DEAD_KEY = make_result(
    Outcome.INCONCLUSIVE,
    3,
    ReasonCode.CONTROL_FAILED,
    "the control GET x was answered 404; look at PA_KEY and PA_BASE_URL",
)
NO_MONEY = make_result(
    Outcome.INCONCLUSIVE, 3, ReasonCode.ACCOUNT_TROUBLE, "HTTP 402: pay; look at the account of PA_KEY"
)
OF_A_SERVER = make_result(
    Outcome.INCONCLUSIVE, 3, ReasonCode.ACCOUNT_TROUBLE, "HTTP 402: pay; look at http://evil.example"
)
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
        ([*make_conforming_results(50), STOPPED], "a lane stopped (lane-stopped)"),
        ([*make_conforming_results(50), WAITED], "a lane stopped (wait-too-long)"),
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
        assert find_blind_providers(results, ["pa"]) == ({"pa": reason} if reason else {})


def test_a_lane_of_whose_surface_no_control_succeeded_is_named() -> None:
    cases: list[tuple[dict[str, str], str]] = [({"surface": "pa_content"}, "pa:x (pa_content)"), ({}, "pa:x")]
    for probed, lane in cases:
        dead = replace(DEAD_KEY, lane="pa:x", probed_record=probed)
        reason = f"no record of the lane {lane} has a verdict (control-failed: look at PA_KEY and PA_BASE_URL)"
        assert find_blind_providers([*make_conforming_results(50), dead], ["pa"]) == {"pa": reason}, probed
        assert (
            find_blind_providers(
                [
                    *make_conforming_results(50),
                    dead,
                    replace(make_conforming_results(1)[0], lane="pa:x", probed_record=probed),
                ],
                ["pa"],
            )
            == {}
        )


OF_PA = make_run(expected=("pa",))


def put_on_lane(lane: str, results: list[Result], first: int = 200) -> list[Result]:
    return [replace(result, lane=lane, record=f"pa/errors/general/r{first + n}") for n, result in enumerate(results)]


def test_a_failed_lane_withholds_only_its_own_results() -> None:
    failed_lanes: list[list[Result]] = [
        # control failed
        [DEAD_KEY, DEAD_KEY],
        # stopped
        [*make_conforming_results(3), STOPPED],
    ]
    for failed in failed_lanes:
        sound_lane, failed_lane = (
            put_on_lane("pa:x", make_conforming_results(10)),
            put_on_lane("pa:y", failed, first=300),
        )
        reasons, addresses = run_verdict.find_withheld(OF_PA, [*sound_lane, *failed_lane])
        assert reasons == {"pa:y": "its control failed"}, failed
        assert addresses == {result.record for result in failed_lane}, failed
        assert set(run_verdict.blind_providers(OF_PA, [*sound_lane, *failed_lane])) == {"pa"}, (
            "all the same the night did not see it"
        )


def test_a_provider_is_withheld_whose_other_lanes_did_not_look_either() -> None:
    results = [
        *put_on_lane("pa:x", [*make_conforming_results(3), TIMED_OUT]),
        *put_on_lane("pa:y", [DEAD_KEY], first=300),
    ]
    reasons, addresses = run_verdict.find_withheld(OF_PA, results)
    assert set(reasons) == {"pa"}
    assert addresses == {result.record for result in results}
    assert run_verdict.find_withheld(make_run(), put_on_lane("pa:x", make_conforming_results(4))) == ({}, frozenset())


def test_lost_coverage_counts_with_inconclusive_results() -> None:
    lost_addresses = {NO_KEY.record, OURS.record}
    lost = [*make_conforming_results(6), NO_KEY, OURS]
    assert find_blind_providers(lost, ["pa"]) == {}
    assert find_blind_providers([*make_conforming_results(1), NO_KEY], ["pa"], lost_addresses) == {
        "pa": "1 of 2 had a verdict before and have none now (credential-missing: set PA_KEY)"
    }
    assert find_blind_providers([*make_conforming_results(2), TIMED_OUT, NO_KEY], ["pa"], lost_addresses) == {
        "pa": "1 of 4 probes are inconclusive and 1 had a verdict before and have none now (read-timeout)"
    }
    assert find_blind_providers([*make_conforming_results(4), NO_KEY], ["pa"], lost_addresses) == {}
    assert find_blind_providers([*make_conforming_results(4), OURS, NO_KEY], ["pa"], lost_addresses) == {
        "pa": "1 of 6 probes are inconclusive and 1 had a verdict before and have none now (assumption-failed)"
    }


def test_without_any_verdict_the_tried_and_keyless_records_make_it_blind() -> None:
    assert find_blind_providers([NO_KEY], []) == {"pa": "nothing was probed (credential-missing: set PA_KEY)"}
    assert find_blind_providers([NO_KEY], [], is_shard=True) == {}, "another shard may have the key"
    assert find_blind_providers([TIMED_OUT], [], is_shard=True) == {"pa": "no record has a verdict (read-timeout)"}
    assert find_blind_providers([NOT_ALLOWED], []) == {}
    assert find_blind_providers([NO_KEY, *make_conforming_results(1)], []) == {}


def test_a_shard_that_lacks_a_key_is_not_blind_where_a_whole_run_is() -> None:
    assert set(run_verdict.blind_providers(make_run(expected=(), providers=()), [NO_KEY])) == {"pa"}
    assert run_verdict.blind_providers(make_run(expected=(), providers=(), policy={"shard": "1/2"}), [NO_KEY]) == {}


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
        assert set(run_verdict.blind_providers(on_a_mock, results)) == ({"pa"} if is_blind else set()), lost
        assert run_verdict.blind_providers(replace(on_a_mock, live=True), results) == {}, lost
        assert run_verdict.blind_providers(replace(on_a_mock, answered_by=AnsweredBy.GATEWAY), results) == {}, lost
        assert (
            run_verdict.blind_providers(replace(on_a_mock, invocation=Invocation(traffic=("one.har",))), results) == {}
        ), lost


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
        assert find_gaps_under_expect_all(results) == ({"pa": f"all was expected, and {reason}"} if reason else {})


def test_an_accepted_difference_that_fails_the_run_is_listed_once() -> None:
    entry = "accepted difference: l.json:pa/errors/general/r0: was to be reviewed by 2026-11-01; renew it"
    described = make_run(policy={"stale_accepted_differences": [entry]})
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
