"""A lane keeps to a provider's limits, against the mock's buckets and in virtual time."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Exchange, Request, Response
from catalog_probe.catalog.reading.rate_limits import EndpointGroup, LimitHeaders, RateLimits
from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.limits import TokenBucket
from catalog_probe.probes.calls import Call, get, post
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running.lane import Lane, Wires
from catalog_probe.probes.running.limits import Budget, RateLimitPolicy
from catalog_probe.probes.running.throttle import SHARE, RateLimiter, Throttle
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.targets.target import WRONG_KEY, Credential, Provider, RunLimits
from catalog_probe.probes.wire.http import HttpWire
from catalog_probe.probes.wire.redaction import Redactor
from tests.harness import virtual_time
from tests.harness.engines import catalog

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp()


def limit_per_minute(per_minute: float) -> RateLimitPolicy:
    """Return the policy of a provider that documents one limit."""
    return RateLimitPolicy(RateLimits(groups=(EndpointGroup(("/v1",), per_minute),)))


SIXTY_A_MINUTE = limit_per_minute(60)
REQUEST = get("/v1/things")


class SleepClock:
    """A clock that advances only while somebody sleeps, after all others have run."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        wake_at = self.now + seconds
        for _ in range(20):
            await asyncio.sleep(0)
        self.now = max(self.now, wake_at)


Answer = Callable[[float, int], tuple[int, Mapping[str, str], Any]]
"""(moment, number of the request) -> status, headers, body."""


class OneWire(Wires):
    """Sends every call over the same wire."""

    def __init__(self, wire: LimitedLane) -> None:
        super().__init__(wire.provider, Dialect.for_provider(wire.provider))
        self._wire = wire

    def select(self, call: Call) -> Any:
        return self._wire


class LimitedLane(Lane):
    """A lane whose wire is a provider in this process, on the lane's clock."""

    def __init__(
        self,
        answer: Answer,
        policy: RateLimitPolicy = SIXTY_A_MINUTE,
        max_wait_s: float = 60.0,
        credentials: Mapping[str, Credential] | None = None,
        **limits: Any,
    ) -> None:
        self.clock = SleepClock()
        self.sent: list[tuple[float, int]] = []
        self._answer = answer
        provider = Provider(
            "pa",
            addresses={"base_url": "https://provider.test"},
            credentials=credentials or make_credentials("inference"),
            limits=RunLimits(max_wait_s=max_wait_s, **limits),
        )
        throttle = Throttle(
            policy, max_wait_s, own_rate=provider.limits.rate is not None, clock=self.clock, sleep=self.clock.sleep
        )
        super().__init__(provider, "inference", Redactor({}), Budget(provider), mock=False, throttle=throttle)
        self._limiter = RateLimiter(provider.limits.rate, max_wait_s, self.clock)
        self._wires = OneWire(self)

    read_origin = staticmethod(HttpWire.read_origin)

    async def exchange(self, call: Call, url: str, headers: Mapping[str, str], label: str, since: float) -> Exchange:
        status, own_headers, body = self._answer(self.clock.now, len(self.sent))
        self.sent.append((self.clock.now, status))
        date = {"date": format_datetime(datetime.fromtimestamp(math.floor(self.clock.now), UTC), usegmt=True)}
        response = Response(status, {**date, **own_headers}, body=body)
        return Exchange(label=label, request=Request(call.method, url), response=response)

    def send_all(self, count: int, call: Call = REQUEST) -> list[int]:
        """Send so many requests at once, and return their statuses."""

        async def send_together() -> list[Exchange]:
            return await asyncio.gather(*(self.send(call, "answer", "s", 0.0) for _ in range(count)))

        return [exchange.response.status or 0 for exchange in asyncio.run(send_together()) if exchange.response]


def answer_from_bucket(bucket: TokenBucket, *, tells: bool = False) -> Answer:
    """Return a provider that limits by this bucket."""

    def answer(now: float, number: int) -> tuple[int, Mapping[str, str], Any]:
        admitted = bucket.take(1, now)
        headers = {
            "pa-ratelimit-requests-limit": str(int(bucket.per_minute)),
            "pa-ratelimit-requests-remaining": str(bucket.remaining(now)),
            "pa-ratelimit-requests-reset": rfc3339(bucket.full_at(now) + 1),
        }
        return (200 if admitted else 429), (headers if tells else {}), None

    return answer


@cache
def load_policy(provider: str) -> RateLimitPolicy:
    return RateLimitPolicy.from_records(catalog().select(provider=provider))


def test_sixty_a_minute_is_never_refused(subtests: pytest.Subtests) -> None:
    for burst in [None, 1, 10]:
        with subtests.test(burst=burst):
            lane = LimitedLane(answer_from_bucket(TokenBucket(60, burst)))
            assert set(lane.send_all(150)) == {200}
            least = 149  # seconds, where 60 a minute is enforced as one a second
            assert lane.clock.now - NOON < least * 1.1


