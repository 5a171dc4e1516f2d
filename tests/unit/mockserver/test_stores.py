"""Sessions and their stored state are bounded; the oldest entry is dropped first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import sessions as stores
from catalog_probe.mockserver.core.limits import SlidingWindow
from catalog_probe.mockserver.core.sessions import MAX_ENDPOINTS, OTHERS, BoundedStore, Session, Sessions

if TYPE_CHECKING:
    import pytest

    from tests.unit.mockserver.mock_client import PcClient


def test_a_store_holds_so_many_things_and_the_oldest_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "MAX_ITEMS", 3)
    store: BoundedStore[str, int] = BoundedStore()
    for name in "abca":
        store[name] = len(store)
    assert store.newest_first() == [3, 2, 1]
    store["d"] = 4
    assert list(store) == ["c", "a", "d"]
    del store["a"]
    store["e"] = 5
    assert list(store) == ["c", "d", "e"]


def test_stored_responses_of_one_session_are_bounded(pc: PcClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "MAX_ITEMS", 3)
    first = pc.respond().json()["id"]
    newer_ids = [pc.respond().json()["id"] for _ in range(3)]
    assert pc.ask("GET", f"/v1/responses/{first}").status_code == 404
    assert {pc.ask("GET", f"/v1/responses/{name}").status_code for name in newer_ids} == {200}


def test_endpoints_and_scenarios_are_counted_without_end_in_a_bounded_number() -> None:
    session = Session("many")
    for number in range(MAX_ENDPOINTS + 50):
        session.count_request(f"GET /{number}")
        session.count_scenario_use(f"overloaded;times={number + 1}")
    assert (session.requests.total(), session.requests[OTHERS]) == (MAX_ENDPOINTS + 50, 50)
    assert len(session.scenario_uses) == MAX_ENDPOINTS


def test_a_sliding_window_keeps_a_sum_for_each_period() -> None:
    window = SlidingWindow(600, period_s=1)
    for number in range(10_000):
        window.add(0.5, 100 + number / 1_000)
    assert (window.total(now=110), len(window.sums)) == (5_000, 10)
    assert window.total(now=100 + 600) == 4_500
    assert (window.total(now=200 + 600), len(window.sums)) == (0.0, 0)


def test_sessions_are_bounded_and_the_least_recently_used_goes_first() -> None:
    sessions = Sessions(limit=2)
    first = sessions.get("first")
    sessions.get("second")
    assert sessions.get("first") is first
    sessions.get("third")
    assert sessions.peek("second") is None
    assert sessions.peek("first") is first


def test_identifiers_are_the_same_in_every_run_of_a_session() -> None:
    ids = [[Sessions().get(name).new_id("req_") for _ in range(1)] for name in ("a", "a", "b")]
    assert ids[0] == ids[1] != ids[2]
