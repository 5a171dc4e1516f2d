"""How sightings change a record, case by case, and what holds of every plan."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Aspect, Finding, Json, Outcome, Record, Response, Tag
from catalog_probe.catalog.observed import seen_on
from catalog_probe.catalog.writeback.planner import NoPatch, Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.record_evidence import Sighting
from tests.unit.catalog.catalog_factories import (
    ENDPOINT_ADDRESS,
    ERROR_ADDRESS,
    LIMITS_ADDRESS,
    make_drift,
    make_exchange,
    make_record,
    make_sighting,
)

if TYPE_CHECKING:
    from random import Random

TODAY = date(2026, 11, 21)
POLICY = UpdatePolicy()
SILENT = (Outcome.FLAKY, Outcome.INCONCLUSIVE, Outcome.NOT_PROBED, Outcome.HARNESS_ERROR)


def plan_record(before: Record, *sightings: Sighting, policy: UpdatePolicy = POLICY, today: date = TODAY) -> Record:
    """Write sightings back, and return the record."""
    patch = plan_patch(before, sightings, policy, today)
    return patch.record if isinstance(patch, Patch) else before


def find_no_patch_reason(
    before: Record, *sightings: Sighting, policy: UpdatePolicy = POLICY, today: date = TODAY
) -> str:
    patch = plan_patch(before, sightings, policy, today)
    assert isinstance(patch, NoPatch)
    return patch.reason


def test_conforming_verifies_an_error() -> None:
    after = plan_record(make_record(status=["DOCUMENTED", "UNVERIFIED"]), make_sighting(exchange=make_exchange()))

    assert after.data["status"] == ["DOCUMENTED", "LIVE_VERIFIED"]
    assert after.data["observed_live"] is True
    assert after.data["observed"] == {
        "verified_at": "2026-11-20",
        "endpoint": "POST /v1/messages",
        "note": "conforms, seen on live in run r1 at 2026-11-20T06:00:00.000Z",
    }
    assert after.data["live_messages"] == ["Slow down."]
    assert after.data["example"] == {
        "type": "error",
        "error": {"type": "rate_limit_error", "message": "Slow down."},
    }


def test_conforming_verifies_an_endpoint() -> None:
    exchange = make_exchange(200, label="success")
    after = plan_record(make_record(ENDPOINT_ADDRESS), make_sighting(address=ENDPOINT_ADDRESS, exchange=exchange))

    assert after.data["verification"] == {
        "result": "conforms",
        "verified_at": "2026-11-20",
        "target": "live",
        "run": "r1",
        "observed_at": "2026-11-20T06:00:00.000Z",
    }


def test_conforming_keeps_the_limits_of_this_key() -> None:
    headers = {"ratelimit-requests-limit": "50", "ratelimit-requests-remaining": "49", "date": "today"}
    exchange = make_exchange(200, headers=headers)
    before = make_record(LIMITS_ADDRESS, observed_for_this_key={"by_hand": 1}, retrieved_at="2026-11-01")
    after = plan_record(before, make_sighting(address=LIMITS_ADDRESS, exchange=exchange))

    assert after.data["retrieved_at"] == "2026-11-01", "the day on which somebody read the documents"
    assert after.data["observed_for_this_key"]["verified_at"] == "2026-11-20"
    assert after.data["observed_for_this_key"]["headers"] == {"ratelimit-requests-limit": "50"}
    assert after.data["observed_for_this_key"]["by_hand"] == 1


def test_drift_removes_the_verified_tag_and_keeps_the_finding() -> None:
    before = plan_record(make_record(), make_sighting(day="2026-11-10"))
    finding = make_drift(
        "header-missing", Aspect.HEADER, location="request-id", documented="present", observed="absent"
    )
    after = plan_record(before, make_sighting(Outcome.DRIFTED, findings=(finding,), name="r2"))

    assert after.data["status"] == ["DOCUMENTED", "UNVERIFIED"]
    assert after.data["observed_live"] is True
    assert after.data["observed"]["note"] == (
        "drifted, seen on live in run r2 at 2026-11-20T06:00:00.000Z: "
        "answer request-id absent instead of present (header-missing)"
    )


def test_an_example_stays_until_its_shape_changes() -> None:
    def see(before: Record, day: str, body: Json, outcome: Outcome = Outcome.CONFORMS) -> Record:
        exchange = replace(make_exchange(), response=Response(429, {}, body, "json"))
        return plan_record(before, make_sighting(outcome, day, exchange=exchange, name=day))

    first = see(make_record(), "2026-11-10", {"error": {"message": "Slow down."}})
    other_words = see(first, "2026-11-11", {"error": {"message": "Slower."}})
    assert other_words.data["example"] == first.data["example"]
    another_member: Json = {"error": {"message": "Slow down.", "doc": "x"}}
    assert see(other_words, "2026-11-12", another_member).data["example"] == another_member
    assert see(make_record(), "2026-11-12", another_member, Outcome.DRIFTED).data["example"] is None


def test_the_param_of_an_error_is_kept_with_its_endpoint() -> None:
    before = make_record("pc/errors/general/rate_limit_error", provider="PC", surface="pc", endpoints=[])
    response = Response(429, {}, {"error": {"message": "Slow down.", "param": "input"}}, "json")
    exchange = replace(make_exchange(), response=response)
    observed = plan_record(before, make_sighting(address=str(before.address), exchange=exchange)).data["observed"]
    assert (observed["endpoint"], observed["param"]) == ("POST /v1/messages", "input")


def test_a_patch_describes_its_change() -> None:
    cases: list[tuple[Record, Sighting, str]] = [
        (
            make_record(status=["DOCUMENTED", "LIVE_VERIFIED"]),
            make_sighting(),
            "conforms: seen for the first time; observed live",
        ),
        (
            plan_record(make_record(), make_sighting()),
            make_sighting(Outcome.RESTRICTED, "2026-11-21"),
            "now DOCUMENTED, LIVE_VERIFIED, ACCOUNT_RESTRICTED",
        ),
        (
            plan_record(make_record(), make_sighting()),
            make_sighting(exchange=make_exchange()),
            "a wording that was not known yet; an example of its body",
        ),
    ]
    for before, sighting, patch_reason in cases:
        patch = plan_patch(before, [sighting], UpdatePolicy(), TODAY)
        assert isinstance(patch, Patch), (before, sighting)
        assert patch.reason == patch_reason, (before, sighting)


def test_absence_of_evidence_changes_nothing_and_says_so() -> None:
    for outcome in SILENT:
        assert f"run r1: {outcome} (read-timeout) changes nothing" in find_no_patch_reason(
            make_record(), make_sighting(outcome)
        )


def test_a_result_without_verdict_and_reason_changes_nothing() -> None:
    silent = make_sighting(Outcome.NOT_PROBED)
    no_patch_reason = find_no_patch_reason(make_record(), replace(silent, result=replace(silent.result, reason=None)))
    assert "run r1: not_probed changes nothing" in no_patch_reason


def test_each_run_that_tells_nothing_says_why_and_no_other() -> None:
    before = plan_record(make_record(), make_sighting(day="2026-11-19"))
    silent = [make_sighting(Outcome.FLAKY, name="r2"), make_sighting(Outcome.NOT_PROBED, name="r3")]
    assert find_no_patch_reason(before, make_sighting(), *silent) == (
        "run r2: flaky (read-timeout) changes nothing; run r3: not_probed (read-timeout) changes nothing; "
        "conforms as before, and its date is fresh (2026-11-19)"
    )


def test_without_sightings_nothing_changes() -> None:
    assert find_no_patch_reason(make_record()) == "not observed"


def test_results_of_other_records_are_ignored() -> None:
    assert find_no_patch_reason(make_record(), make_sighting(address="pa/errors/general/other")) == "not observed"


def test_a_pin_stops_with_its_reason() -> None:
    pinned = make_record(pinned=True, pinned_reason="the provider confirmed it by mail")
    assert find_no_patch_reason(pinned, make_sighting(), policy=UpdatePolicy(expire_after=0)) == (
        "pinned by hand: the provider confirmed it by mail"
    )


def test_restricted_adds_its_tag_and_leaves_the_rest() -> None:
    before = plan_record(make_record(), make_sighting(day="2026-11-10"))
    after = plan_record(before, make_sighting(Outcome.RESTRICTED))

    assert after.data["status"] == ["DOCUMENTED", "LIVE_VERIFIED", "ACCOUNT_RESTRICTED"]
    assert {**after.data, "status": None} == {**before.data, "status": None}
    assert (
        find_no_patch_reason(after, make_sighting(Outcome.RESTRICTED)).split("; ")[-1]
        == "run r1: restricted, as before"
    )


def test_getting_through_takes_the_restriction_away() -> None:
    after = plan_record(make_record(), make_sighting(Outcome.RESTRICTED, "2026-11-18"), make_sighting(day="2026-11-19"))
    assert after.data["status"] == ["DOCUMENTED", "LIVE_VERIFIED"]


def test_a_refusal_that_is_older_than_the_last_answer_is_no_restriction() -> None:
    before = plan_record(make_record(), make_sighting(day="2026-11-18"))
    refused = make_sighting(Outcome.RESTRICTED, "2026-11-17")
    assert find_no_patch_reason(before, refused) == "run r1: restricted, and got through that day or since"


def test_an_answer_that_is_no_example_adds_no_example() -> None:
    data = {name: value for name, value in make_record().data.items() if name != "example"}
    before = Record(make_record().address, data)
    assert "example" not in plan_record(before, make_sighting()).data
    assert "changes nothing" in find_no_patch_reason(before, make_sighting(Outcome.FLAKY))


def test_an_older_answer_gives_the_first_example_and_replaces_none() -> None:
    body: Json = {"error": {"message": "of another shape"}}
    exchange = replace(make_exchange(), response=Response(429, {}, body, "json"))
    older = make_sighting(day="2026-11-18", exchange=exchange)
    assert plan_record(make_record(), older).data["example"] == body, "the record was never seen"
    without_example = plan_record(make_record(), make_sighting(day="2026-11-20"))
    assert plan_record(without_example, older).data["example"] == body
    with_example = plan_record(make_record(), make_sighting(day="2026-11-20", exchange=make_exchange()))
    assert plan_record(with_example, older).data["example"] == with_example.data["example"]


def test_a_quiet_night_changes_nothing() -> None:
    before = plan_record(make_record(), make_sighting(day="2026-11-13"))
    assert "conforms as before, and its date is fresh (2026-11-13)" in find_no_patch_reason(
        before, make_sighting(day="2026-11-20")
    )


def test_a_date_is_renewed_after_a_week_by_default() -> None:
    before = plan_record(make_record(), make_sighting(day="2026-11-13"))
    assert plan_record(before, make_sighting(day="2026-11-20")) == before
    assert plan_record(before, make_sighting(day="2026-11-21")) != before


def test_a_drift_with_another_face_is_news() -> None:
    before = plan_record(make_record(), make_sighting(Outcome.DRIFTED, "2026-11-19"))
    after = plan_record(before, make_sighting(Outcome.DRIFTED, findings=(make_drift(observed=404),)))
    assert "404 instead of 429" in after.data["observed"]["note"]
    assert after.data["observed"]["verified_at"] == "2026-11-20"


def test_a_drift_that_differs_in_volatile_text_only_changes_nothing() -> None:
    def answer(request: str) -> tuple[Finding]:
        finding = make_drift(
            "message-differs", Aspect.MESSAGE, documented="quota", observed=f"Gone: req_{request}abcdef12"
        )
        return (finding,)

    before = plan_record(make_record(), make_sighting(Outcome.DRIFTED, "2026-11-19", findings=answer("1111")))
    assert plan_record(before, make_sighting(Outcome.DRIFTED, findings=answer("2222"))) == before


def test_older_evidence_never_overwrites_newer() -> None:
    before = plan_record(make_record(), make_sighting(day="2026-11-20", hour=6))
    assert "is older than what the record says (2026-11-20)" in find_no_patch_reason(
        before, make_sighting(Outcome.DRIFTED, "2026-11-19")
    )
    assert "is older" in find_no_patch_reason(before, make_sighting(Outcome.DRIFTED, "2026-11-20", hour=5))
    assert plan_record(before, make_sighting(Outcome.DRIFTED, "2026-11-20", hour=7)) != before


def test_of_a_day_without_an_instant_the_whole_day_counts() -> None:
    """A record that a person wrote names only the day."""
    block = {"result": "drifted", "verified_at": "2026-11-20", "target": "live"}
    before = make_record(ENDPOINT_ADDRESS, verification=block, status=["DOCUMENTED", "UNVERIFIED"])
    after = plan_record(before, make_sighting(day="2026-11-20", hour=0, address=ENDPOINT_ADDRESS))
    assert after.data["verification"]["result"] == "conforms"
    assert "is older" in find_no_patch_reason(
        before, make_sighting(day="2026-11-19", hour=23, address=ENDPOINT_ADDRESS)
    )


def test_a_record_tagged_by_hand_is_verified_by_the_first_observation() -> None:
    block = {"result": "drifted", "verified_at": "2026-11-19", "target": "live", "observed_at": "2026-11-19T06:00:00Z"}
    before = make_record(ENDPOINT_ADDRESS, verification=block, status=["DOCUMENTED", "LIVE_VERIFIED"])
    patch = plan_patch(before, [make_sighting(address=ENDPOINT_ADDRESS)], UpdatePolicy(), TODAY)
    assert isinstance(patch, Patch)
    assert patch.reason == "conforms: the record did not say this yet"
    assert patch.record.data["verification"]["verified_at"] == "2026-11-20"


def test_evidence_of_a_mock_does_not_count_as_earlier_observation() -> None:
    before = plan_record(make_record(), make_sighting(day="2026-11-19", live=False, target="mock"))
    after = plan_record(before, make_sighting(day="2026-11-20"))
    assert "seen on live in run" in after.data["observed"]["note"]


def test_evidence_from_the_future_does_not_count() -> None:
    assert "yet to come" in find_no_patch_reason(make_record(), make_sighting(day="2027-01-01"))


def test_east_of_the_date_line_it_is_tomorrow_already() -> None:
    assert plan_record(make_record(), make_sighting(day="2026-11-22")).data["observed"]["verified_at"] == "2026-11-22"
    assert "yet to come" in find_no_patch_reason(make_record(), make_sighting(day="2026-11-23"))


def test_a_verdict_on_a_record_that_was_rewritten_since_proves_nothing() -> None:
    probed = make_record()
    assert "changed since it was probed" in find_no_patch_reason(
        make_record(http_status=503), make_sighting(probed_record=probed)
    )
    assert plan_record(make_record(note="by hand"), make_sighting(probed_record=probed)).data["status"] == [
        "DOCUMENTED",
        "LIVE_VERIFIED",
    ]


def test_write_back_does_not_make_a_record_another() -> None:
    probed = make_record()
    before = plan_record(probed, make_sighting(day="2026-11-10", exchange=make_exchange()))
    assert plan_record(before, make_sighting(probed_record=probed, exchange=make_exchange())) != before


def test_messages_are_bounded_sorted_and_steady() -> None:
    many = [
        make_sighting(exchange=make_exchange(message=f"Wording {chr(97 + n)} of req_abc123def{n}"), hour=n)
        for n in range(20)
    ]
    messages = plan_record(make_record(), *many).data["live_messages"]

    assert len(messages) == 8
    assert messages == sorted(messages)
    assert messages[0] == "Wording a of {id}"


def test_of_as_many_messages_as_a_record_keeps_the_first_in_the_alphabet_stay() -> None:
    full = [f"Wording {letter}" for letter in "bcdefghi"]
    before = plan_record(make_record(live_messages=full), make_sighting())
    last_in_alphabet = plan_record(before, make_sighting(exchange=make_exchange(message="Wording z")))
    assert last_in_alphabet.data["live_messages"] == full
    after = plan_record(before, make_sighting(exchange=make_exchange(message="Wording a")))
    assert after.data["live_messages"] == ["Wording a", *full[:-1]]


def test_more_messages_than_a_record_keeps_are_a_persons_and_stay() -> None:
    many = [f"Wording {letter}" for letter in "bcdefghij"]
    after = plan_record(make_record(live_messages=many), make_sighting(exchange=make_exchange(message="Wording a")))
    assert after.data["live_messages"] == many


def test_a_known_message_is_not_repeated() -> None:
    before = make_record(live_messages=["Limit of req_aaaa1111bbbb reached"])
    after = plan_record(before, make_sighting(exchange=make_exchange(message="Limit of req_cccc2222dddd reached")))
    assert after.data["live_messages"] == before.data["live_messages"]


def test_expired_records_are_unverified() -> None:
    before = plan_record(make_record(), make_sighting(day="2026-09-01"), today=date(2026, 9, 1))
    after = plan_record(before, policy=UpdatePolicy(expire_after=60))

    assert after.data["status"] == ["DOCUMENTED", "UNVERIFIED"]
    assert after.data["observed"]["note"] == "expired: last seen 2026-09-01, which was not renewed within 60 days"
    assert after.data["observed"]["verified_at"] == "2026-09-01"
    assert plan_record(after, policy=UpdatePolicy(expire_after=60)) == after
    assert plan_record(before, policy=UpdatePolicy(expire_after=60), today=date(2026, 10, 31)) == before, (
        "the sixtieth day"
    )
    assert plan_record(before, policy=UpdatePolicy(expire_after=60), today=date(2026, 11, 1)) != before


def test_expired_endpoints_say_so_in_their_verification() -> None:
    before = plan_record(make_record(ENDPOINT_ADDRESS), make_sighting(day="2026-09-01", address=ENDPOINT_ADDRESS))
    after = plan_record(before, policy=UpdatePolicy(expire_after=60))
    assert after.data["verification"]["result"] == "expired"
    assert after.data["verification"]["reason"].startswith("expired: last seen 2026-09-01")


def test_a_fresh_look_keeps_a_verification_whose_date_was_not_rewritten() -> None:
    before = plan_record(make_record(), make_sighting(day="2026-11-15"))
    assert plan_record(before, make_sighting(day="2026-11-20"), policy=UpdatePolicy(expire_after=2)) == before


def test_a_mock_says_that_it_is_one() -> None:
    after = plan_record(make_record(), make_sighting(live=False, target="dressed"))
    assert "seen on mock:dressed in run" in after.data["observed"]["note"]
    assert "observed_live" not in after.data


END_OF_MONTH = date(2026, 11, 30)

Case = tuple[Record, list[Sighting], UpdatePolicy]
"""A record, what was seen of it, and the policy that decides."""

DAYS = st.integers(1, 30).map(lambda day: f"2026-11-{day:02}")
ADDRESSES = st.sampled_from([ENDPOINT_ADDRESS, ERROR_ADDRESS, LIMITS_ADDRESS])
POLICIES = st.builds(UpdatePolicy, refresh_after=st.integers(0, 10), expire_after=st.none() | st.integers(0, 20))
TAGS = st.lists(st.sampled_from(["DOCUMENTED", "UNVERIFIED", "BETA", "LEGACY"]), min_size=1, max_size=4, unique=True)
# made once, for to make a strategy takes longer than to draw from it
STATUSES = st.sampled_from([200, 403, 429])
MESSAGES = st.sampled_from(["Slow down.", "Too fast.", "Wait for req_abcd1234efgh", ""])
RUNS = st.sampled_from(["r1", "r2", "r3"])


@st.composite
def looks(draw: st.DrawFn, address: str, outcomes: tuple[Outcome, ...] = tuple(Outcome)) -> Sighting:
    label = "success" if address == ENDPOINT_ADDRESS else "answer"
    status, message = draw(STATUSES), draw(MESSAGES)
    findings = (make_drift(observed=status),) if draw(st.booleans()) else ()
    return make_sighting(
        draw(st.sampled_from(outcomes)),
        draw(DAYS),
        draw(RUNS),
        draw(st.integers(0, 23)),
        address=address,
        findings=findings,
        exchange=make_exchange(status, message, label) if draw(st.booleans()) else None,
    )


@cache
def some_looks(address: str, outcomes: tuple[Outcome, ...]) -> st.SearchStrategy[list[Sighting]]:
    return st.lists(looks(address, outcomes), max_size=6)


@st.composite
def cases(draw: st.DrawFn, outcomes: tuple[Outcome, ...] = tuple(Outcome)) -> Case:
    address = draw(ADDRESSES)
    before = make_record(address, status=draw(TAGS))
    return before, draw(some_looks(address, outcomes)), draw(POLICIES)


def apply_sightings(record: Record, sightings: list[Sighting], policy: UpdatePolicy) -> Record:
    plan = plan_patch(record, sightings, policy, END_OF_MONTH)
    return plan.record if isinstance(plan, Patch) else record


@given(cases())
def test_the_same_sightings_twice_change_nothing(case: Case) -> None:
    before, sightings, policy = case
    once = apply_sightings(before, sightings, policy)
    again = plan_patch(once, sightings, policy, END_OF_MONTH)
    assert isinstance(again, NoPatch)
    assert again.reason


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(case: Case, random: Random) -> None:
    before, sightings, policy = case
    shuffled = list(sightings)
    random.shuffle(shuffled)
    assert plan_patch(before, shuffled, policy, END_OF_MONTH) == plan_patch(before, sightings, policy, END_OF_MONTH)


@given(cases(SILENT))
def test_results_without_verdict_change_nothing(case: Case) -> None:
    before, sightings, policy = case
    assert apply_sightings(before, sightings, policy) == before


@given(cases(), st.data())
def test_a_date_never_goes_back(case: Case, data: st.DataObject) -> None:
    before, sightings, policy = case
    record_now = apply_sightings(before, sightings, policy)
    later = data.draw(st.lists(looks(str(before.address)), max_size=4))
    record_then = apply_sightings(record_now, later, policy)
    first, second = seen_on(record_now), seen_on(record_then)
    assert first is None or (second is not None and second >= first)


@given(cases())
def test_verified_and_unverified_exclude_each_other(case: Case) -> None:
    tags = apply_sightings(*case).tags
    assert not {Tag.LIVE_VERIFIED, Tag.UNVERIFIED} <= tags


@given(cases())
def test_a_verified_record_has_its_date(case: Case) -> None:
    record_now = apply_sightings(*case)
    assert Tag.LIVE_VERIFIED not in record_now.tags or seen_on(record_now) is not None


@given(cases())
def test_tags_that_are_not_about_evidence_stay(case: Case) -> None:
    before, sightings, policy = case
    about_evidence = {Tag.LIVE_VERIFIED, Tag.UNVERIFIED, Tag.ACCOUNT_RESTRICTED}
    assert apply_sightings(before, sightings, policy).tags - about_evidence == before.tags - about_evidence


@given(cases())
def test_every_plan_says_why(case: Case) -> None:
    before, sightings, policy = case
    assert plan_patch(before, sightings, policy, END_OF_MONTH).reason


@given(cases((Outcome.CONFORMS, Outcome.DRIFTED)))
def test_the_latest_sighting_decides(case: Case) -> None:
    before, sightings, policy = case
    if not sightings:
        return
    last = max(sightings, key=lambda sighting: (sighting.day, sighting.at, sighting.run.run))
    ties = [
        sighting
        for sighting in sightings
        if (sighting.day, sighting.at, sighting.run.run) == (last.day, last.at, last.run.run)
    ]
    tags = apply_sightings(before, sightings, UpdatePolicy(policy.refresh_after)).tags
    if len({sighting.result.outcome for sighting in ties}) == 1:
        assert (Tag.LIVE_VERIFIED in tags) == (last.result.outcome is Outcome.CONFORMS)
