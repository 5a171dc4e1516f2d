"""The pace of one lane and its budget of requests, in virtual time."""

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

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.mockserver.core.limits import TokenBucket
from catalog_probe.probes.running.limits import Budget, RateLimitPolicy, parse_retry_after
from catalog_probe.probes.running.throttle import (
    CATCH_UP_S,
    LATENESS_S,
    SHARE,
    TOO_SHORT_S,
    LimitScope,
    RateLimiter,
    Throttle,
    WaitTooLong,
)
from catalog_probe.probes.targets.target import Provider, RunLimits
from tests.harness import virtual_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
SCOPE = LimitScope(None, "inference", "")

PER_MINUTE = st.integers(1, 6_000)
# Seconds from each request's arrival to the next one's.
GAPS = st.lists(st.one_of(st.just(0.0), st.floats(0, 3)), min_size=1, max_size=60)
# Seconds by which the loop wakes late.
LATE = st.lists(st.floats(0, 0.5), max_size=60)


def send_times(
    per_minute: float | None,
    arrivals: Sequence[float],
    *,
    late_s: Iterable[float] = (),
    prepare: Callable[[RateLimiter], None] = lambda _: None,
    now: float = 1000.0,
) -> list[float]:
    """Return when each request is sent, in order of arrival, for these arrival times."""

    async def all_of_them(clock: Callable[[], float]) -> list[float]:
        limiter = RateLimiter(per_minute / 60 if per_minute else None, 60.0, clock)
        prepare(limiter)
        throttle = Throttle(RateLimitPolicy(), 60.0, clock=clock)
        moments = []

        async def send(arrival: float) -> None:
            await asyncio.sleep(arrival)
            await throttle.acquire(SCOPE, limiter)
            moments.append(clock() - now)

        await asyncio.gather(*map(send, arrivals))
        return moments

    return virtual_time.run(all_of_them, now=now, late_s=late_s)


def count_in_window(moments: Sequence[float], seconds: float) -> int:
    """Return the most of these ascending moments in any window of so many seconds, end excluded."""
    return max(bisect_left(moments, begin + seconds - 1e-9) - index for index, begin in enumerate(moments))


def test_no_rate_means_no_wait() -> None:
    assert send_times(None, [0.0, 0.0, 2.0]) == [0.0, 0.0, 2.0]


@given(PER_MINUTE, GAPS, LATE)
@example(3_000, [0.0] * 60, [0.5])
def test_no_window_holds_more_than_the_limit(per_minute: int, gaps: list[float], late_s: list[float]) -> None:
    moments = send_times(per_minute, list(accumulate(gaps)), late_s=late_s)
    assert moments == sorted(moments)
    for seconds in (1.0, 7.0, 60.0):
        assert count_in_window(moments, seconds) <= max(1, math.ceil(per_minute * seconds / 60))


@given(PER_MINUTE, GAPS, LATE)
def test_one_second_bucket_refuses_nothing(per_minute: int, gaps: list[float], late_s: list[float]) -> None:
    bucket = TokenBucket(per_minute, max(1.0, per_minute / 60))
    assert all(
        bucket.take(1, moment + 1e-6) for moment in send_times(per_minute, list(accumulate(gaps)), late_s=late_s)
    )


@given(PER_MINUTE, GAPS)
def test_requests_are_sent_as_early_as_allowed(per_minute: int, gaps: list[float]) -> None:
    """At arrival, but not before an interval after the request before it."""
    arrivals, interval = list(accumulate(gaps)), 60 / per_minute / SHARE
    expected: list[float] = []
    for arrival in arrivals:
        expected.append(max(arrival, expected[-1] + interval) if expected else arrival)
    assert send_times(per_minute, arrivals) == pytest.approx(expected, abs=1e-5)


@given(PER_MINUTE, st.lists(st.floats(0, CATCH_UP_S * 0.99), min_size=2, max_size=60))
def test_late_wake_up_does_not_delay_later_requests(per_minute: int, late_s: list[float]) -> None:
    moments, interval = send_times(per_minute, [0.0] * len(late_s), late_s=late_s), 60 / per_minute / SHARE
    if interval <= LATENESS_S / CATCH_UP_S:
        assert all(-1e-5 <= moment - number * interval <= CATCH_UP_S for number, moment in enumerate(moments))


@given(st.integers(1, 3_000), st.lists(st.floats(0, LATENESS_S * 0.99), min_size=20, max_size=60))
def test_constant_lateness_hardly_lowers_the_rate(per_minute: int, late_s: list[float]) -> None:
    moments, interval = send_times(per_minute, [0.0] * len(late_s), late_s=late_s), 60 / per_minute / SHARE
    assert moments[-1] - moments[0] <= (len(moments) - 1) * interval * 1.005 + LATENESS_S + 1e-5


def test_first_answer_bounds_the_arrival_of_the_first_request() -> None:
    """The first request waited for its connection, the second does not."""
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


