"""How a throttle keeps to documented and stated limits: which scope uses which, how fast, and after which pause."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from catalog_probe.catalog.model import Response
from catalog_probe.catalog.reading.rate_limits import EndpointGroup, LimitHeaders, RateLimits
from catalog_probe.probes.calls.call import Call, get, post
from catalog_probe.probes.running.pacing.rate_limiter import SHARE, RateLimiter
from catalog_probe.probes.running.pacing.rate_limits import LimitStatus, RateLimitPolicy
from catalog_probe.probes.running.pacing.throttle import LimitScope, Throttle
from tests.harness import virtual_time

GAUGES = (
    LimitHeaders("requests", "limit", "remaining", "reset"),
    LimitHeaders("tokens", "tokens-limit", "tokens-remaining", "tokens-reset"),
)
ONE_A_SECOND = 1 / SHARE


def call(model: str) -> Call:
    return post("/v1/things", {"model": model})


Scenario = Callable[[Throttle, Callable[[str], Awaitable[float]]], Awaitable[None]]
"""Uses a throttle, and a function that sends a request for a model and returns when it was sent."""


def send_times(scenario: Scenario, documented: float = 60) -> list[float]:
    """Return when the requests of a scenario were sent, in seconds."""

    async def run(clock: Callable[[], float]) -> list[float]:
        groups = (EndpointGroup(("/v1",), documented),)
        throttle = Throttle(RateLimitPolicy(RateLimits(groups=groups, limit_headers=GAUGES)), 60.0, clock=clock)
        own, sent = RateLimiter(None, 60.0, clock), list[float]()

        async def send(model: str, tokens: int = 0) -> float:
            await throttle.acquire(throttle.find_scope(call(model), "inference"), own, tokens)
            sent.append(clock())
            return clock()

        await scenario(throttle, send)
        return sent

    return virtual_time.run(run)


def learn_answer(throttle: Throttle, model: str = "small", **headers: str) -> None:
    """Give the throttle the answer to a request for a model."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    throttle.learn(throttle.find_scope(call(model), "inference"), Response(200, named))


NOON = "Sat, 31 Jan 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("reset", "reset_s"),
    [
        ("17s", 17.0),
        ("2026-01-31T12:00:17Z", 17.0),
        ("2026-01-31T12:00:00Z", 0.0),
        ("2026-01-31T11:59:00Z", 0.0),
        ("soon", 0.0),
        ("", 0.0),
    ],
)
def test_a_reset_is_stated_as_a_duration_or_by_the_clock_of_the_answer(reset: str, reset_s: float) -> None:
    policy = RateLimitPolicy(RateLimits(limit_headers=GAUGES))
    (status,) = policy.read_limits({"limit": "60", "reset": reset, "date": NOON})
    assert status == LimitStatus("requests", "limit", 60, None, reset_s)
    assert list(policy.read_limits({"reset": reset, "date": NOON})) == [], "of no limit"


@pytest.mark.parametrize(
    ("documented", "headers", "paused_s"),
    [
        (None, {"remaining": "0", "reset": "0.5s"}, 0.5),
        (60, {"remaining": "0", "reset": "1.5s"}, 0.0),
        (60, {"remaining": "0", "reset": "2s"}, 0.0),
        (60, {"remaining": "0", "reset": "2.1s"}, 2.1),
        (60, {"remaining": "1", "reset": "20s"}, 0.0),
        (60, {"limit": "60", "remaining": "0", "reset": "20s"}, 20.0),
        (60, {"tokens_remaining": "0", "tokens_reset": "20s"}, 20.0),
        (60, {"tokens_limit": "100", "tokens_remaining": "0", "tokens_reset": "20s"}, 0.0),
    ],
)
def test_nothing_left_is_a_pause_where_the_pace_alone_does_not_keep_it(
    documented: float | None, headers: dict[str, str], paused_s: float
) -> None:
    """By the second, nothing is left after each request; of tokens the budget says who has to wait."""
    groups = (EndpointGroup(("/v1",), documented),) if documented else ()
    throttle = Throttle(RateLimitPolicy(RateLimits(groups=groups, limit_headers=GAUGES)), 60.0, clock=lambda: 0.0)
    assert throttle.paused_s == 0.0
    learn_answer(throttle, **headers)
    assert throttle.paused_s == pytest.approx(paused_s)


@pytest.mark.parametrize(("before", "paused_s"), [("21s", 21.0), ("22s", 22.0), ("23s", 20.0), ("19s", 20.0)])
def test_an_end_that_is_stated_much_later_is_that_of_something_else(before: str, paused_s: float) -> None:
    throttle = Throttle(RateLimitPolicy(RateLimits(limit_headers=GAUGES)), 60.0, clock=lambda: 0.0)
    learn_answer(throttle, remaining="1", reset=before)
    assert throttle.paused_s == 0.0
    learn_answer(throttle, remaining="0", reset="20s")
    assert throttle.paused_s == pytest.approx(paused_s)


