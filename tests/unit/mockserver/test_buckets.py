"""Properties of token buckets: what a bucket admits and refuses (2:8.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.mockserver.core.limits import TokenBucket

TOLERANCE = 1e-6
CAPACITIES = st.integers(1, 10_000)
ASKED = st.lists(st.tuples(st.floats(0, 30), st.integers(1, 500)), min_size=1, max_size=60)
"""Seconds since the request before, and what the request takes."""


def list_admitted(bucket: TokenBucket, requests: list[tuple[float, int]]) -> list[tuple[float, float]]:
    """(moment, amount) of what was let in."""
    now, taken = 1_000.0, []
    for after, amount in requests:
        now += after
        if bucket.take(amount, now):
            taken.append((now, min(amount, bucket.capacity)))
    return taken


@given(CAPACITIES, ASKED)
def test_a_window_admits_at_most_capacity_and_refill(capacity: int, requests: list[tuple[float, int]]) -> None:
    let_in = list_admitted(TokenBucket(capacity), [(after, min(amount, capacity)) for after, amount in requests])
    for first, (start, _) in enumerate(let_in):
        total = 0.0
        for end, amount in let_in[first:]:
            total += amount
            assert total <= capacity + capacity / 60 * (end - start) + TOLERANCE


@given(CAPACITIES, ASKED)
def test_it_refuses_exactly_when_its_level_is_below_the_cost(capacity: int, requests: list[tuple[float, int]]) -> None:
    bucket, level, now = TokenBucket(capacity), float(capacity), 1_000.0
    for after, amount in requests:
        cost = min(amount, capacity)
        now += after
        level = min(capacity, level + after * capacity / 60)
        if abs(level - cost) < TOLERANCE:  # rounding decides: follow the bucket
            level = bucket.level = float(cost)
            bucket.updated_at = now
        enough = level >= cost
        assert bucket.take(cost, now) is enough
        level -= cost if enough else 0


@given(CAPACITIES, st.integers(1, 10_000))
def test_a_bucket_admits_after_the_wait_that_it_returned(capacity: int, amount: int) -> None:
    bucket = TokenBucket(capacity)
    bucket.charge(capacity, 0.0)
    wait = bucket.seconds_until(amount, 0.0)
    assert wait > 0
    assert bucket.seconds_until(amount, wait * 0.99) > 0
    assert bucket.seconds_until(amount, wait + TOLERANCE) < TOLERANCE * 60


def test_a_request_from_the_past_adds_nothing() -> None:
    bucket = TokenBucket(60)
    bucket.charge(60, 100.0)
    assert bucket.remaining(50.0) == 0
    assert bucket.remaining(101.0) == 1


def test_a_refund_never_exceeds_the_capacity() -> None:
    bucket = TokenBucket(60)
    bucket.charge(-1_000, 0.0)
    assert bucket.remaining(0.0) == 60


@pytest.mark.parametrize(("burst", "at_once"), [(None, 60), (1, 1)])
def test_sixty_a_minute_may_be_enforced_as_one_a_second(burst: int | None, at_once: int) -> None:
    bucket = TokenBucket(60, burst)
    assert sum(bucket.take(1, 0.0) for _ in range(100)) == at_once
    assert bucket.take(1, 1.0)
    assert not bucket.take(1, 1.5)


def test_a_bucket_refills_with_time_and_never_with_the_past() -> None:
    bucket = TokenBucket(60)
    assert bucket.take(60, now=100.0)
    assert not bucket.take(1, now=100.0)
    assert bucket.seconds_until(1, now=100.0) == 1.0
    assert bucket.take(1, now=101.0)
    assert bucket.remaining(now=0.0) == 0
    assert bucket.remaining(now=1_000.0) == 60


def test_a_full_bucket_serves_a_request_larger_than_itself() -> None:
    bucket = TokenBucket(60)
    assert bucket.take(600, now=0.0)
    assert not bucket.take(1, now=1.0)
