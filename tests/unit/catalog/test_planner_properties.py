"""Properties of every update plan, for any sightings in any order."""

from __future__ import annotations

from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Outcome, Record, Tag
from catalog_probe.catalog.observed.last_seen import seen_on
from catalog_probe.catalog.writeback.planner import NoPatch, Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.sightings import Sighting
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

TODAY = date(2026, 11, 30)

Case = tuple[Record, list[Sighting], UpdatePolicy]
"""A record, what was seen of it, and the policy that decides."""

DAYS = st.integers(1, 30).map(lambda day: f"2026-11-{day:02}")
ADDRESSES = st.sampled_from([ENDPOINT_ADDRESS, ERROR_ADDRESS, LIMITS_ADDRESS])
TELLING = [Outcome.CONFORMS, Outcome.DRIFTED, Outcome.RESTRICTED]
SILENT = tuple(outcome for outcome in Outcome if outcome not in TELLING)
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
    plan = plan_patch(record, sightings, policy, TODAY)
    return plan.record if isinstance(plan, Patch) else record


@given(cases())
def test_the_same_sightings_twice_change_nothing(case: Case) -> None:
    before, sightings, policy = case
    once = apply_sightings(before, sightings, policy)
    again = plan_patch(once, sightings, policy, TODAY)
    assert isinstance(again, NoPatch)
    assert again.reason


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(case: Case, random: Random) -> None:
    before, sightings, policy = case
    shuffled = list(sightings)
    random.shuffle(shuffled)
    assert plan_patch(before, shuffled, policy, TODAY) == plan_patch(before, sightings, policy, TODAY)


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
    assert plan_patch(before, sightings, policy, TODAY).reason


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
