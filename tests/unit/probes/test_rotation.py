"""What a night draws: every endpoint of every record within four weeks, and never less than what differs."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Address, Record
from catalog_probe.probes.planning.rotation import ALL_ENDPOINTS, ROUND_DAYS, Depth, Rotation, is_due

ADDRESSES = st.from_regex(r"p[a-d]/errors/[a-z_]{1,12}/[a-z_]{1,20}", fullmatch=True)
ENDPOINTS = st.from_regex(r"p[a-d]/endpoints/[a-z_]{1,12}/[a-z_]{1,20}", fullmatch=True)
DAYS = st.dates(date(2020, 1, 1), date(2100, 1, 1))


def record(address: str, *differing: str) -> Record:
    lines = {endpoint: {"on": "2026-11-01", "mismatched": {"answer/status": "403"}} for endpoint in differing}
    evidence = {"evidence": {"statements": "0", "endpoints": lines}} if lines else {}
    return Record(Address.parse(address), {"endpoints": [], **evidence})


@given(ADDRESSES, ENDPOINTS, DAYS)
def test_each_comes_round_once_in_four_weeks_whatever_day_they_begin(address: str, endpoint: str, first: date) -> None:
    days = [first + timedelta(days=number) for number in range(ROUND_DAYS)]
    assert sum(is_due(address, endpoint, day) for day in days) == 1


@given(ADDRESSES, st.lists(ENDPOINTS, unique=True, max_size=12), st.data())
def test_a_deeper_run_draws_all_that_a_shallower_one_does(
    address: str, endpoints: list[str], data: st.DataObject
) -> None:
    day = data.draw(DAYS)
    differing = data.draw(st.lists(st.sampled_from(endpoints), unique=True)) if endpoints else []
    probed = record(address, *differing)
    drawn = {depth: {each for each in endpoints if Rotation(depth, day).includes(probed, each)} for depth in Depth}
    assert drawn[Depth.QUICK] == set()
    assert set(differing) <= drawn[Depth.ROTATE]
    assert drawn[Depth.ROTATE] <= drawn[Depth.FULL] == set(endpoints)


@given(ADDRESSES, ENDPOINTS, ENDPOINTS, DAYS)
def test_what_else_is_merged_moves_nobody_to_another_day(address: str, endpoint: str, other: str, day: date) -> None:
    drawing = Rotation(Depth.ROTATE, day)
    assert drawing.includes(record(address), endpoint) == is_due(address, endpoint, day)
    if other != endpoint:
        assert drawing.includes(record(address, other), endpoint) == is_due(address, endpoint, day)


def test_a_run_that_says_nothing_draws_all() -> None:
    assert ALL_ENDPOINTS.includes(record("pa/errors/general/x"), "pa/endpoints/models/list_models")
