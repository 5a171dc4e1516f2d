"""Requests keep to a token limit that answers state, however the provider counts, in virtual time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Response
from catalog_probe.catalog.reading.rate_limits import LimitHeaders, RateLimits
from catalog_probe.mockserver.core.limits import TokenBucket
from catalog_probe.probes.calls import Call, post
from catalog_probe.probes.running.limits import RateLimitPolicy
from catalog_probe.probes.running.throttle import (
    RESERVATION_S,
    RateLimiter,
    Throttle,
    TokenBudget,
    WaitTooLong,
    mark_answered,
)
from tests.harness import virtual_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp()
POLICY = RateLimitPolicy(RateLimits(limit_headers=(LimitHeaders("tokens", "limit", "remaining", "reset"),)))
LATENCY_S = 0.05
# An arbitrary clock value, so that no test relies on zero.
START = 100.0


class TokenRequest(NamedTuple):
    """The tokens that a request may take at most, and those it takes."""

    most: int
    taken: int


class TokenCounter(Protocol):
    """How a provider counts tokens."""

    def take(self, tokens: int, now: float) -> bool:
        """Count the tokens, and return whether the request is admitted."""

    def left(self, now: float) -> tuple[int, float]:
        """Return the remaining tokens, and the seconds until all are back."""


@dataclass
class BucketCounter:
    """A bucket that fills evenly (2:8.2)."""

    per_minute: int
    bucket: TokenBucket = field(init=False)

    def __post_init__(self) -> None:
        self.bucket = TokenBucket(self.per_minute)

    def take(self, tokens: int, now: float) -> bool:
        return self.bucket.take(tokens, now)

    def left(self, now: float) -> tuple[int, float]:
        return self.bucket.remaining(now), self.bucket.full_at(now) - now


@dataclass
class MinuteCounter:
    """A count per minute, which is reset at once."""

    per_minute: int
    used: int = 0
    minute: float = 0.0

    def take(self, tokens: int, now: float) -> bool:
        self._turn(now)
        if self.used + tokens > self.per_minute:
            return False
        self.used += tokens
        return True

    def left(self, now: float) -> tuple[int, float]:
        self._turn(now)
        return self.per_minute - self.used, 60 - now % 60

    def _turn(self, now: float) -> None:
        if now // 60 != self.minute:
            self.minute, self.used = now // 60, 0


@dataclass
class RunTotals:
    """The result of sending all requests."""

    seconds: float = 0.0
    refused: int = 0


CALL = post("/v1/responses", {"model": "any"}, credential=None)


def send_requests(
    counter: TokenCounter, per_minute: int, requests: Sequence[TokenRequest], *, states_remaining: bool = True
) -> RunTotals:
    """Send the first request, whose answer states the limit, and then all others at once."""

    async def all_of_them(clock: Callable[[], float]) -> RunTotals:
        throttle, limiter = Throttle(POLICY, 60.0, clock=clock), RateLimiter(None, 60.0, clock)
        totals = RunTotals()

        async def send(number: int, request: TokenRequest) -> None:
            answer_delay_s = LATENCY_S / 2 * (1 + number % 3)  # answers overtake one another
            scope = throttle.find_scope(CALL, "inference")
            reservations = await throttle.acquire(scope, limiter, request.most)
            await asyncio.sleep(LATENCY_S / 2)
            totals.refused += not counter.take(request.taken, clock())
            headers = stated_headers(counter, per_minute, clock()) if states_remaining else {"limit": str(per_minute)}
            await asyncio.sleep(answer_delay_s)
            throttle.learn(scope, Response(200, headers), reservations)

        await send(0, requests[0])
        await asyncio.gather(*(send(number, request) for number, request in enumerate(requests[1:], 1)))
        totals.seconds = clock()
        return totals

    return virtual_time.run(all_of_them)


def stated_headers(counter: TokenCounter, per_minute: int, now: float) -> dict[str, str]:
    remaining, reset_s = counter.left(now)
    date = format_datetime(datetime.fromtimestamp(int(NOON + now), UTC), usegmt=True)
    return {"limit": str(per_minute), "remaining": str(remaining), "reset": f"{reset_s:.0f}s", "date": date}


@st.composite
def request_lists(draw: st.DrawFn, per_minute: int = 10_000) -> list[TokenRequest]:
    """Draw requests of up to a third of the limit each."""
    most = draw(st.lists(st.integers(1, per_minute // 3), min_size=2, max_size=25))
    return [TokenRequest(tokens, draw(st.integers(0, tokens))) for tokens in most]


# Nearly a minute's limit in its first second, whose answers look like those of a full bucket.
NEARLY_EXHAUSTED = [
    TokenRequest(*map(int, text.split("/")))
    for text in (
        "264/264 2009/424 463/463 1542/1542 85/22 93/20 256/256 135/135 58/58 64/64 82/82 "
        "128/55 958/58 1825/936 2039/0 1395/999 2188/0 2435/1807 2389/2389 427/427"
    ).split()
]


@pytest.mark.parametrize("counter", [BucketCounter, MinuteCounter])
@given(requests=request_lists())
@example(requests=NEARLY_EXHAUSTED)
def test_nothing_is_refused_once_the_limit_is_known(
    counter: type[BucketCounter | MinuteCounter], requests: list[TokenRequest]
) -> None:
    assert send_requests(counter(10_000), 10_000, requests).refused == 0


@given(request_lists())
def test_nothing_is_refused_if_only_the_limit_is_stated(requests: list[TokenRequest]) -> None:
    assert send_requests(MinuteCounter(10_000), 10_000, requests, states_remaining=False).refused == 0


def test_requests_take_hardly_longer_than_the_limit_asks(subtests: pytest.Subtests) -> None:
    """By the tokens that were taken, though each request reserved `most` times as many."""
    for size in [100, 1_000, 3_000]:
        for most in [1, 3]:
            with subtests.test(size=size, most=most):
                requests = [TokenRequest(most * size, size)] * (50_000 // size)
                totals = send_requests(BucketCounter(10_000), 10_000, requests)
                assert totals.refused == 0
                least = (sum(request.taken for request in requests) - 10_000) / (10_000 / 60)
                unused = (most - 1) * size / (10_000 / 60)
                assert totals.seconds <= least * 1.005 + unused, "the last has to wait for what it might take"


def test_counters_refuse_requests_sent_at_once() -> None:
    def all_at_once(counter: TokenCounter) -> int:
        return sum(not counter.take(3_000, 0.0) for _ in range(4))

    assert all_at_once(BucketCounter(10_000)) == all_at_once(MinuteCounter(10_000)) == 1


@dataclass
class ManualClock:
    now: float = START

    def __call__(self) -> float:
        return self.now


def fixed_now() -> float:
    return START


def test_reserved_tokens_delay_only_what_does_not_fit() -> None:
    clock = ManualClock()
    budget = TokenBudget(1_000, 60.0, clock)
    mark_answered([budget.reserve(900)])
    assert budget.wait_s(101) == pytest.approx(RESERVATION_S)
    assert budget.wait_s(0) == 0.0
    assert budget.wait_s(100) == 0.0
    clock.now += 60.0
    assert budget.wait_s(101) > 0.0, "a later request may take less time to arrive than it took"
    clock.now = START + RESERVATION_S
    assert budget.wait_s(1_000) == 0.0


def test_expired_reservation_no_longer_counts() -> None:
    clock = ManualClock()
    reserved, informed = (TokenBudget(1_000, 60.0, clock) for _ in range(2))
    mark_answered([reserved.reserve(500)])
    informed.update(100, 10.0)
    clock.now += 30.0
    mark_answered([reserved.reserve(600), informed.reserve(1_000)])
    assert informed.wait_s(1) == pytest.approx(RESERVATION_S)
    clock.now = START + RESERVATION_S + 1.0
    assert reserved.wait_s(500) == pytest.approx(29.0)


def test_unused_limit_delays_nothing(subtests: pytest.Subtests) -> None:
    for remaining in [1_000, 2_000]:
        with subtests.test(remaining=remaining):
            budget = TokenBudget(1_000, 60.0, fixed_now)
            budget.update(remaining, 30.0)
            assert budget.wait_s(1_000) == 0.0


def test_more_than_the_limit_waits_for_the_whole_limit() -> None:
    """Otherwise it could never be sent; the provider may still refuse it."""
    clock = ManualClock()
    budget = TokenBudget(1_000, 60.0, clock)
    assert budget.wait_s(5_000) == 0.0
    budget.update(999, 0.06)
    assert 0 < budget.wait_s(5_000) <= 0.06


def test_stated_remaining_counts_tokens_of_others() -> None:
    window, bucket = (TokenBudget(1_000, 60.0, fixed_now) for _ in range(2))
    window.update(0, 17.0)
    assert window.wait_s(1) == 17.0, "all of it is back at once"
    bucket.update(0, 60.0)
    assert bucket.wait_s(100) == pytest.approx(6.0), "it fills evenly"


def test_window_reset_may_look_like_a_bucket() -> None:
    """A minute that has just begun and is nearly exhausted: nothing comes back before its end."""
    window = TokenBudget(1_000, 60.0, fixed_now)
    window.update(736, 60.0)
    window.update(20, 59.0)
    assert window.wait_s(100) == 60.0, "of one window all answers tell the end: the latest, for it is told rounded"


def test_one_late_bucket_answer_may_look_like_a_window() -> None:
    """The other answers show how the provider counts."""
    bucket = TokenBudget(1_000, 60.0, fixed_now)
    for remaining, reset_s in ((900, 6.0), (800, 12.0), (800, 7.0), (700, 18.0)):
        bucket.update(remaining, reset_s)
    assert bucket.wait_s(800) == pytest.approx(6.0)


def test_majority_of_answers_shows_a_bucket() -> None:
    bucket = TokenBudget(1_000, 60.0, fixed_now)
    for remaining, reset_s in ((900, 6.0), (800, 7.0), (700, 18.0)):
        bucket.update(remaining, reset_s)
    assert bucket.wait_s(800) == pytest.approx(6.0)


def test_window_after_a_bucket_estimate_is_kept() -> None:
    """The bucket estimate is higher now and lasts as long."""
    clock = ManualClock()
    budget = TokenBudget(60, 60.0, clock)
    budget.update(0, 60.0)
    budget.update(30, 60.0)
    clock.now += 45.0
    assert budget.wait_s(31) > 0.0
    assert budget.wait_s(30) == 0.0


def test_full_bucket_holds_no_more_than_the_limit() -> None:
    clock = ManualClock()
    bucket = TokenBudget(1_000, 60.0, clock)
    bucket.update(900, 6.0)
    clock.now += 30.0
    mark_answered([bucket.reserve(900)])
    assert bucket.wait_s(100) == 0.0
    assert bucket.wait_s(101) == pytest.approx(RESERVATION_S)


def test_end_of_a_window_is_not_taken_from_other_limits() -> None:
    beside_a_bucket, after_another = (TokenBudget(1_000, 60.0, fixed_now) for _ in range(2))
    beside_a_bucket.update(900, 6.0)
    beside_a_bucket.update(500, 5.0)
    assert beside_a_bucket.wait_s(1_000) == pytest.approx(5.0)
    after_another.update(900, 50.0)
    after_another.update(0, 17.0)
    assert after_another.wait_s(100) == 17.0


def test_bucket_reset_may_be_off_by_two_seconds(subtests: pytest.Subtests) -> None:
    """Reset and date are both stated in whole seconds."""
    cases: list[tuple[float, float]] = [(12.0, 5.0), (12.5, 12.5), (8.0, 5.0), (7.5, 7.5)]
    for reset_s, wait_s in cases:
        with subtests.test(reset_s=reset_s):
            bucket = TokenBudget(60, 60.0, fixed_now)
            bucket.update(50, reset_s)
            assert bucket.wait_s(55) == wait_s


def test_reset_may_exceed_the_budget_by_two_seconds() -> None:
    just, too_long = (TokenBudget(1_000, 60.0, fixed_now) for _ in range(2))
    just.update(500, 62.0)
    assert just.wait_s(1_000) == 62.0
    too_long.update(500, 62.5)
    with pytest.raises(WaitTooLong):
        too_long.wait_s(1_000)


def test_reset_beyond_the_budget_is_refused_at_once(subtests: pytest.Subtests) -> None:
    """A day's limit, for example; requests without tokens are still sent."""
    for reset_s in [3_600.0, float("inf")]:
        with subtests.test(reset_s=reset_s):
            budget = TokenBudget(1_000, 60.0, fixed_now)
            budget.update(0, reset_s)
            assert budget.wait_s(0) == 0.0
            with pytest.raises(WaitTooLong, match="the budget is 60 s"):
                budget.wait_s(1)


