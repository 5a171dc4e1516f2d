"""What the mock keeps is bounded: in one session and in all, in bytes, and the oldest goes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from mockserver.app import create_app
from mockserver.pb.quotas import SPEND_WINDOW_S, Window
from mockserver.sessions import MAX_ENDPOINTS, OTHERS, WEIGHED_EVERY, Session, Sessions
from mockserver.shelves import Shelf, held_in, weight
from tests.unit.mockserver.mock_client import Client

if TYPE_CHECKING:
    from tests.unit.mockserver.pc_client import PcClient

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.text() | st.integers(), lambda inner: st.lists(inner) | st.tuples(inner), max_leaves=5
)


@given(st.lists(st.tuples(st.integers(0, 9), VALUES)), st.integers(1, 2_000))
def test_a_shelf_holds_no_more_than_it_may_and_the_newest_in_any_case(things: list[Any], most: int) -> None:
    shelf: Shelf[int, Any] = Shelf(most)
    for key, value in things:
        shelf[key] = value
        assert shelf.newest_first()[0] == value
        assert shelf.held == sum(map(weight, shelf.values()))
        assert shelf.held <= most or len(shelf) == 1


def test_the_oldest_goes_first_and_what_is_deleted_is_given_back() -> None:
    shelf: Shelf[str, bytes] = Shelf(3_000)
    for name in "abcd":
        shelf[name] = bytes(900)
    assert list(shelf) == ["b", "c", "d"]
    del shelf["c"]
    assert (shelf.held, "c" in shelf) == (2 * weight(bytes(900)), False)


def test_stored_responses_of_one_session_are_bounded(pc: PcClient, monkeypatch: Any) -> None:
    session = pc.app.world.sessions.get("")
    first = pc.respond().json()["id"]
    (kept,) = [state for state in session._states.values() if hasattr(state, "responses")]
    kept.responses._most_bytes = 3 * kept.responses.held
    for _ in range(5):
        pc.respond()
    assert pc.ask("GET", f"/v1/responses/{first}").status_code == 404
    assert len(kept.responses) == 3


def test_uploads_are_given_back_when_they_are_deleted() -> None:
    client = Client(create_app(only=["pa"]))
    made = client.pa("POST", "/v1/files", files={"file": ("a", bytes(100_000), "text/plain")}).json()
    session = client.app.world.sessions.get("")
    assert session.held > 100_000
    client.pa("DELETE", f"/v1/files/{made['id']}")
    assert session.held == 0


def test_sessions_that_hold_too_much_together_are_forgotten_the_least_recently_used_first() -> None:
    class State:
        __dataclass_fields__ = ("shelf",)

        def __init__(self) -> None:
            self.shelf: Shelf[int, bytes] = Shelf()

    sessions = Sessions(most_bytes=2_500)
    for name in ("first", "second", "third"):
        state = sessions.get(name).state(State)
        state.shelf[0] = bytes(1_000)
        assert held_in(state) > 1_000
    for _ in range(WEIGHED_EVERY):
        sessions.get("third")
    assert [sessions.peek(name) is not None for name in ("first", "second", "third")] == [False, True, True]


def test_endpoints_and_scenarios_are_counted_without_end_in_a_bounded_number() -> None:
    session = Session("many")
    for number in range(MAX_ENDPOINTS + 50):
        session.count(f"GET /{number}")
        session.uses(f"overloaded;times={number + 1}")
    assert (session.requests.total(), session.requests[OTHERS]) == (MAX_ENDPOINTS + 50, 50)
    assert len(session.scenario_uses) == MAX_ENDPOINTS


def test_what_was_spent_in_ten_minutes_takes_a_sum_a_second() -> None:
    window = Window()
    for number in range(10_000):
        window.add(0.5, 100 + number / 1_000)
    assert (window.total, len(window.seconds)) == (5_000, 10)
    window.pass_to(100 + SPEND_WINDOW_S)
    assert window.total == 4_500
    window.pass_to(200 + SPEND_WINDOW_S)
    assert (window.total, len(window.seconds)) == (0.0, 0)