@given(st.integers(1, 6_000), st.integers(2, 60))
def test_any_documented_limit_is_kept(per_minute: int, count: int) -> None:
    lane = LimitedLane(answer_from_bucket(TokenBucket(per_minute, 1)), limit_per_minute(per_minute), 1e9)
    assert set(lane.send_all(count)) == {200}


def test_unlimited_lane_is_refused() -> None:
    assert 429 in LimitedLane(answer_from_bucket(TokenBucket(60, 1)), RateLimitPolicy()).send_all(10)


def test_stated_limit_replaces_the_documented_one() -> None:
    lane = LimitedLane(answer_from_bucket(TokenBucket(20, 1), tells=True), load_policy("pa"))
    assert set(lane.send_all(1, post("/v1/files"))) == {200}
    lane.clock.now += 3
    assert set(lane.send_all(5, post("/v1/files"))) == {200}
    assert lane.clock.now - NOON > 4 * 3


def test_exhausted_limit_waits_for_its_reset() -> None:
    def answer(now: float, number: int) -> tuple[int, Mapping[str, str], Any]:
        reset = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "20s"}
        return 200, reset if number == 0 else {}, None

    lane = LimitedLane(answer, load_policy("pc"))
    lane.send_all(1, post("/v1/responses"))
    lane.send_all(1, post("/v1/responses"))
    assert lane.sent[1][0] - lane.sent[0][0] == pytest.approx(20.0)


def refuse_once(headers: Mapping[str, str], body: Any = None, status: int = 429) -> Answer:
    """Return a provider that refuses only the first request, with these headers."""
    return lambda now, number: (status, headers, body) if number == 0 else (200, {}, None)


def make_credentials(*roles: str) -> dict[str, Credential]:
    return {role: Credential(role, f"key of {role}") for role in roles}


def measure_wait(answer: Answer, provider: str = "pa", **changes: Any) -> float:
    lane = LimitedLane(answer, load_policy(provider), **changes)
    lane.send_all(1, get("/v1/models"))
    lane.send_all(1, get("/v1/models"))
    return lane.sent[1][0] - lane.sent[0][0]


PB_REFUSAL = {"error": {"code": 429, "message": "Quota exceeded.\nPlease retry in 12.3s.", "details": []}}


def test_retry_after_is_waited_for(subtests: pytest.Subtests) -> None:
    for status in [429, 503, 529]:
        with subtests.test(status=status):
            assert measure_wait(refuse_once({"retry-after": "7"}, status=status)) == pytest.approx(7.0)


def test_delay_in_a_pb_message_is_waited_for() -> None:
    assert measure_wait(refuse_once({}, PB_REFUSAL), "pb") == pytest.approx(12.3)
    assert measure_wait(refuse_once({}, [PB_REFUSAL]), "pb") == pytest.approx(12.3)
    assert measure_wait(refuse_once({}, PB_REFUSAL), "pd") == 0


def test_waiting_requests_wait_for_a_new_pause() -> None:
    lane = LimitedLane(refuse_once({"retry-after": "30"}))
    lane.send_all(3)
    assert lane.sent[1][0] - lane.sent[0][0] >= 30


def test_wait_beyond_the_budget_stops_the_lane() -> None:
    lane = LimitedLane(refuse_once({"retry-after": "3600"}), max_wait_s=60)
    lane.send_all(1)
    with pytest.raises(ProbeStopped, match=r"asked to wait (3599|3600) s, the budget is 60 s"):
        lane.send_all(1)
    assert lane.stopped is not None
    assert lane.stopped.code == "wait-too-long"
    assert lane.clock.now - NOON < 60


def test_long_wait_of_another_key_does_not_stop_the_lane(subtests: pytest.Subtests) -> None:
    for other_key in [None, WRONG_KEY, "tight"]:
        with subtests.test(other_key=other_key):
            own_call, other_call = REQUEST.replace(credential="inference"), REQUEST.replace(credential=other_key)
            lane = LimitedLane(
                refuse_once({"retry-after": "3600"}), max_wait_s=60, credentials=make_credentials("inference", "tight")
            )
            assert lane.send_all(1, other_call) == [429]
            assert lane.send_all(1, own_call) == [200]
            with pytest.raises(ProbeStopped, match=r"asked to wait (3599|3600) s"):
                lane.send_all(1, other_call)
            assert lane.stopped is None
            assert lane.send_all(1, own_call) == [200]
            assert lane.paused_s == 0


def test_limits_of_an_invalid_key_are_ignored(subtests: pytest.Subtests) -> None:
    for another in [None, WRONG_KEY]:
        with subtests.test(another=another):
            used_up = {"pa-ratelimit-requests-limit": "60", "pa-ratelimit-requests-remaining": "0"}
            used_up |= {"pa-ratelimit-requests-reset": rfc3339(NOON + 30)}
            lane = LimitedLane(
                refuse_once(used_up, status=401), load_policy("pa"), credentials=make_credentials("inference")
            )
            lane.send_all(1, get("/v1/models", credential=another))
            lane.send_all(1, get("/v1/models", credential="inference"))
            assert lane.sent[1][0] - lane.sent[0][0] < 1


