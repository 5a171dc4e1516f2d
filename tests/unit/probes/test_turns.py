"""How many requests are under way at once on a mock, and whose are next."""

from __future__ import annotations

import asyncio

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.running.turns import Turns
from tests.harness import virtual_time


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=1, max_size=12), st.integers(1, 4))
def test_so_many_are_under_way_and_all_come_to_their_end(attempts: list[tuple[int, int]], at_once: int) -> None:
    turns = Turns(at_once)
    under_way = 0
    most = list[int]()
    sent = list[int]()

    async def attempt(began: int, requests: int) -> None:
        nonlocal under_way
        for _ in range(requests):
            await turns.take(began)
            under_way += 1
            most.append(under_way)
            await anyio.lowlevel.checkpoint()
            under_way -= 1
            sent.append(began)
            turns.leave()

    async def all_of_them(_: object) -> None:
        for _ in range(2):  # what is given back when nobody waits is one turn each
            async with anyio.create_task_group() as group:
                for each in attempts:
                    group.start_soon(attempt, *each)

    virtual_time.run(all_of_them)
    assert max(most) == min(at_once, len(attempts))
    assert sorted(sent) == sorted(began for began, requests in attempts for _ in range(2 * requests))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_of_those_who_wait_it_is_whoever_began_first(began: list[int]) -> None:
    turns = Turns(1)
    order = list[tuple[int, int]]()

    async def request(number: int, since: int) -> None:
        await turns.take(since)
        order.append((since, number))
        turns.leave()

    async def all_of_them(_: object) -> None:
        await turns.take(0)
        async with anyio.create_task_group() as group:
            for each in enumerate(began):
                group.start_soon(request, *each)
            await anyio.wait_all_tasks_blocked()
            assert not order
            turns.leave()

    virtual_time.run(all_of_them)
    assert order == sorted(order), "and of those who began at the same time, whoever came first"


@pytest.mark.parametrize("given_first", [False, True])
def test_a_turn_is_not_lost_with_who_waited_for_it(*, given_first: bool) -> None:
    """Also where it was given in the moment in which the one who waited gave up."""

    async def give_up(_: object) -> None:
        turns = Turns(1)
        await turns.take(0)
        waiting = asyncio.create_task(turns.take(1))
        await asyncio.sleep(0)
        if given_first:
            turns.leave()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        if not given_first:
            turns.leave()
        await turns.take(2)

    virtual_time.run(give_up)


def test_without_a_bound_nobody_waits() -> None:
    async def all_at_once(_: object) -> None:
        turns = Turns()
        for each in range(1_000):
            await turns.take(each)
        turns.leave()

    virtual_time.run(all_at_once)
