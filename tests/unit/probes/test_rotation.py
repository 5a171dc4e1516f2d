"""Which endpoints a night draws: each within four weeks, and always those that differ."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Address, Record
from catalog_probe.probes.planning.rotation import ALL_ENDPOINTS, ROUND_DAYS, Depth, Rotation, is_due

ADDRESSES = st.from_regex(r"p[a-d]/errors/[a-z_]{1,12}/[a-z_]{1,20}", fullmatch=True)
ENDPOINTS = st.from_regex(r"p[a-d]/endpoints/[a-z_]{1,12}/[a-z_]{1,20}", fullmatch=True)
DAYS = st.dates(date(2020, 1, 1), date(2100, 1, 1))


def make_record(address: str, *differing: str) -> Record:
    lines = {endpoint: {"on": "2026-11-01", "mismatched": {"answer/status": "403"}} for endpoint in differing}
    evidence = {"evidence": {"statements": "0", "endpoints": lines}} if lines else {}
    return Record(Address.parse(address), {"endpoints": [], **evidence})


@given(ADDRESSES, ENDPOINTS, DAYS)
def test_each_endpoint_is_due_once_in_four_weeks(address: str, endpoint: str, first: date) -> None:
    days = [first + timedelta(days=number) for number in range(ROUND_DAYS)]
    assert sum(is_due(address, endpoint, day) for day in days) == 1


@given(ADDRESSES, st.lists(ENDPOINTS, unique=True, max_size=12), st.data())
def test_deeper_run_includes_the_shallower_one(address: str, endpoints: list[str], data: st.DataObject) -> None:
    day = data.draw(DAYS)
    differing = data.draw(st.lists(st.sampled_from(endpoints), unique=True)) if endpoints else []
    probed = make_record(address, *differing)
    drawn = {
        depth: {endpoint for endpoint in endpoints if Rotation(depth, day).includes(probed, endpoint)}
        for depth in Depth
    }
    assert drawn[Depth.QUICK] == set()
    assert set(differing) <= drawn[Depth.ROTATE]
    assert drawn[Depth.ROTATE] <= drawn[Depth.FULL] == set(endpoints)


@given(ADDRESSES, ENDPOINTS, ENDPOINTS, DAYS)
def test_due_day_does_not_depend_on_other_endpoints(address: str, endpoint: str, other: str, day: date) -> None:
    drawing = Rotation(Depth.ROTATE, day)
    assert drawing.includes(make_record(address), endpoint) == is_due(address, endpoint, day)
    if other != endpoint:
        assert drawing.includes(make_record(address, other), endpoint) == is_due(address, endpoint, day)


def test_all_endpoints_by_default() -> None:
    assert ALL_ENDPOINTS.includes(make_record("pa/errors/general/x"), "pa/endpoints/models/list_models")
