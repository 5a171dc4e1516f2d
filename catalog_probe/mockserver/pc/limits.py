"""PC's rate limits, ramp rate and spending limits, and their headers (2:8.4)."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.core.buckets import Charge, SlidingWindow, take_all
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.pc.call import read_value
from catalog_probe.mockserver.pc.errors import ORGANIZATION_SPEND_LIMIT_EXCEEDED, RATE_LIMIT_EXCEEDED, SLOW_DOWN
from catalog_probe.mockserver.pc.models import MODELS
from catalog_probe.mockserver.pc.tiers import GRANTS, LIVE_SESSIONS, STORE_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.models import Model
    from catalog_probe.mockserver.pc.tiers import Grant


RAMP_FROM_TPM = 1_000_000
RAMP_GROWTH = 1.5
RAMP_WINDOW_S = 15 * 60


@dataclass
class Ramp:
    """The tokens that were requested in each minute of the window."""

    minutes: SlidingWindow = field(default_factory=lambda: SlidingWindow(RAMP_WINDOW_S, period_s=60))

    def admits(self, tokens: int, now: float) -> bool:
        """Return whether this minute may have so many tokens more."""
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


FAMILIES: Mapping[str, str] = {
    "requests_per_minute": "requests",
    "tokens_per_minute": "tokens",
    "project_tokens_per_minute": "project-tokens",
}
"""The family of headers of each limit, as in `x-ratelimit-limit-requests`."""


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
    """Return the Retry-After header, in whole seconds (2:8.4)."""
    return {"retry-after": str(math.ceil(seconds))}


MINUTES_A_DAY = 24 * 60

# The limits that count each unit; a project's own limit counts tokens as well.
REQUEST_LIMITS = ("requests_per_minute", "requests_per_day")
TOKEN_LIMITS = ("tokens_per_minute", "tokens_per_day")
LONG_CONTEXT_LIMITS = ("long_context_tokens_per_minute", "tokens_per_day")
IMAGE_LIMITS = ("images_per_minute",)

HEADER_LIMITS = ("requests_per_minute", "tokens_per_minute")  # the limits that the headers of every generation show
DEFAULT_CLASS = "mid"  # the class of models for a request that names no known model
LONG_CONTEXT_FROM = 272_000  # input tokens above which another table of limits holds (2:8.4); its values are not shown
LONG_CONTEXT_SHARE = 2  # the mock's choice: half of the tokens that are granted to shorter contexts
STORE_REQUESTS_PER_MINUTE = 300  # shared by files and file batches of a vector store (2:8.4)

NamedBucket = tuple[str, "TokenBucket"]  # the name of a limit, and its bucket


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
    """Count a request of the model that its body names, or refuse it with 429."""
    name = body.get("model") if isinstance(body, dict) else None
    admit_request(call, MODELS.get(name) if isinstance(name, str) else None)


def admit_request(call: Call, model: Model | None = None) -> None:
    """Count one request, or refuse it with 429; show the limits in any case."""
    try:
        _charge(call, _find_buckets(call, model, REQUEST_LIMITS), 1)
    finally:
        _show_in_headers(call, _find_buckets(call, model, HEADER_LIMITS))


def admit_tokens(call: Call, model: Model, prompt: int, max_tokens: int) -> None:
    """Count the larger of max_tokens and the prompt (2:8.4), or refuse with 429."""
    check_spending(call)
    tokens = max(prompt, max_tokens)
    is_long = prompt > LONG_CONTEXT_FROM
    buckets = [*_find_buckets(call, model, LONG_CONTEXT_LIMITS if is_long else TOKEN_LIMITS)]
    ramp = call.session.state(Ramp)
    if not ramp.admits(tokens, call.now):
        raise SLOW_DOWN()
    _charge(call, buckets, tokens)
    ramp.minutes.add(tokens, call.now)
    _show_in_headers(call, buckets)


def admit_images(call: Call, model: Model, images: int) -> None:
    """Count images, or refuse with 429."""
    _charge(call, _find_buckets(call, model, IMAGE_LIMITS), images)


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
    key = ("pc", "vector_store", call.params["vector_store_id"])
    bucket = call.session.bucket(key, STORE_REQUESTS.get(call.key.organization.tier, STORE_REQUESTS_PER_MINUTE))
    _charge(call, [("requests_per_minute_and_vector_store", bucket)], 1)


def find_grant(call: Call, model: Model | None) -> Grant:
    """Return what the organization's tier grants for the class of the model."""
    return GRANTS[call.key.organization.tier][find_pool(model)]


def find_pool(model: Model | None) -> str:
    """Return the class whose models share limits (2:8.4 "shared limit pools")."""
    return model.limits if model else DEFAULT_CLASS


def _find_buckets(call: Call, model: Model | None, limits: Iterable[str]) -> Iterator[NamedBucket]:
    """Yield the buckets of organization and project for the model."""
    for limit in limits:
        number = _read_number(find_grant(call, model), limit)
        if number is not None:
            period = MINUTES_A_DAY if limit.endswith("_day") else 1
            key = ("pc", call.key.organization.id, find_pool(model), limit)
            yield limit.removeprefix("long_context_"), call.session.bucket(key, number / period, number)
        if limit.endswith("tokens_per_minute") and call.project.tokens_per_minute is not None:
            bucket = call.session.bucket(("pc", "project", call.project.id), call.project.tokens_per_minute)
            yield "project_tokens_per_minute", bucket


def _read_number(grant: Grant, limit: str) -> int | None:
    if limit != LONG_CONTEXT_LIMITS[0]:
        number: int | None = getattr(grant, limit)
        return number
    return None if grant.tokens_per_minute is None else grant.tokens_per_minute // LONG_CONTEXT_SHARE


def _charge(call: Call, buckets: Iterable[NamedBucket], amount: int) -> None:
    """Charge all of these limits, or refuse with 429."""
    blocked_charges = take_all([Charge(limit, bucket, amount) for limit, bucket in buckets], call.now)
    if blocked_charges:
        charge, wait_s = blocked_charges[0].charge, blocked_charges[0].wait_s
        raise make_refusal(call, f"{charge.limit.replace('_', ' ')}: limit {charge.bucket.capacity:.0f}", wait_s)


def make_refusal(call: Call, limit: str, wait_s: float | None = None) -> Refusal:
    """Make the 429 of a limit, with the seconds to wait if they are known."""
    headers = None if wait_s is None else make_retry_after(max(1, wait_s))
    return RATE_LIMIT_EXCEEDED(holder=f"organization {call.key.organization.id}", limit=limit, headers=headers)


def _show_in_headers(call: Call, buckets: Iterable[NamedBucket]) -> None:
    """Show the limits that have headers in the response."""
    call.shown_buckets.update({FAMILIES[limit]: bucket for limit, bucket in buckets if limit in FAMILIES})
