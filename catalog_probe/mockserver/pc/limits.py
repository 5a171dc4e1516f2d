"""PC's rate limits, ramp rate and spending limits, and their headers (2:8.4)."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.limits import Limit, SlidingWindow, charge_all
from catalog_probe.mockserver.pc.call import read_value
from catalog_probe.mockserver.pc.errors import ORGANIZATION_SPEND_LIMIT_EXCEEDED, RATE_LIMIT_EXCEEDED, SLOW_DOWN
from catalog_probe.mockserver.pc.keys import TIER_1, TIER_5, TIGHT
from catalog_probe.mockserver.pc.models import MODELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalog_probe.mockserver.core.limits import Meter, TokenBucket
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.models import Model


class Grant(NamedTuple):
    """A row of the table; None means unlimited."""

    requests_per_minute: int | None = None
    requests_per_day: int | None = None
    tokens_per_minute: int | None = None
    queued_tokens: int | None = None
    images_per_minute: int | None = None
    tokens_per_day: int | None = None


_TIER_1_GRANTS: Mapping[str, Grant] = {
    "old": Grant(500, 10_000, 10_000, 100_000),
    "mid": Grant(500, 10_000, 200_000, 2_000_000),
    "large": Grant(500, None, 30_000, 90_000),
    "long": Grant(100, None, 200_000, 2_000_000),
    "image": Grant(tokens_per_minute=100_000, images_per_minute=5),
    "image_only": Grant(images_per_minute=500),
    "realtime": Grant(200, 1_000, 40_000),
    "speech": Grant(500, None, 50_000),
    "transcription": Grant(500, None, 10_000),
}
_TIER_5_GRANTS: Mapping[str, Grant] = {
    "old": Grant(10_000, None, 1_000_000, 150_000_000),
    "mid": Grant(30_000, None, 150_000_000, 15_000_000_000),
    "large": Grant(10_000, None, 30_000_000, 5_000_000_000),
    "long": Grant(1_000, None, 20_000_000, 2_000_000_000),
    "image": Grant(tokens_per_minute=8_000_000, images_per_minute=250),
    "image_only": Grant(images_per_minute=10_000),
    "realtime": Grant(20_000, None, 15_000_000),
    "speech": Grant(10_000, None, 8_000_000),
    "transcription": Grant(10_000, None, 6_000_000),
}
"""2:8.4 shows no row of Tier 5 for the long-context variants; `long` is the mock's choice."""

GRANTS: Mapping[str, Mapping[str, Grant]] = {
    TIER_1: _TIER_1_GRANTS,
    TIER_5: _TIER_5_GRANTS,
    TIGHT: {
        **dict.fromkeys(_TIER_1_GRANTS, Grant(2, None, 20_000, 20_000, 2, 1_000_000)),
        "realtime": Grant(),  # only `LIVE_SESSIONS` refuses a live session
    },
}
"""By tier and class. `tight` is the mock's own; 2:8.4 shows no row of the tiers in between."""

LIVE_SESSIONS: Mapping[str, int] = {TIGHT: 1}
"""Maximum of concurrent live sessions by tier, if any; 2:8.4 names the metric and no value."""

STORE_REQUESTS: Mapping[str, int] = {TIGHT: 2}
"""Requests a minute to one vector store by tier, where they are not the 300 of 2:8.4: the mock's own."""

RAMP_FROM_TPM = 1_000_000
RAMP_GROWTH = 1.5
RAMP_WINDOW_S = 15 * 60


@dataclass
class Ramp:
    """The tokens that were requested in each minute of the window."""

    minutes: SlidingWindow = field(default_factory=lambda: SlidingWindow(RAMP_WINDOW_S, period_s=60))

    def admits(self, tokens: int, now: float) -> bool:
        """Whether this minute may have so many tokens more: a million, or half more than the busiest minute before.

        Example: after a minute of 2 million tokens, a minute may have 3 million.
        """
        self.minutes.expire(now)
        this_minute = sum(amount for start, amount in self.minutes.sums if start > now - 60) + tokens
        busiest = max((amount for start, amount in self.minutes.sums if start <= now - 60), default=0)
        limits = leniency.get_current().limits
        return limits is None or this_minute <= max(RAMP_FROM_TPM * limits, RAMP_GROWTH * busiest)


@dataclass
class Spending:
    """The organization's monthly hard spend limit in USD, if one is set."""

    limit_usd: int | None = None

    @property
    def is_exhausted(self) -> bool:
        """Whether the limit is reached: the mock charges nothing, so only 0 is."""
        return self.limit_usd == 0


