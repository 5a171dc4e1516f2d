"""The pace of a lane in virtual time, and what a provider may ask it to wait."""

from __future__ import annotations

import asyncio
import math
from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import accumulate
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from catalog_probe.mockserver.core.buckets import TokenBucket
from catalog_probe.probes.running.pacing.rate_limiter import CATCH_UP_S, LATENESS_S, SHARE, RateLimiter, WaitTooLong
from catalog_probe.probes.running.pacing.rate_limits import RateLimitPolicy, parse_retry_after
from catalog_probe.probes.running.pacing.throttle import TOO_SHORT_S, LimitScope, Throttle
from tests.harness import virtual_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
ANYBODY = LimitScope(None, "inference", "")

PER_MINUTE = st.integers(1, 6_000)
GAPS = st.lists(st.one_of(st.just(0.0), st.floats(0, 3)), min_size=1, max_size=60)
"""Seconds from each request's arrival to the next one's."""
LATE = st.lists(st.floats(0, 0.5), max_size=60)
"""By how much the loop wakes too late, in seconds."""


def sent(
    per_minute: float | None,
    arrivals: Sequence[float],
    *,
    late_s: Iterable[float] = (),
    prepare: Callable[[RateLimiter], None] = lambda _: None,
    now: float = 1000.0,
) -> list[float]:
    """When each of the requests that arrive at these moments is sent, in the order of their arrival."""

    async def all_of_them(clock: Callable[[], float]) -> list[float]:
        limiter = RateLimiter(per_minute / 60 if per_minute else None, 60.0, clock)
        prepare(limiter)
        throttle = Throttle(RateLimitPolicy(), 60.0, clock=clock)
        moments = []

        async def one(arrival: float) -> None:
            await asyncio.sleep(arrival)
            await throttle.acquire(ANYBODY, limiter)
            moments.append(clock() - now)

        await asyncio.gather(*map(one, arrivals))
        return moments

    return virtual_time.run(all_of_them, now=now, late_s=late_s)


def most_within(moments: Sequence[float], seconds: float) -> int:
    """The most of these ascending moments that lie within any such time, its end left out."""
    return max(bisect_left(moments, begin + seconds - 1e-9) - index for index, begin in enumerate(moments))


def test_without_a_rate_nothing_waits() -> None:
    assert sent(None, [0.0, 0.0, 2.0]) == [0.0, 0.0, 2.0]


@given(PER_MINUTE, GAPS, LATE)
@example(3_000, [0.0] * 60, [0.5])
def test_no_window_holds_more_than_the_limit(per_minute: int, gaps: list[float], late_s: list[float]) -> None:
    moments = sent(per_minute, list(accumulate(gaps)), late_s=late_s)
    assert moments == sorted(moments)
    for seconds in (1.0, 7.0, 60.0):
        assert most_within(moments, seconds) <= max(1, math.ceil(per_minute * seconds / 60))


@given(PER_MINUTE, GAPS, LATE)
def test_a_bucket_of_a_second_refuses_nothing(per_minute: int, gaps: list[float], late_s: list[float]) -> None:
    bucket = TokenBucket(per_minute, max(1.0, per_minute / 60))
    assert all(bucket.take(1, moment + 1e-6) for moment in sent(per_minute, list(accumulate(gaps)), late_s=late_s))


@given(PER_MINUTE, GAPS)
def test_nobody_waits_who_need_not(per_minute: int, gaps: list[float]) -> None:
    """Each is sent as soon as it is there and an interval has passed since the one before."""
    arrivals, interval = list(accumulate(gaps)), 60 / per_minute / SHARE
    expected: list[float] = []
    for arrival in arrivals:
        expected.append(max(arrival, expected[-1] + interval) if expected else arrival)
    assert sent(per_minute, arrivals) == pytest.approx(expected, abs=1e-5)


@given(PER_MINUTE, st.lists(st.floats(0, CATCH_UP_S * 0.99), min_size=2, max_size=60))
def test_what_wakes_late_does_not_move_what_follows(per_minute: int, late_s: list[float]) -> None:
    moments, interval = sent(per_minute, [0.0] * len(late_s), late_s=late_s), 60 / per_minute / SHARE
    if interval <= LATENESS_S / CATCH_UP_S:
        assert all(-1e-5 <= moment - number * interval <= CATCH_UP_S for number, moment in enumerate(moments))


@given(st.integers(1, 3_000), st.lists(st.floats(0, LATENESS_S * 0.99), min_size=20, max_size=60))
def test_what_wakes_late_as_a_rule_loses_next_to_nothing(per_minute: int, late_s: list[float]) -> None:
    moments, interval = sent(per_minute, [0.0] * len(late_s), late_s=late_s), 60 / per_minute / SHARE
    assert moments[-1] - moments[0] <= (len(moments) - 1) * interval * 1.005 + LATENESS_S + 1e-5


