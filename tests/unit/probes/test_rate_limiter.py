"""The pace of a lane on a clock of the test's own, and what a provider may ask it to wait."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.running.rate_limiter import CAUGHT_UP, TOO_SHORT_S, RateLimiter, WaitTooLong
from probes.running.rate_limits import retry_after_s

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def turns(limiter: RateLimiter, clock: Clock, count: int) -> list[float]:
    """When each of so many turns was admitted."""

    async def take() -> list[float]:
        admitted = []
        for _ in range(count):
            await limiter.acquire()
            admitted.append(clock.now - 1000.0)
        return admitted

    return asyncio.run(take())


def test_without_a_rate_nothing_waits() -> None:
    clock = Clock()
    assert turns(RateLimiter(None, 60.0, clock, clock.sleep), clock, 3) == [0.0, 0.0, 0.0]


@given(st.floats(0.1, 1000), st.integers(2, 20))
def test_a_rate_is_kept(rate: float, count: int) -> None:
    clock = Clock()
    admitted = turns(RateLimiter(rate, 1e9, clock, clock.sleep), clock, count)
    assert admitted[0] == 0.0
    assert admitted[-1] == pytest.approx((count - 1) / rate)


@given(st.floats(0.1, 1000), st.lists(st.floats(0, 3), min_size=2, max_size=20))
def test_what_wakes_late_is_caught_up_and_never_in_a_burst(rate: float, late: list[float]) -> None:
    """`late`: by how many intervals each sleep ends too late."""
    clock = Clock()
    lateness = iter(late)

    async def sleep(seconds: float) -> None:
        clock.now += seconds + next(lateness, 0.0) / rate

    admitted = turns(RateLimiter(rate, 1e9, clock, sleep), clock, len(late) + 1)
    gaps = [after - before for before, after in pairwise(admitted)]
    assert min(gaps) * rate >= 1 - CAUGHT_UP - 1e-6
    if max(late) <= CAUGHT_UP:
        assert admitted[-1] * rate == pytest.approx(len(late), abs=CAUGHT_UP + 1e-6)


def test_time_that_nobody_used_is_not_saved_up() -> None:
    clock = Clock()
    limiter = RateLimiter(1.0, 60.0, clock, clock.sleep)
    turns(limiter, clock, 1)
    clock.now += 100.0
    assert turns(limiter, clock, 3) == [100.0, 101.0, 102.0]


def test_the_first_turn_is_at_once_on_a_clock_that_begins_with_zero() -> None:
    clock = Clock(0.0)
    turns(RateLimiter(1.0, 60.0, clock, clock.sleep), clock, 1)
    assert clock.now == 0.0


def test_what_no_clock_would_notice_is_not_waited_for() -> None:
    clock = Clock(0.0)
    limiter = RateLimiter(None, 60.0, clock, clock.sleep)
    limiter.pause(TOO_SHORT_S)
    turns(limiter, clock, 1)
    assert clock.now == 0.0


def test_a_pause_is_waited_out_once() -> None:
    clock = Clock()
    limiter = RateLimiter(None, 60.0, clock, clock.sleep)
    limiter.pause(7.0)
    limiter.pause(3.0)
    assert turns(limiter, clock, 2) == [7.0, 7.0]


@pytest.mark.parametrize("asked", [60.5, 31_536_000.0, float("inf")])
def test_a_pause_beyond_the_budget_is_refused_at_once(asked: float) -> None:
    clock = Clock()
    limiter = RateLimiter(None, 60.0, clock, clock.sleep)
    limiter.pause(asked)
    with pytest.raises(WaitTooLong, match="the budget is 60 s"):
        turns(limiter, clock, 1)
    assert clock.now == 1000.0


@given(st.integers(0, 10**9))
def test_retry_after_in_seconds(seconds: int) -> None:
    assert retry_after_s({"retry-after": str(seconds)}) == seconds


@given(st.timedeltas(timedelta(days=-400), timedelta(days=400)))
def test_retry_after_as_a_date(ahead: timedelta) -> None:
    at = (NOON + ahead).replace(microsecond=0)
    waited = retry_after_s({"retry-after": format_datetime(at, usegmt=True)}, NOON)
    assert waited == max(0.0, (at - NOON).total_seconds())


@given(st.text())
def test_junk_is_no_time_to_wait(junk: str) -> None:
    waited = retry_after_s({"retry-after": junk}, NOON)
    assert waited is None or waited >= 0.0


@pytest.mark.parametrize("junk", ["", "soon", "1 minute", "Mon, 99 Foo 2026", "Mon, 01 Jan 99999 00:00:00 GMT", "nan"])
def test_some_junk(junk: str) -> None:
    assert not retry_after_s({"retry-after": junk}, NOON)
    assert retry_after_s({}) is None