def check_spending(call: Call) -> None:
    """Refuse with 429, without Retry-After, if nothing more may be spent."""
    if call.key.spending_refusal is not None:
        raise call.key.spending_refusal()
    if call.session.state(Spending).is_exhausted:
        raise ORGANIZATION_SPEND_LIMIT_EXCEEDED()


def make_headers(shown_buckets: Mapping[str, TokenBucket], now: float) -> dict[str, str]:
    """Return the headers of all families."""
    headers: dict[str, str] = {}
    for family, bucket in shown_buckets.items():
        headers |= rate_limit_headers(family, bucket, now)
    return headers


def rate_limit_headers(family: str, bucket: TokenBucket, now: float) -> dict[str, str]:
    """Return the headers of one family: requests, tokens or project-tokens."""
    return {
        f"x-ratelimit-limit-{family}": f"{bucket.capacity:.0f}",
        f"x-ratelimit-remaining-{family}": str(bucket.remaining(now)),
        f"x-ratelimit-reset-{family}": format_duration(bucket.full_at(now) - now),
    }


def format_duration(seconds: float) -> str:
    """Format a duration as `1s`, `20ms` or `6m0s`."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms" if seconds > 0 else "0s"
    minutes, remaining_s = divmod(math.ceil(seconds), 60)
    return f"{minutes}m{remaining_s}s" if minutes else f"{remaining_s}s"


def make_retry_after(seconds: float) -> dict[str, str]:
    """Return the Retry-After header, in whole seconds (2:8.4): 0.2 seconds are `{"retry-after": "1"}`."""
    return {"retry-after": str(math.ceil(seconds))}


MINUTE_S, DAY_S = 60, 24 * 3600


def _limit(name: str, unit: str, window_s: int = MINUTE_S, header: str = "") -> Limit:
    return Limit(name, unit, RATE_LIMIT_EXCEEDED, "2:8.4", window_s, header)


REQUESTS_PER_MINUTE = _limit("requests_per_minute", "requests", header="requests")
TOKENS_PER_MINUTE = _limit("tokens_per_minute", "tokens", header="tokens")

# The limits of an organization that count each unit.
REQUEST_LIMITS = (REQUESTS_PER_MINUTE, _limit("requests_per_day", "requests", DAY_S))
TOKEN_LIMITS = (TOKENS_PER_MINUTE, _limit("tokens_per_day", "tokens", DAY_S))
IMAGE_LIMITS = (_limit("images_per_minute", "images"),)

PROJECT_LIMIT = _limit("project_tokens_per_minute", "tokens", header="project-tokens")
STORE_LIMIT = _limit("requests_per_minute_and_vector_store", "requests")

DEFAULT_CLASS = "mid"  # the class of models for a request that names no known model
LONG_CONTEXT_FROM = 272_000  # input tokens above which another table of limits holds (2:8.4); its values are not shown
LONG_CONTEXT_SHARE = 2  # the mock's choice: half of the tokens that are granted to shorter contexts
STORE_REQUESTS_PER_MINUTE = 300  # shared by files and file batches of a vector store (2:8.4)


class BatchQueue(Counter[tuple[str, str]]):
    """Input tokens queued in batches, by organization and model (2:8.4)."""


class LiveSessions(Counter[str]):
    """Open live sessions by organization; the documents show nothing that ends one."""


async def read_counted(call: Call) -> Any:
    """Read the body and count the request: failed requests count (2:7.5)."""
    try:
        body = await read_value(call)
    except Refusal:
        admit_request(call)
        raise
    count_request(call, body)
    return body


def count_request(call: Call, body: Any) -> None:
    """Count a request of the model that its body names, known or not, or refuse it with 429."""
    name = body.get("model") if isinstance(body, dict) else None
    admit_request(call, MODELS.get(name) if isinstance(name, str) else None)


def admit_request(call: Call, model: Model | None = None) -> None:
    """Count one request, or refuse it with 429; show the limits in any case."""
    numbers, scope = find_grant(call, model), _share_limits(call, model)
    try:
        _charge(call, call.session.open_meters(REQUEST_LIMITS, numbers, *scope), requests=1)
    finally:
        # every answer to a generation shows the tokens as well, before any are charged
        shown = call.session.open_meters((REQUESTS_PER_MINUTE, TOKENS_PER_MINUTE), numbers, *scope)
        _show_in_headers(call, [*shown, *_open_project_meter(call)])


def admit_tokens(call: Call, model: Model, prompt: int, max_tokens: int) -> None:
    """Count the larger of max_tokens and the prompt (2:8.4), or refuse with 429.

    Example: a prompt of 10 tokens with `max_tokens: 500` takes 500 of the limits, however short the answer is.
    """
    check_spending(call)
    tokens = max(prompt, max_tokens)
    ramp = call.session.state(Ramp)
    if not ramp.admits(tokens, call.now):
        raise SLOW_DOWN()
    meters = token_meters(call, model, is_long=prompt > LONG_CONTEXT_FROM)
    _charge(call, meters, tokens=tokens)
    ramp.minutes.add(tokens, call.now)
    _show_in_headers(call, meters)


def admit_images(call: Call, model: Model, images: int) -> None:
    """Count images, or refuse with 429."""
    meters = call.session.open_meters(IMAGE_LIMITS, find_grant(call, model), *_share_limits(call, model))
    _charge(call, meters, images=images)


def admit_live_session(call: Call) -> None:
    """Open one more live session, or refuse with 429."""
    sessions, organization = call.session.state(LiveSessions), call.key.organization
    allowed = LIVE_SESSIONS.get(organization.tier)
    if allowed is not None and sessions[organization.id] >= allowed:
        raise make_refusal(call, f"concurrent live sessions: limit {allowed}")
    sessions[organization.id] += 1


def enqueue(call: Call, model: Model, tokens: int) -> None:
    """Queue the input tokens of a batch, or refuse with 429 (2:8.4)."""
    queue, limit = call.session.state(BatchQueue), find_grant(call, model).queued_tokens
    queue_key = call.key.organization.id, model.id
    if limit is not None and queue[queue_key] + tokens > limit:
        raise make_refusal(call, f"enqueued tokens of {model.id}: limit {limit}")
    queue[queue_key] += tokens


def admit_to_store(call: Call) -> None:
    """Count one request to a vector store, or refuse with 429."""
    per_minute = STORE_REQUESTS.get(call.key.organization.tier, STORE_REQUESTS_PER_MINUTE)
    meter = call.session.open_meter(STORE_LIMIT, per_minute, "pc", "vector_store", call.params["vector_store_id"])
    _charge(call, [meter], requests=1)


def find_grant(call: Call, model: Model | None) -> Grant:
    """Return the numbers that the organization's tier grants for the class of the model."""
    return GRANTS[call.key.organization.tier][find_pool(model)]


