"""Which runs are halved, and how: whole lanes, and about as much for each process."""

from __future__ import annotations

import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.suite import halved
from reports import page_process

GROUPS = {"pa": ["a"] * 3, "pb": ["b"] * 5, "pc": ["c"] * 4}


@pytest.fixture(autouse=True)
def worth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large enough, on a machine of two cores, with no thread but one."""
    monkeypatch.setattr(page_process, "is_worth_it", lambda records: records >= 3)
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(sys, "platform", "linux")


def test_a_large_run_of_several_lanes_is_worth_it() -> None:
    assert halved.is_worth_it(GROUPS)


@pytest.mark.parametrize("groups", [{}, {"pa": ["a"] * 9}, {"pa": ["a"], "pb": ["b"]}])
def test_a_small_one_and_one_lane_are_not(groups: dict[str, list[str]]) -> None:
    assert not halved.is_worth_it(groups)


def test_a_process_with_threads_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert not halved.is_worth_it(GROUPS)


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_nor_elsewhere_than_on_linux(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert not halved.is_worth_it(GROUPS)


@given(st.lists(st.integers(1, 150), min_size=2, max_size=15))
def test_both_have_some_and_about_as_much(sizes: list[int]) -> None:
    groups = {str(number): ["x"] * size for number, size in enumerate(sizes)}
    chosen = halved.half(groups)
    theirs = sum(len(groups[each]) for each in chosen)
    assert 0 < theirs < sum(sizes)
    assert abs(sum(sizes) - 2 * theirs) <= max(sizes)


@given(st.lists(st.integers(1, 150), min_size=2, max_size=15), st.data())
def test_those_that_are_to_be_first_are_asked_elsewhere_and_the_rest_makes_up_for_it(
    sizes: list[int], data: st.DataObject
) -> None:
    groups = {str(number): ["x"] * size for number, size in enumerate(sizes)}
    first = data.draw(st.sets(st.sampled_from([*groups])))
    chosen = halved.half(groups, first)
    assert 0 < len(chosen) < len(groups)
    assert first <= chosen or len(first) == len(groups)
    theirs, before = (sum(len(groups[each]) for each in those) for those in (chosen, first))
    assert chosen == first or abs(sum(sizes) - 2 * theirs) <= max(*sizes, before)


PROVIDERS = {"pa:a": ["x"] * 100, "pa:b": ["x"] * 98, "pb:a": ["x"] * 139, "pc:a": ["x"] * 122, "pd:a": ["x"] * 52}


def test_the_lanes_of_a_provider_stay_together_where_that_is_about_a_half() -> None:
    assert halved.half(PROVIDERS, ["pd:a"]) == {"pa:a", "pa:b", "pd:a"}
    of_one_and_little_else = {**{name: its for name, its in PROVIDERS.items() if name.startswith("pa")}, "pb:a": ["x"]}
    assert halved.half(of_one_and_little_else) in ({"pa:a"}, {"pa:b", "pb:a"})
