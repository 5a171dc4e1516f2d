"""Properties of evidence per assertion and endpoint: independent of order, and read as written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.check.assertion_checks import wrong_tags
from catalog_probe.catalog.evidence.causes import ABSENT
from catalog_probe.catalog.model import Outcome, Record, Tag
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.observed import Cell, cells_of, is_expired, resolved_assumptions
from catalog_probe.catalog.writeback.planner import NoPatch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.record_evidence import Sighting
from tests.unit.catalog.catalog_factories import (
    ENDPOINT_ADDRESS,
    ERROR_ADDRESS,
    make_exchange,
    make_record,
    make_sighting,
)
from tests.unit.catalog.evidence_factories import (
    ASSUMED,
    DOCUMENTED_KEYS,
    LOCAL_KEYS,
    OTHER_ENDPOINT,
    POLICY,
    TODAY,
    apply_nights,
    apply_nights_one_by_one,
    list_assertions,
    make_night,
)

if TYPE_CHECKING:
    from random import Random

# made once, for to make a strategy takes longer than to draw from it
FATES = st.lists(
    st.sampled_from(["stated", "absent", "403", "unseen"]), min_size=len(LOCAL_KEYS), max_size=len(LOCAL_KEYS)
)
ENDPOINTS = st.sampled_from([ENDPOINT_ADDRESS, OTHER_ENDPOINT, ""])
OUTCOMES = st.sampled_from([Outcome.CONFORMS, Outcome.DRIFTED, Outcome.INCONCLUSIVE, Outcome.FLAKY])
RUNS = st.sampled_from(["r1", "r2", "r3"])


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    by_key = dict(zip(LOCAL_KEYS, draw(FATES), strict=True))
    return Observation(
        draw(ENDPOINTS),
        "answer",
        tuple(key for key, fate in by_key.items() if fate == "stated"),
        {key: fate for key, fate in by_key.items() if fate in ("absent", "403")},
        {key: "no-body" for key, fate in by_key.items() if fate == "unseen"},
    )


SOME_OBSERVATIONS = st.lists(observations(), min_size=1, max_size=3)
ONE_OBSERVATION_PER_CELL = st.lists(
    observations(), min_size=1, max_size=2, unique_by=lambda observation: (observation.label, observation.endpoint)
)


@st.composite
def nights(draw: st.DrawFn) -> list[Sighting]:
    return [
        make_night(
            f"2026-11-{draw(st.integers(1, 30)):02}", *draw(SOME_OBSERVATIONS), outcome=draw(OUTCOMES), run=draw(RUNS)
        )
        for _ in range(draw(st.integers(0, 5)))
    ]


@given(nights(), st.randoms(use_true_random=False))
def test_evidence_does_not_depend_on_the_order_of_runs(sightings: list[Sighting], random: Random) -> None:
    shuffled = list(sightings)
    random.shuffle(shuffled)
    assert apply_nights(make_record(), *shuffled).data == apply_nights(make_record(), *sightings).data


@st.composite
def nights_of_other_days(draw: st.DrawFn) -> list[Sighting]:
    """Nights of a record some of which is assumed, a day each, with every outcome that leaves something behind."""
    days = draw(st.lists(st.integers(1, 29), max_size=4, unique=True))
    outcomes = [Outcome.CONFORMS, Outcome.DRIFTED, Outcome.RESTRICTED, Outcome.INCONCLUSIVE]
    sightings = []
    for day in days:
        exchange = make_exchange(draw(st.sampled_from([403, 429])), draw(st.sampled_from(["Slow.", "Wait.", ""])))
        sighting = make_sighting(draw(st.sampled_from(outcomes)), f"2026-11-{day:02}", f"r{day}", exchange=exchange)
        sightings.append(
            Sighting(sighting.run, replace(sighting.result, observations=tuple(draw(ONE_OBSERVATION_PER_CELL))))
        )
    return sightings


@given(nights_of_other_days(), st.booleans(), st.data())
def test_the_record_does_not_depend_on_the_order_of_updates(
    sightings: list[Sighting], assumes: bool, data: st.DataObject
) -> None:
    """To the letter where each date is the newest, but for the words of the example.

    Of more than two observations that go back and forth, the day since which an assumption is resolved is that of one.
    """
    before, exact = make_record(**(ASSUMED if assumes else {})), UpdatePolicy(refresh_after=0)
    at_once = apply_nights(before, *sightings, policy=exact)
    shuffled = apply_nights_one_by_one(before, data.draw(st.permutations(sightings)), exact)
    if max(len(sightings), sum(len(night.result.observations) for night in sightings)) <= 2:
        assert {**shuffled.data, "example": None} == {**at_once.data, "example": None}
    assert drop_example_and_days(shuffled) == drop_example_and_days(at_once)
    assert list_resolved_classes(shuffled) == list_resolved_classes(at_once)


@given(nights_of_other_days(), st.booleans())
def test_only_fresh_dates_depend_on_the_order_of_updates(sightings: list[Sighting], assumes: bool) -> None:
    """Two runs within the week, either first: the same cells, tags and words, under dates of the one or the other."""
    two = sorted(sightings, key=lambda night: night.day)[:2]
    before = make_record(**(ASSUMED if assumes else {}))
    first, second = (apply_nights_one_by_one(before, order, POLICY) for order in (two, two[::-1]))
    first_cells, second_cells = (cells_of(copy, list_assertions(copy)) for copy in (first, second))
    assert {at: cell.mismatch for at, cell in first_cells.items()} == {
        at: cell.mismatch for at, cell in second_cells.items()
    }
    assert list_resolved_classes(first) == list_resolved_classes(second)
    assert first.data["status"] == second.data["status"]
    assert first.data.get("live_messages") == second.data.get("live_messages")


def list_resolved_classes(record: Record) -> dict[str, str]:
    return {
        key: resolution.observed for key, resolution in resolved_assumptions(record, list_assertions(record)).items()
    }


def drop_example_and_days(record: Record) -> dict[str, Any]:
    evidence = {key: value for key, value in record.data.get("evidence", {}).items() if key != "resolved"}
    return {**record.data, "evidence": evidence, "example": None}


@given(nights())
def test_the_same_runs_again_change_nothing(sightings: list[Sighting]) -> None:
    once = apply_nights(make_record(), *sightings)
    assert isinstance(plan_patch(once, sightings, POLICY, TODAY, list_assertions(once)), NoPatch)


@given(nights())
def test_the_last_observation_is_read_back(sightings: list[Sighting]) -> None:
    once = apply_nights(make_record(), *sightings, policy=UpdatePolicy(refresh_after=0))
    cells = cells_of(once, list_assertions(once))
    last: dict[tuple[str, str], Cell] = {}
    conclusive = [night for night in sightings if night.result.outcome in (Outcome.CONFORMS, Outcome.DRIFTED)]
    for current in sorted(conclusive, key=lambda current: (current.day, current.at, current.run.run)):
        for observation in current.result.observations:
            for key, differs in [*((key, "") for key in observation.matched), *observation.mismatched.items()]:
                last[observation.endpoint or ERROR_ADDRESS, f"answer/{key}"] = Cell(current.day, differs)
    days = {place: cell.on for place, cell in last.items()}
    assert {place: cells[place].on for place in last} == days
    assert all(cell.on is None for place, cell in cells.items() if place not in last)


@given(nights())
def test_verified_means_that_every_documented_assertion_matched_last(sightings: list[Sighting]) -> None:
    """Both ways: the tag stands exactly where every documented assertion was last seen as stated."""
    once = apply_nights(make_record(), *sightings)
    cells = cells_of(once, list_assertions(once))
    all_matched = {key for (_, key), cell in cells.items() if cell.on and not cell.mismatch} >= DOCUMENTED_KEYS
    # nothing at a place that is assumed settles where it stands, and differs from no row
    assumed_locations = {
        str(assertion.key) for assertion in list_assertions(once) if assertion.is_only_location_assumed
    }
    is_mismatched = any(
        cell.mismatch and (key in DOCUMENTED_KEYS or (key in assumed_locations and cell.mismatch != ABSENT))
        for (_, key), cell in cells.items()
    )
    assert (Tag.LIVE_VERIFIED in once.tags) == (bool(cells) and all_matched and not is_mismatched)
    assert len(once.tags & {Tag.LIVE_VERIFIED, Tag.UNVERIFIED}) == 1


@given(nights(), st.integers(0, 40))
def test_expired_evidence_is_unverified_and_stays_readable(sightings: list[Sighting], days: int) -> None:
    """Both ways: an expiry takes the tag exactly where some documented assertion was not seen as stated since."""
    not_expired = apply_nights(make_record(), *sightings, policy=UpdatePolicy(refresh_after=0))
    once = apply_nights(make_record(), *sightings, policy=UpdatePolicy(refresh_after=0, expire_after=days))
    cells = cells_of(once, list_assertions(once))
    assert cells == cells_of(not_expired, list_assertions(not_expired))
    current = {key for (_, key), cell in cells.items() if cell.on and (TODAY - cell.on).days <= days}
    expired = Tag.LIVE_VERIFIED in not_expired.tags and not current >= DOCUMENTED_KEYS
    assert (Tag.LIVE_VERIFIED in once.tags) == (Tag.LIVE_VERIFIED in not_expired.tags and not expired)
    assert (Tag.UNVERIFIED in once.tags) == (Tag.UNVERIFIED in not_expired.tags or expired)
    assert is_expired(once) == expired
    assert list(wrong_tags(once, list_assertions(once))) == []
