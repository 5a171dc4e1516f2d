"""Evidence per assertion and endpoint, case by case: writing, renewal and the tags that follow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from catalog_probe.catalog.model import Outcome, Record, Tag
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.observed import cells_of, is_expired, resolved_assumptions
from catalog_probe.catalog.writeback.planner import NoPatch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.record_evidence import Sighting
from tests.unit.catalog.catalog_factories import ENDPOINT_ADDRESS, make_record, make_sighting
from tests.unit.catalog.evidence_factories import (
    ASSUMED,
    LOCAL_KEYS,
    OTHER_ENDPOINT,
    POLICY,
    TODAY,
    apply_nights,
    apply_nights_one_by_one,
    list_assertions,
    make_night,
    make_observation,
)


def test_one_assertion_that_was_not_renewed_is_enough_and_a_look_at_it_mends_it() -> None:
    policy = UpdatePolicy(refresh_after=0, expire_after=20)
    old, without = make_night("2026-11-01", make_observation()), make_observation(not_observed=("type",))
    stale = apply_nights(make_record(), old, make_night("2026-11-29", without, run="r2"), policy=policy)
    assert Tag.UNVERIFIED in stale.tags
    expected = "expired: last seen 2026-11-01, which was not renewed within 20 days"
    assert stale.data["observed"]["note"] == expected
    assert stale.data["evidence"]["endpoints"] == {
        ENDPOINT_ADDRESS: {"on": "2026-11-29", "not_observed": {"answer/type": "2026-11-01"}}
    }
    fresh = apply_nights(stale, make_night("2026-11-30", make_observation(), run="r3"), policy=policy)
    assert Tag.LIVE_VERIFIED in fresh.tags
    assert not is_expired(fresh)


def test_what_no_tag_waits_for_neither_renews_nor_holds_up_an_expiry() -> None:
    unsure_fields: list[dict[str, Any]] = [
        {"out_of_reach": {"answer/type": "only-the-provider"}},
        {"assumed": {"answer/type": "not shown"}},
    ]
    for unsure in unsure_fields:
        before = make_record(**unsure)
        nights = (
            make_night("2026-11-01", make_observation(not_observed=("type",))),
            make_night("2026-11-29", make_observation(not_observed=("type", "status")), run="r2"),
        )
        stale = apply_nights(before, *nights, policy=UpdatePolicy(refresh_after=0, expire_after=20))
        assert Tag.UNVERIFIED in stale.tags, unsure
        assert stale.data["observed"]["note"].startswith("expired: last seen 2026-11-01,"), unsure


def test_a_record_with_an_unobserved_assertion_is_not_verified() -> None:
    once = apply_nights(make_record(), make_night("2026-11-01", make_observation(not_observed=("type",))))
    assert {Tag.LIVE_VERIFIED, Tag.UNVERIFIED} & once.tags == {Tag.UNVERIFIED}
    assert once.data["evidence"]["endpoints"] == {
        ENDPOINT_ADDRESS: {"on": "2026-11-01", "not_observed": {"answer/type": None}}
    }
    twice = apply_nights(once, make_night("2026-11-02", make_observation(OTHER_ENDPOINT)))
    assert Tag.LIVE_VERIFIED in twice.tags
    assert apply_nights(twice, policy=UpdatePolicy(expire_after=60)) == twice, (
        "what the other endpoint showed is no older"
    )


def test_a_record_of_assumptions_only_is_resolved_and_never_verified() -> None:
    once = apply_nights(make_record(assumed={"answer/*": "not shown"}), make_night("2026-11-01", make_observation()))
    assert Tag.LIVE_VERIFIED not in once.tags
    assert once.data["evidence"]["resolved"]["answer/type"]["observed"] == "as assumed"


def test_an_out_of_reach_record_is_verified_if_all_of_it_matched() -> None:
    """Recorded traffic may show what no client can bring about."""
    cases: list[tuple[tuple[str, ...], bool]] = [((), True), (LOCAL_KEYS[1:], False), (LOCAL_KEYS, False)]
    for without, verified in cases:
        before = make_record(out_of_reach={"answer/*": "only-the-provider"})
        once = apply_nights(before, make_night("2026-11-01", make_observation(not_observed=without)))
        assert (Tag.LIVE_VERIFIED in once.tags) is verified, without


def test_one_mismatched_endpoint_makes_a_record_unverified() -> None:
    fine, wrong = make_observation(), make_observation(OTHER_ENDPOINT, status="403")
    once = apply_nights(make_record(), make_night("2026-11-01", fine, wrong, outcome=Outcome.DRIFTED))
    assert Tag.UNVERIFIED in once.tags
    assert once.data["evidence"]["endpoints"][OTHER_ENDPOINT]["mismatched"] == {"answer/status": "403"}
    assert "mismatched" not in once.data["evidence"]["endpoints"][ENDPOINT_ADDRESS]


def test_a_mismatch_out_of_reach_makes_a_record_unverified() -> None:
    out_of_reach = make_record(out_of_reach={"answer/*": "needs-an-account-state"})
    confirmed = apply_nights(out_of_reach, make_night("2026-11-01", make_observation()))
    assert Tag.LIVE_VERIFIED in confirmed.tags
    wrong = make_observation(status="403")
    for before in (out_of_reach, confirmed):
        once = apply_nights(before, make_night("2026-11-02", wrong, outcome=Outcome.DRIFTED, run="r2"))
        assert Tag.UNVERIFIED in once.tags
        assert Tag.LIVE_VERIFIED not in once.tags


def test_a_matched_date_is_rewritten_only_after_a_week() -> None:
    once = apply_nights(make_record(), make_night("2026-11-01", make_observation()))
    assert apply_nights(once, make_night("2026-11-08", make_observation())).data["evidence"] == once.data["evidence"]
    later = apply_nights(once, make_night("2026-11-09", make_observation())).data["evidence"]["endpoints"]
    assert later == {ENDPOINT_ADDRESS: {"on": "2026-11-09"}}


def test_editing_the_statements_of_a_record_voids_its_evidence() -> None:
    once = apply_nights(make_record(), make_night("2026-11-01", make_observation()))
    assert cells_of(once, list_assertions(once))
    edited = Record(once.address, {**once.data, "http_status": 430})
    assert cells_of(edited, list_assertions(edited)) == {}


def test_an_assumption_is_resolved_and_verifies_nothing() -> None:
    open_question = make_record(**ASSUMED)
    unseen = apply_nights(open_question, make_night("2026-11-01", make_observation(not_observed=("status",))))
    assert Tag.LIVE_VERIFIED in unseen.tags  # all that is documented was seen
    partly = apply_nights(open_question, make_night("2026-11-01", make_observation(not_observed=("status", "type"))))
    assert Tag.UNVERIFIED in partly.tags
    resolved = apply_nights(partly, make_night("2026-11-02", make_observation(not_observed=("type",))))
    assert Tag.UNVERIFIED in resolved.tags
    assert resolved.data["evidence"]["resolved"] == {"answer/status": {"observed": "as assumed", "on": "2026-11-02"}}
    assert Tag.LIVE_DISCOVERED not in resolved.tags


def test_a_corrected_assumption_is_written_once() -> None:
    once = apply_nights(make_record(**ASSUMED), make_night("2026-11-01", make_observation(status="430")))
    assert {Tag.LIVE_VERIFIED, Tag.LIVE_DISCOVERED} <= once.tags
    expected = {"answer/status": {"observed": "430", "on": "2026-11-01"}}
    assert once.data["evidence"]["resolved"] == expected
    again = apply_nights(once, make_night("2026-11-20", make_observation(status="430")))
    assert again.data["evidence"]["resolved"] == expected
    assert resolved_assumptions(again, list_assertions(again))["answer/status"].observed == "430"


def test_a_success_instead_of_an_assumed_refusal_resolves_nothing() -> None:
    resolved = apply_nights(make_record(**ASSUMED), make_night("2026-11-01", make_observation(status="430")))
    observations = [make_observation(status="200")]
    for before, expected in ((make_record(**ASSUMED), None), (resolved, None)):
        once = apply_nights(before, make_night("2026-11-02", *observations, outcome=Outcome.DRIFTED))
        assert once.data["evidence"].get("resolved") == expected
        assert Tag.LIVE_DISCOVERED not in once.tags
        assert Tag.LIVE_VERIFIED not in once.tags
        assert once.data["evidence"]["endpoints"][ENDPOINT_ADDRESS]["mismatched"] == {"answer/status": "200"}


def test_a_mismatch_on_one_endpoint_resolves_an_assumption_in_any_order() -> None:
    for order in [1, -1]:
        both = [make_observation(), make_observation(OTHER_ENDPOINT, status="430")]
        once = apply_nights(make_record(**ASSUMED), make_night("2026-11-01", *both[::order]))
        expected = {"answer/status": {"observed": "430", "on": "2026-11-01"}}
        assert once.data["evidence"]["resolved"] == expected, order
        assert Tag.LIVE_DISCOVERED in once.tags, order
        drawn = apply_nights(
            once, make_night("2026-11-02", make_observation(), run="r2")
        )  # a night that does not look elsewhere
        assert drawn.data["evidence"]["resolved"] == expected, order
        mended = apply_nights(drawn, make_night("2026-11-03", make_observation(OTHER_ENDPOINT), run="r3"))
        assert mended.data["evidence"]["resolved"] == {
            "answer/status": {"observed": "as assumed", "on": "2026-11-01"}
        }, order
        assert Tag.LIVE_DISCOVERED not in mended.tags, order


def test_a_discovered_tag_set_by_hand_stays() -> None:
    once = apply_nights(make_record(**ASSUMED), make_night("2026-11-01", make_observation()))
    tagged = Record(once.address, {**once.data, "status": [*once.data["status"], str(Tag.LIVE_DISCOVERED)]})
    assert Tag.LIVE_DISCOVERED in apply_nights(tagged, make_night("2026-11-12", make_observation(), run="r2")).tags


def test_an_assumption_is_resolved_on_the_first_day_by_the_mismatched_endpoint() -> None:
    for endpoint in [ENDPOINT_ADDRESS, OTHER_ENDPOINT]:
        matching_endpoint = OTHER_ENDPOINT if endpoint == ENDPOINT_ADDRESS else ENDPOINT_ADDRESS
        observations = make_observation(matching_endpoint), make_observation(endpoint, status="430")
        once = apply_nights(
            make_record(**ASSUMED), *(make_night(f"2026-11-0{day}", *observations, run=f"r{day}") for day in (1, 2, 3))
        )
        assert once.data["evidence"]["resolved"] == {"answer/status": {"observed": "430", "on": "2026-11-01"}}, endpoint


def test_the_later_of_two_runs_of_a_day_counts_in_any_order() -> None:
    for order in [1, -1]:

        def at(hour: int, run: str, *, status: str = "") -> Sighting:
            plain = make_sighting(Outcome.DRIFTED if status else Outcome.CONFORMS, "2026-11-02", run, hour)
            observation = make_observation(status=status) if status else make_observation()
            return Sighting(plain.run, replace(plain.result, observations=(observation,)))

        earlier, later = at(5, "r1"), at(7, "r2", status="403")
        merged = apply_nights_one_by_one(make_record(), (earlier, later)[::order], POLICY)
        assert merged.data["evidence"]["endpoints"][ENDPOINT_ADDRESS]["mismatched"] == {"answer/status": "403"}, order
        assert Tag.UNVERIFIED in merged.tags, order


def test_an_answer_on_the_day_of_a_refusal_means_not_restricted() -> None:
    refused = make_night("2026-11-02", outcome=Outcome.RESTRICTED, run="r1")
    through = make_night("2026-11-02", make_observation(), run="r2")
    assert "restricted_on" not in apply_nights(make_record(), refused, through).data["evidence"]
    assert Tag.ACCOUNT_RESTRICTED not in apply_nights(make_record(), through, refused).tags


def test_an_unobserved_endpoint_has_no_line() -> None:
    blind = Observation(OTHER_ENDPOINT, "answer", not_observed=dict.fromkeys(LOCAL_KEYS, "no-answer"))
    once = apply_nights(make_record(), make_night("2026-11-01", make_observation(), blind))
    assert once.data["evidence"]["endpoints"] == {ENDPOINT_ADDRESS: {"on": "2026-11-01"}}
    assert "evidence" not in apply_nights(make_record(), make_night("2026-11-01", blind)).data
    by_hand = {
        OTHER_ENDPOINT: {"on": "2026-10-01", "not_observed": {"answer/*": None}},
        **once.data["evidence"]["endpoints"],
    }
    before = Record(once.address, {**once.data, "evidence": {**once.data["evidence"], "endpoints": by_hand}})
    renewed = apply_nights(before, make_night("2026-11-09", make_observation(), run="r2"))
    assert renewed.data["evidence"]["endpoints"] == {ENDPOINT_ADDRESS: {"on": "2026-11-09"}}


def test_an_unobserved_label_is_one_entry_and_an_old_one_an_entry_per_assertion() -> None:
    grouped = make_record(http_status="429/503", causes=None)
    first = tuple(assertion.key.local_key for assertion in list_assertions(grouped) if assertion.key.label == "429")
    once = apply_nights(grouped, make_night("2026-11-01", Observation(ENDPOINT_ADDRESS, "429", first)))
    assert once.data["evidence"]["endpoints"][ENDPOINT_ADDRESS] == {"on": "2026-11-01", "not_observed": {"503/*": None}}
    second = tuple(assertion.key.local_key for assertion in list_assertions(grouped) if assertion.key.label == "503")
    twice = apply_nights(once, make_night("2026-11-12", Observation(ENDPOINT_ADDRESS, "503", second), run="r2"))
    line = twice.data["evidence"]["endpoints"][ENDPOINT_ADDRESS]
    assert line == {"on": "2026-11-12", "not_observed": {f"429/{local_key}": "2026-11-01" for local_key in first}}


def test_a_later_mismatch_resolves_an_assumption_again() -> None:
    once = apply_nights(make_record(**ASSUMED), make_night("2026-11-01", make_observation()))
    assert Tag.LIVE_DISCOVERED not in once.tags
    twice = apply_nights(once, make_night("2026-11-02", make_observation(OTHER_ENDPOINT, status="430"), run="r2"))
    assert twice.data["evidence"]["resolved"] == {"answer/status": {"observed": "430", "on": "2026-11-02"}}
    assert Tag.LIVE_DISCOVERED in twice.tags


def test_an_assumption_of_the_surface_is_resolved_by_a_mismatch_only() -> None:
    fine, wrong = make_observation(), make_observation(ENDPOINT_ADDRESS, (), **{"body:/request_id": "absent"})
    assert "resolved" not in apply_nights(make_record(), make_night("2026-11-01", fine)).data["evidence"]
    same_day = [make_night("2026-11-01", fine, run="r1"), make_night("2026-11-01", wrong, run="r2")]
    once = apply_nights(make_record(), *same_day)
    assert once.data["evidence"]["resolved"] == {"answer/body:/request_id": {"observed": "absent", "on": "2026-11-01"}}
    assert isinstance(plan_patch(once, same_day, POLICY, TODAY, list_assertions(once)), NoPatch)


def test_a_night_without_observation_keeps_evidence_of_earlier_statements() -> None:
    once = apply_nights(make_record(), make_night("2026-11-01", make_observation()))
    edited = Record(once.address, {**once.data, "http_status": 430})
    blind = make_night("2026-11-02", make_observation(not_observed=LOCAL_KEYS))
    assert apply_nights(edited, blind).data["evidence"] == edited.data["evidence"]


def test_a_mismatch_is_rewritten_only_if_it_changes() -> None:
    def drifting(day: str, status: str) -> Sighting:
        return make_night(day, make_observation(status=status), outcome=Outcome.DRIFTED)

    once = apply_nights(make_record(), drifting("2026-11-01", "403"))
    assert apply_nights(once, drifting("2026-11-08", "403")).data["evidence"] == once.data["evidence"]
    line = apply_nights(once, drifting("2026-11-02", "404")).data["evidence"]["endpoints"][ENDPOINT_ADDRESS]
    assert line == {"on": "2026-11-02", "mismatched": {"answer/status": "404"}}
    mended = apply_nights(once, make_night("2026-11-02", make_observation())).data["evidence"]["endpoints"][
        ENDPOINT_ADDRESS
    ]
    assert mended == {"on": "2026-11-02"}


def test_an_unobserved_assertion_changes_nothing_within_a_week() -> None:
    once = apply_nights(make_record(), make_night("2026-11-01", make_observation()))
    assert (
        apply_nights(once, make_night("2026-11-05", make_observation(not_observed=("type",)))).data["evidence"]
        == once.data["evidence"]
    )
    part = apply_nights(make_record(), make_night("2026-11-01", make_observation(not_observed=("type",))))
    assert (
        apply_nights(part, make_night("2026-11-03", make_observation(not_observed=("type",)))).data["evidence"]
        == part.data["evidence"]
    )
    complete = apply_nights(part, make_night("2026-11-02", make_observation())).data["evidence"]["endpoints"][
        ENDPOINT_ADDRESS
    ]
    assert complete == {"on": "2026-11-02"}


def test_an_older_run_within_a_week_changes_nothing() -> None:
    once = apply_nights(make_record(), make_night("2026-11-01", make_observation()))
    stale = apply_nights(once, make_night("2026-11-09", make_observation(not_observed=("type",)), run="r2"))
    line = {"on": "2026-11-09", "not_observed": {"answer/type": "2026-11-01"}}
    assert stale.data["evidence"]["endpoints"] == {ENDPOINT_ADDRESS: line}
    a_week, six_days = UpdatePolicy(refresh_after=7), UpdatePolicy(refresh_after=6)
    older = make_night("2026-11-08", make_observation(), run="r3")
    assert apply_nights(stale, older, policy=a_week).data["evidence"]["endpoints"] == {ENDPOINT_ADDRESS: line}
    renewed = apply_nights(stale, older, policy=six_days).data["evidence"]["endpoints"][ENDPOINT_ADDRESS]
    assert renewed == {**line, "not_observed": {"answer/type": "2026-11-08"}}


def test_only_the_location_of_a_value_is_resolved_if_only_it_is_assumed() -> None:
    """Another value there is a difference from the documents, which state the value."""
    key = "body:/error/kind"
    unsure = make_record(
        fields={"/error/kind": {"const": "x"}}, assumed={f"answer/{key}": "where it stands is not shown"}
    )
    outcomes = {"": Outcome.CONFORMS, "absent": Outcome.DRIFTED, "y": Outcome.DRIFTED}
    resolved = {}
    for differs, outcome in outcomes.items():
        observation = Observation(
            ENDPOINT_ADDRESS, "answer", () if differs else (key,), {key: differs} if differs else {}
        )
        once = apply_nights(unsure, make_night("2026-11-01", observation, outcome=outcome))
        resolved[differs] = once.data["evidence"].get("resolved", {}).get(f"answer/{key}", {}).get("observed")
    assert resolved == {"": "as assumed", "absent": "absent", "y": None}


def test_the_day_of_a_refusal_is_rewritten_only_after_a_week() -> None:
    before = apply_nights(make_record(), make_night("2026-11-18", outcome=Outcome.RESTRICTED))
    assert before.data["evidence"]["restricted_on"] == "2026-11-18"
    fresh = apply_nights(before, make_night("2026-11-25", outcome=Outcome.RESTRICTED, run="r2"))
    assert fresh.data["evidence"]["restricted_on"] == "2026-11-18"
    renewed = apply_nights(before, make_night("2026-11-26", outcome=Outcome.RESTRICTED, run="r3"))
    assert renewed.data["evidence"]["restricted_on"] == "2026-11-26"


def test_an_assertion_observed_again_is_no_longer_listed_as_unobserved() -> None:
    local_key = LOCAL_KEYS[-1]
    before = apply_nights(make_record(), make_night("2026-11-01", make_observation()))
    missed = apply_nights(before, make_night("2026-11-12", make_observation(not_observed=(local_key,)), run="r2"))
    line = missed.data["evidence"]["endpoints"][ENDPOINT_ADDRESS]
    assert line["not_observed"] == {f"answer/{local_key}": "2026-11-01"}
    again = apply_nights(missed, make_night("2026-11-13", make_observation(), run="r3"))
    assert "not_observed" not in again.data["evidence"]["endpoints"][ENDPOINT_ADDRESS]