def test_answer_without_request_takes_no_slot() -> None:
    limiter = RateLimiter(1 / SHARE, 60.0, lambda: 5.0)
    limiter.note_answer()
    assert limiter.wait_s() == 0.0


def test_two_requests_at_once_take_two_slots() -> None:
    limiter = RateLimiter(1 / SHARE, 60.0, lambda: 5.0)
    limiter.take_slot(5.0)
    limiter.take_slot(5.0)
    assert limiter.wait_s() == pytest.approx(2.0)


def test_paused_s_and_interval_s() -> None:
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


def test_unused_time_is_not_saved() -> None:
    moments = send_times(60 / SHARE, [0.0, 100.0, 100.0, 100.0])
    assert moments == pytest.approx([0.0, 100.0, 101.0, 102.0])


def test_first_request_at_clock_zero_is_sent_at_once() -> None:
    assert send_times(60, [0.0], now=0.0) == [0.0]


def test_tiny_pause_is_not_waited_for() -> None:
    assert send_times(None, [0.0], prepare=lambda limiter: limiter.pause(TOO_SHORT_S), now=0.0) == [0.0]


def test_overlapping_pauses_are_waited_for_once() -> None:
    def pause(limiter: RateLimiter) -> None:
        limiter.pause(7.0)
        limiter.pause(3.0)

    assert send_times(None, [0.0, 0.0], prepare=pause) == [7.0, 7.0]


def test_rate_is_kept_after_a_pause() -> None:
    """No slot taken before the pause is used after it."""
    moments = send_times(60 / SHARE, [0.0] * 4, prepare=lambda limiter: limiter.pause(20.0))
    assert moments == pytest.approx([20.0, 21.0, 22.0, 23.0])


@pytest.mark.parametrize("pause_s", [60.5, 31_536_000.0, float("inf")])
def test_pause_beyond_the_budget_is_refused(pause_s: float) -> None:
    with pytest.raises(WaitTooLong, match="the budget is 60 s"):
        send_times(None, [0.0], prepare=lambda limiter: limiter.pause(pause_s))


def test_pause_of_the_whole_budget_is_waited_for() -> None:
    assert send_times(None, [0.0], prepare=lambda limiter: limiter.pause(60.0)) == [60.0]


@given(st.integers(0, 10**9))
def test_retry_after_in_seconds(seconds: int) -> None:
    assert parse_retry_after({"retry-after": str(seconds)}) == seconds


@given(st.timedeltas(timedelta(days=-400), timedelta(days=400)))
def test_retry_after_as_a_date(ahead: timedelta) -> None:
    moment = (NOON + ahead).replace(microsecond=0)
    wait_s = parse_retry_after({"retry-after": format_datetime(moment, usegmt=True)}, NOON)
    assert wait_s == max(0.0, (moment - NOON).total_seconds())


@given(st.text())
def test_any_retry_after_is_a_wait_or_none(junk: str) -> None:
    wait_s = parse_retry_after({"retry-after": junk}, NOON)
    assert wait_s is None or wait_s >= 0.0


def test_malformed_retry_after_is_ignored(subtests: pytest.Subtests) -> None:
    cases: list[str] = ["", "-5", "soon", "1 minute", "Mon, 99 Foo 2026", "Mon, 01 Jan 99999 00:00:00 GMT", "nan"]
    for junk in cases:
        with subtests.test(junk=junk):
            assert not parse_retry_after({"retry-after": junk}, NOON)
            assert parse_retry_after({}) is None


def budget_spent(detail: str) -> Reason:
    return Reason(ReasonCode.BUDGET_SPENT, f"providers.pa.{detail}")


def test_requests_are_refused_beyond_the_budget() -> None:
    budget = Budget(Provider("pa", limits=RunLimits(max_requests=2)))
    assert [budget.take_request() for _ in range(2)] == [None, None]
    for _ in range(2):  # what was not sent is not counted
        assert budget.take_request() == budget_spent("max_requests = 2; 2 requests sent, 0 tokens reserved")


def test_tokens_are_refused_beyond_the_budget(subtests: pytest.Subtests) -> None:
    for limit in [0, 100]:
        with subtests.test(limit=limit):
            budget = Budget(Provider("pa", limits=RunLimits(max_tokens=limit)))
            budget.take_request()
            assert budget.reserve_tokens(limit // 2) is None
            refused = budget_spent(f"max_tokens = {limit}; 1 requests sent, {limit // 2} tokens reserved")
            assert budget.reserve_tokens(limit // 2 + 1) == refused
            assert budget.reserve_tokens(limit // 2) is None, "one that takes less may"
            assert budget.reserve_tokens(1) == budget_spent(
                f"max_tokens = {limit}; 1 requests sent, {limit} tokens reserved"
            )
            assert budget.reserve_tokens(0) is None, "and one that takes none"


def test_budget_without_limits_refuses_nothing() -> None:
    budget = Budget(Provider("pa"))
    assert {budget.take_request() for _ in range(3)} == {budget.reserve_tokens(10**9) for _ in range(3)} == {None}
    assert (budget.requests, budget.tokens) == (3, 3 * 10**9)