def test_own_slow_pace_is_no_requested_wait() -> None:
    lane = LimitedLane(answer_from_bucket(TokenBucket(1, 1)), limit_per_minute(1), max_wait_s=10)
    assert set(lane.send_all(5)) == {200}


def test_documented_limit_of_a_request(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, str, float | None]] = [
        ("pa", "POST", "/v1/messages", 1_000),
        ("pa", "POST", "/v1/messages/count_tokens", 5_000),
        ("pa", "GET", "/v1/messages/batches/msgbatch_1", 1_000),
        ("pa", "GET", "/v1/files", 500),
        ("pa", "POST", "/v1/agents", 300),
        ("pa", "GET", "/v1/agents", 1_200),
        ("pa", "GET", "/v1/agents/agent_1", 1_200),
        ("pa", "DELETE", "/v1/agents/agent_1", None),
        ("pa", "POST", "/v1/complete", None),
        ("pa", "GET", "/v1/compliance/activities", 600),
        ("pa", "GET", "/v1/models", None),
        ("pc", "POST", "/v1/responses", None),  # 2:8.4 has limits of models, not of paths
        ("pc", "POST", "/v1/vector_stores/vs_1/files", 300),
        ("pb", "GET", "/v1beta/models", None),
        ("pd", "GET", "/v1/models", None),
    ]
    for provider, method, path, per_minute in cases:
        with subtests.test(provider=provider):
            group = load_policy(provider).find_group(method, path)
            assert (group.per_minute if group else None) == per_minute


MODELS = st.lists(st.sampled_from(["small", "large", "image"]), min_size=1, max_size=40)


@given(MODELS, st.booleans())
def test_same_limit_is_shared(models: list[str], tells: bool) -> None:
    """Limits hold for an organization and a class of models, whoever sends."""
    moments = send_together(models, lambda model: 120 if tells else None, documented=120)
    assert all(sum(begin <= moment < begin + 0.999 for moment in moments) <= 2 for begin in moments)


def test_different_limits_do_not_delay_each_other() -> None:
    limits = {"small": 600, "image": 6}
    moments = send_together(["image", "small", "image", *["small"] * 10], limits.get)
    assert moments[-1] == pytest.approx(10 / SHARE, abs=0.2), "the second image"
    assert moments[-2] < 2, "the last of the small"


@pytest.mark.parametrize(("rate", "stated", "effective"), [(1.0, 600, 1.0), (10.0, 120, 2.0), (10.0, None, 10.0)])
def test_rate_of_the_target_is_a_ceiling(rate: float, stated: int | None, effective: float) -> None:
    """It replaces the documented limit; a stated limit still holds."""

    async def three(clock: Callable[[], float]) -> float:
        limits = RateLimits((EndpointGroup(("/v1",), 1),), (LimitHeaders("requests", "limit", "remaining", "reset"),))
        throttle = Throttle(RateLimitPolicy(limits), 60.0, own_rate=True, clock=clock)
        limiter, scope = RateLimiter(rate, 60.0, clock), throttle.find_scope(REQUEST, "inference")
        throttle.learn(scope, Response(200, {"limit": str(stated)} if stated else {}))
        for _ in range(3):
            await throttle.acquire(scope, limiter)
        return clock()

    assert virtual_time.run(three) == pytest.approx(2 / effective / SHARE)


def send_together(
    models: list[str], stated_limit: Callable[[str], int | None], documented: float | None = None
) -> list[float]:
    """Return, sorted, when requests for these models were sent by two keys in turn, all due at once."""
    gauges = (LimitHeaders("requests", "limit", "remaining", "reset"),)
    groups = (EndpointGroup(("/v1",), documented),) if documented else ()

    async def all_of_them(clock: Callable[[], float]) -> list[float]:
        throttle = Throttle(RateLimitPolicy(RateLimits(groups=groups, limit_headers=gauges)), 60.0, clock=clock)
        limiters = [RateLimiter(None, 60.0, clock) for _ in range(2)]
        moments: list[float] = []

        async def send(number: int, model: str) -> None:
            scope = throttle.find_scope(post("/v1/things", {"model": model}), ("inference", "batches")[number % 2])
            await throttle.acquire(scope, limiters[number % 2])
            moments.append(clock())
            await asyncio.sleep(0.05)
            limit = stated_limit(model)
            throttle.learn(scope, Response(200, {"limit": str(limit)} if limit else {}))

        if stated_limit(models[0]) and not documented:  # each is known before all come at once
            for number, model in enumerate(dict.fromkeys(models)):
                await send(number, model)
                await send(number + 1, model)
            moments.clear()
            await asyncio.sleep(60)
            begin = clock()
        else:
            begin = 0.0
        await asyncio.gather(*(send(number, model) for number, model in enumerate(models)))
        return sorted(moment - begin for moment in moments)

    return virtual_time.run(all_of_them)