def find_pool(model: Model | None) -> str:
    """Return the class whose models share limits (2:8.4 "shared limit pools")."""
    return model.limits if model else DEFAULT_CLASS


def _share_limits(call: Call, model: Model | None) -> tuple[str, ...]:
    """Return who shares limits: the organization's requests for models of one class."""
    return "pc", call.key.organization.id, find_pool(model)


def token_meters(call: Call, model: Model, *, is_long: bool) -> list[Meter[Limit]]:
    """Return the meters of tokens: those of the organization, and of the project if it has a limit of its own.

    A long context has less of a minute's tokens, and a meter of its own for them; a day's tokens are one for all.
    """
    scope = _share_limits(call, model)
    meters = call.session.open_meters(TOKEN_LIMITS, find_grant(call, model), *scope)
    if is_long:
        meters = [
            call.session.open_meter(meter.limit, meter.number // LONG_CONTEXT_SHARE, *scope, "long context")
            if meter.limit is TOKENS_PER_MINUTE
            else meter
            for meter in meters
        ]
    return [*meters, *_open_project_meter(call)]


def _open_project_meter(call: Call) -> list[Meter[Limit]]:
    per_minute = call.project.tokens_per_minute
    if per_minute is None:
        return []
    return [call.session.open_meter(PROJECT_LIMIT, per_minute, "pc", "project", call.project.id)]


def _charge(call: Call, meters: Sequence[Meter[Limit]], **amounts: int) -> None:
    """Charge all of these meters, or refuse with the 429 of the first that cannot admit the request."""
    excesses = charge_all(meters, amounts, call.now)
    if excesses:
        meter, wait_s = excesses[0].meter, excesses[0].wait_s
        raise make_refusal(call, f"{meter.limit.name.replace('_', ' ')}: limit {meter.bucket.capacity:.0f}", wait_s)


def make_refusal(call: Call, limit: str, wait_s: float | None = None) -> Refusal:
    """Make the 429 of a limit, with the seconds to wait if they are known."""
    headers = None if wait_s is None else make_retry_after(max(1, wait_s))
    return RATE_LIMIT_EXCEEDED(holder=f"organization {call.key.organization.id}", limit=limit, headers=headers)


def _show_in_headers(call: Call, meters: Iterable[Meter[Limit]]) -> None:
    """Let the headers of the answer show the meters that have a family of headers."""
    call.shown_buckets.update({meter.limit.header: meter.bucket for meter in meters if meter.limit.header})