def test_own_reservations_may_exceed_the_wait_budget() -> None:
    budget = TokenBudget(1_000, 10.0, fixed_now)
    mark_answered([budget.reserve(1_000)])
    assert budget.wait_s(1) == pytest.approx(RESERVATION_S)
    budget.update(0, 60.0)
    assert budget.wait_s(1_000) == pytest.approx(60.0)


def test_malformed_limit_headers_are_ignored(subtests: pytest.Subtests) -> None:
    for junk in ["-1", "1e9", "", "soon", "9" * 400, "9" * 5_000]:
        with subtests.test(junk=junk):
            throttle = Throttle(POLICY, 60.0, clock=lambda: 0.0)
            scope = throttle.find_scope(CALL, "inference")
            throttle.learn(scope, Response(200, {"limit": junk, "remaining": junk, "reset": junk}))
            assert not throttle.has_token_limit(scope)


def test_each_model_has_its_own_budget() -> None:
    throttle = Throttle(POLICY, 60.0, clock=lambda: 0.0)

    def scope(model: str) -> Call:
        return post("/v1/responses", {"model": model})

    small, large = (throttle.find_scope(scope(model), "inference") for model in ("small", "large"))
    throttle.learn(small, Response(200, {"limit": "1000", "remaining": "0", "reset": "17s"}))
    assert throttle.has_token_limit(small)
    assert not throttle.has_token_limit(large)
