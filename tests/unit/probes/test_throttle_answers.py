"""How a throttle applies documented and stated limits: scopes, pace and pauses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from catalog_probe.catalog.model import Response
from catalog_probe.catalog.reading.rate_limits import EndpointGroup, LimitHeaders, RateLimits
from catalog_probe.probes.calls import Call, get, post
from catalog_probe.probes.running.limits import LimitStatus, RateLimitPolicy
from catalog_probe.probes.running.throttle import SHARE, LimitScope, RateLimiter, Throttle
from tests.harness import virtual_time

GAUGES = (
    LimitHeaders("requests", "limit", "remaining", "reset"),
    LimitHeaders("tokens", "tokens-limit", "tokens-remaining", "tokens-reset"),
)
ONE_A_SECOND = 1 / SHARE


def make_call(model: str) -> Call:
    return post("/v1/things", {"model": model})


# Takes a throttle, and a function that sends a request for a model and returns when it was sent.
Scenario = Callable[[Throttle, Callable[[str], Awaitable[float]]], Awaitable[None]]


def send_times(scenario: Scenario, documented: float = 60) -> list[float]:
    """Return when the requests of a scenario were sent, in seconds."""

    async def run(clock: Callable[[], float]) -> list[float]:
        groups = (EndpointGroup(("/v1",), documented),)
        throttle = Throttle(RateLimitPolicy(RateLimits(groups=groups, limit_headers=GAUGES)), 60.0, clock=clock)
        limiter, moments = RateLimiter(None, 60.0, clock), list[float]()

        async def send(model: str, tokens: int = 0) -> float:
            await throttle.acquire(throttle.find_scope(make_call(model), "inference"), limiter, tokens)
            moments.append(clock())
            return clock()

        await scenario(throttle, send)
        return moments

    return virtual_time.run(run)


def learn_answer(throttle: Throttle, model: str = "small", **headers: str) -> None:
    """Give the throttle the answer to a request for a model."""
    headers_by_name = {name.replace("_", "-"): value for name, value in headers.items()}
    throttle.learn(throttle.find_scope(make_call(model), "inference"), Response(200, headers_by_name))


NOON = "Sat, 31 Jan 2026 12:00:00 GMT"


def test_reset_is_a_duration_or_an_instant(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, float]] = [
        ("17s", 17.0),
        ("2026-01-31T12:00:17Z", 17.0),
        ("2026-01-31T12:00:00Z", 0.0),
        ("2026-01-31T11:59:00Z", 0.0),
        ("soon", 0.0),
        ("", 0.0),
    ]
    for reset, reset_s in cases:
        with subtests.test(reset=reset):
            policy = RateLimitPolicy(RateLimits(limit_headers=GAUGES))
            (status,) = policy.read_limits({"limit": "60", "reset": reset, "date": NOON})
            assert status == LimitStatus("requests", "limit", 60, None, reset_s)
            assert list(policy.read_limits({"reset": reset, "date": NOON})) == [], "of no limit"


def test_exhausted_limit_pauses_unless_the_pace_keeps_it(subtests: pytest.Subtests) -> None:
    """A limit per second is exhausted after each request; tokens have a budget of their own."""
    cases: list[tuple[float | None, dict[str, str], float]] = [
        (None, {"remaining": "0", "reset": "0.5s"}, 0.5),
        (60, {"remaining": "0", "reset": "1.5s"}, 0.0),
        (60, {"remaining": "0", "reset": "2s"}, 0.0),
        (60, {"remaining": "0", "reset": "2.1s"}, 2.1),
        (60, {"remaining": "1", "reset": "20s"}, 0.0),
        (60, {"limit": "60", "remaining": "0", "reset": "20s"}, 20.0),
        (60, {"tokens_remaining": "0", "tokens_reset": "20s"}, 20.0),
        (60, {"tokens_limit": "100", "tokens_remaining": "0", "tokens_reset": "20s"}, 0.0),
    ]
    for documented, headers, paused_s in cases:
        with subtests.test(documented=documented):
            groups = (EndpointGroup(("/v1",), documented),) if documented else ()
            throttle = Throttle(
                RateLimitPolicy(RateLimits(groups=groups, limit_headers=GAUGES)), 60.0, clock=lambda: 0.0
            )
            assert throttle.longest_reset_s == 0.0
            learn_answer(throttle, **headers)
            assert throttle.longest_reset_s == pytest.approx(paused_s)


def test_much_later_reset_belongs_to_another_limit(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, float]] = [("21s", 21.0), ("22s", 22.0), ("23s", 20.0), ("19s", 20.0)]
    for earlier_reset, paused_s in cases:
        with subtests.test(earlier_reset=earlier_reset):
            throttle = Throttle(RateLimitPolicy(RateLimits(limit_headers=GAUGES)), 60.0, clock=lambda: 0.0)
            learn_answer(throttle, remaining="1", reset=earlier_reset)
            assert throttle.longest_reset_s == 0.0
            learn_answer(throttle, remaining="0", reset="20s")
            assert throttle.longest_reset_s == pytest.approx(paused_s)


class WindowProvider:
    """A provider with 6 requests a minute for all clients, which states the reset in whole seconds."""

    def __init__(self, clock: Callable[[], float], ends: float) -> None:
        self._clock, self._ends, self._left = clock, ends, 6

    def ask(self, other_requests: int = 0) -> dict[str, str] | None:
        """Return the headers of the answer after so many other requests, or None for a refusal."""
        if self._clock() >= self._ends:
            self._ends, self._left = self._ends + 60.0, 6
        self._left -= 1 + other_requests
        reset = f"{int(self._ends - self._clock())}s"
        return {"limit": "600", "remaining": str(max(0, self._left)), "reset": reset} if self._left >= 0 else None


@pytest.mark.parametrize("ends", [30.0, 30.3, 30.7])
def test_latest_stated_reset_counts(ends: float) -> None:
    """The answer with nothing left may have rounded its reset down the most."""

    async def scenario(clock: Callable[[], float]) -> list[bool]:
        throttle = Throttle(RateLimitPolicy(RateLimits(limit_headers=GAUGES)), 60.0, clock=clock)
        own, window, taken = RateLimiter(None, 60.0, clock), WindowProvider(clock, ends), list[bool]()
        # Of these moments the first tells the end to a tenth of a second, the last rounds it down by most of one.
        for moment, others in [(ends - 29.0, 0), (ends - 27.1, 1), (ends - 20.9, 2), (0.0, 0)]:
            await asyncio.sleep(max(0.0, moment - clock()))
            await throttle.acquire(throttle.find_scope(make_call("small"), "inference"), own)
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
def test_stated_limit_replaces_the_documented_pace(headers: dict[str, str], seconds: float) -> None:
    """Requests sent before it was stated count, too."""

    async def scenario(throttle: Throttle, send: Callable[[str], Awaitable[float]]) -> None:
        await send("small")
        learn_answer(throttle, **headers)
        await send("small")

    assert send_times(scenario) == pytest.approx([0.0, seconds])


def test_model_without_an_answer_uses_the_limit_of_its_group() -> None:
    async def scenario(throttle: Throttle, send: Callable[[str], Awaitable[float]]) -> None:
        learn_answer(throttle, "small", limit="60")
        await send("large")
        await send("large")

    assert send_times(scenario, documented=6_000) == pytest.approx([0.0, ONE_A_SECOND])


def test_first_answer_delays_the_second_request() -> None:
    async def scenario(throttle: Throttle, send: Callable[[str], Awaitable[float]]) -> None:
        await send("small")
        await asyncio.sleep(0.5)
        learn_answer(throttle)
        await send("small")

    assert send_times(scenario) == pytest.approx([0.0, 0.5 + ONE_A_SECOND])


def test_request_without_tokens_does_not_wait_for_tokens() -> None:
    async def scenario(clock: Callable[[], float]) -> float:
        throttle = Throttle(RateLimitPolicy(RateLimits(limit_headers=GAUGES)), 60.0, clock=clock)
        own, scope = RateLimiter(None, 60.0, clock), throttle.find_scope(make_call("small"), "inference")
        learn_answer(throttle, tokens_limit="100", tokens_remaining="0", tokens_reset="30s")
        assert await throttle.acquire(scope, own) == ()
        assert [reservation.tokens for reservation in await throttle.acquire(scope, own, 7)] == [7]
        return clock()

    assert virtual_time.run(scenario) == pytest.approx(30.0)


def test_requests_are_sent_in_order_of_arrival() -> None:
    async def scenario(clock: Callable[[], float]) -> list[int]:
        throttle = Throttle(RateLimitPolicy(RateLimits(limit_headers=GAUGES)), 60.0, clock=clock)
        own, scope = RateLimiter(None, 60.0, clock), throttle.find_scope(make_call("small"), "inference")
        learn_answer(throttle, tokens_limit="100", tokens_remaining="10", tokens_reset="30s")
        sent: list[int] = []

        async def send(tokens: int) -> None:
            await throttle.acquire(scope, own, tokens)
            sent.append(tokens)

        await asyncio.gather(send(50), send(5))
        return sent

    assert virtual_time.run(scenario) == [50, 5]


def test_scope_without_model(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Call, str]] = [
        (make_call("small"), "small"),
        (post("/v1/things", {"model": 5}), ""),
        (post("/v1/things", {}), ""),
        (get("/v1/things"), ""),
    ]
    for model_call, model in cases:
        with subtests.test(model_call=model_call):
            throttle = Throttle(RateLimitPolicy(), 60.0)
            assert throttle.find_scope(model_call, "admin") == LimitScope(None, "admin", model)