def test_the_first_answer_tells_when_the_first_request_has_arrived_at_the_latest() -> None:
    """It had to wait for its connection, and the second need not."""
    now = [0.0]
    limiter = RateLimiter(1 / SHARE, 60.0, lambda: now[0])
    limiter.take_slot(0.0)
    now[0] = 0.3
    limiter.note_answer()
    assert limiter.wait_s() == pytest.approx(1.0)
    now[0] = 1.3
    limiter.take_slot(1.3)
    now[0] = 1.6
    limiter.note_answer()
    assert limiter.wait_s() == pytest.approx(0.7)


def test_an_answer_to_nothing_takes_no_place() -> None:
    limiter = RateLimiter(1 / SHARE, 60.0, lambda: 5.0)
    limiter.note_answer()
    assert limiter.wait_s() == 0.0


def test_two_that_are_due_at_once_take_a_place_each() -> None:
    limiter = RateLimiter(1 / SHARE, 60.0, lambda: 5.0)
    limiter.take_slot(5.0)
    limiter.take_slot(5.0)
    assert limiter.wait_s() == pytest.approx(2.0)


def test_what_is_left_of_a_pause_and_the_time_between_two_requests_are_told() -> None:
    now = [100.0]
    limiter = RateLimiter(2 / SHARE, 60.0, lambda: now[0])
    assert limiter.interval_s == pytest.approx(0.5)
    assert limiter.paused_s == 0.0
    limiter.pause(5.0)
    now[0] += 2
    assert limiter.paused_s == pytest.approx(3.0)
    now[0] += 4
    assert limiter.paused_s == 0.0
    assert RateLimiter(None, 60.0).interval_s == 0.0


def test_time_that_nobody_used_is_not_saved_up() -> None:
    moments = sent(60 / SHARE, [0.0, 100.0, 100.0, 100.0])
    assert moments == pytest.approx([0.0, 100.0, 101.0, 102.0])


def test_the_first_turn_is_at_once_on_a_clock_that_begins_with_zero() -> None:
    assert sent(60, [0.0], now=0.0) == [0.0]


def test_what_no_clock_would_notice_is_not_waited_for() -> None:
    assert sent(None, [0.0], prepare=lambda limiter: limiter.pause(TOO_SHORT_S), now=0.0) == [0.0]


def test_a_pause_is_waited_out_once() -> None:
    def pause(limiter: RateLimiter) -> None:
        limiter.pause(7.0)
        limiter.pause(3.0)

    assert sent(None, [0.0, 0.0], prepare=pause) == [7.0, 7.0]


def test_after_a_pause_the_rate_is_what_it_was() -> None:
    """Nobody takes a place before a pause and uses it after."""
    moments = sent(60 / SHARE, [0.0] * 4, prepare=lambda limiter: limiter.pause(20.0))
    assert moments == pytest.approx([20.0, 21.0, 22.0, 23.0])


@pytest.mark.parametrize("asked", [60.5, 31_536_000.0, float("inf")])
def test_a_pause_beyond_the_budget_is_refused_at_once(asked: float) -> None:
    with pytest.raises(WaitTooLong, match="the budget is 60 s"):
        sent(None, [0.0], prepare=lambda limiter: limiter.pause(asked))


def test_a_pause_of_the_whole_budget_is_waited_for() -> None:
    assert sent(None, [0.0], prepare=lambda limiter: limiter.pause(60.0)) == [60.0]


@given(st.integers(0, 10**9))
def test_retry_after_in_seconds(seconds: int) -> None:
    assert parse_retry_after({"retry-after": str(seconds)}) == seconds


@given(st.timedeltas(timedelta(days=-400), timedelta(days=400)))
def test_retry_after_as_a_date(ahead: timedelta) -> None:
    at = (NOON + ahead).replace(microsecond=0)
    waited = parse_retry_after({"retry-after": format_datetime(at, usegmt=True)}, NOON)
    assert waited == max(0.0, (at - NOON).total_seconds())


@given(st.text())
def test_junk_is_no_time_to_wait(junk: str) -> None:
    waited = parse_retry_after({"retry-after": junk}, NOON)
    assert waited is None or waited >= 0.0


@pytest.mark.parametrize(
    "junk", ["", "-5", "soon", "1 minute", "Mon, 99 Foo 2026", "Mon, 01 Jan 99999 00:00:00 GMT", "nan"]
)
def test_some_junk(junk: str) -> None:
    assert not parse_retry_after({"retry-after": junk}, NOON)
    assert parse_retry_after({}) is None