class Window:
    """A provider that counts 6 a minute, those of others too, and tells the reset in whole seconds."""

    def __init__(self, clock: Callable[[], float], ends: float) -> None:
        self._clock, self._ends, self._left = clock, ends, 6

    def ask(self, others: int = 0) -> dict[str, str] | None:
        """The headers of the answer, after so many requests of others; None where it is a refusal."""
        if self._clock() >= self._ends:
            self._ends, self._left = self._ends + 60.0, 6
        self._left -= 1 + others
        reset = f"{int(self._ends - self._clock())}s"
        return {"limit": "600", "remaining": str(max(0, self._left)), "reset": reset} if self._left >= 0 else None


@pytest.mark.parametrize("ends", [30.0, 30.3, 30.7])
def test_the_reset_of_requests_is_the_latest_that_answers_state(ends: float) -> None:
    """The answer that tells that nothing is left may have rounded it down the most; what went then was refused."""

    async def scenario(clock: Callable[[], float]) -> list[bool]:
        throttle = Throttle(RateLimitPolicy(RateLimits(limit_headers=GAUGES)), 60.0, clock=clock)
        own, window, taken = RateLimiter(None, 60.0, clock), Window(clock, ends), list[bool]()
        # Of these moments the first tells the end to a tenth of a second, the last rounds it down by most of one.
        for moment, others in [(ends - 29.0, 0), (ends - 27.1, 1), (ends - 20.9, 2), (0.0, 0)]:
            await asyncio.sleep(max(0.0, moment - clock()))
            await throttle.acquire(throttle.find_scope(call("small"), "inference"), own)
            answer_headers = window.ask(others)
            taken.append(answer_headers is not None)
            learn_answer(throttle, **(answer_headers or {}))
        return taken

    assert virtual_time.run(scenario) == [True, True, True, True]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, ONE_A_SECOND),
        ({"limit": "120"}, ONE_A_SECOND / 2),
        ({"limit": "120", "tokens_limit": "30"}, ONE_A_SECOND / 2),
        ({"remaining": "5", "tokens_limit": "30"}, ONE_A_SECOND),
        ({"limit": "0"}, ONE_A_SECOND),
    ],
)
def test_the_pace_is_the_documented_one_until_another_is_stated(headers: dict[str, str], seconds: float) -> None:
    """What went before counts under the limit that is told after it as well."""

    async def scenario(throttle: Throttle, send: Callable[[str], Awaitable[float]]) -> None:
        await send("small")
        learn_answer(throttle, **headers)
        await send("small")

    assert send_times(scenario) == pytest.approx([0.0, seconds])


def test_a_model_without_an_answer_uses_what_its_group_was_told() -> None:
    async def scenario(throttle: Throttle, send: Callable[[str], Awaitable[float]]) -> None:
        learn_answer(throttle, "small", limit="60")
        await send("large")
        await send("large")

    assert send_times(scenario, documented=6_000) == pytest.approx([0.0, ONE_A_SECOND])


def test_the_first_answer_says_when_its_request_came_at_the_latest() -> None:
    async def scenario(throttle: Throttle, send: Callable[[str], Awaitable[float]]) -> None:
        await send("small")
        await asyncio.sleep(0.5)
        learn_answer(throttle)
        await send("small")

    assert send_times(scenario) == pytest.approx([0.0, 0.5 + ONE_A_SECOND])


def test_who_takes_no_tokens_reserves_none_and_waits_for_none() -> None:
    async def scenario(clock: Callable[[], float]) -> float:
        throttle = Throttle(RateLimitPolicy(RateLimits(limit_headers=GAUGES)), 60.0, clock=clock)
        own, scope = RateLimiter(None, 60.0, clock), throttle.find_scope(call("small"), "inference")
        learn_answer(throttle, tokens_limit="100", tokens_remaining="0", tokens_reset="30s")
        assert await throttle.acquire(scope, own) == ()
        assert [reservation.tokens for reservation in await throttle.acquire(scope, own, 7)] == [7]
        return clock()

    assert virtual_time.run(scenario) == pytest.approx(30.0)


def test_who_comes_first_goes_first_though_the_next_would_have_room() -> None:
    async def scenario(clock: Callable[[], float]) -> list[int]:
        throttle = Throttle(RateLimitPolicy(RateLimits(limit_headers=GAUGES)), 60.0, clock=clock)
        own, scope = RateLimiter(None, 60.0, clock), throttle.find_scope(call("small"), "inference")
        learn_answer(throttle, tokens_limit="100", tokens_remaining="10", tokens_reset="30s")
        sent: list[int] = []

        async def send(tokens: int) -> None:
            await throttle.acquire(scope, own, tokens)
            sent.append(tokens)

        await asyncio.gather(send(50), send(5))
        return sent

    assert virtual_time.run(scenario) == [50, 5]


@pytest.mark.parametrize(
    ("model_call", "model"),
    [
        (call("small"), "small"),
        (post("/v1/things", {"model": 5}), ""),
        (post("/v1/things", {}), ""),
        (get("/v1/things"), ""),
    ],
)
def test_who_names_no_model_draws_for_none(model_call: Call, model: str) -> None:
    throttle = Throttle(RateLimitPolicy(), 60.0)
    assert throttle.find_scope(model_call, "admin") == LimitScope(None, "admin", model)
