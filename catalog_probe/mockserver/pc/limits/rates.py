"""PC's rate limits (2:8.4)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.buckets import Charge, take_all
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.pc.bodies import read_value
from catalog_probe.mockserver.pc.errors import RATE_LIMIT_EXCEEDED, SLOW_DOWN
from catalog_probe.mockserver.pc.limits.headers import FAMILIES, make_retry_after
from catalog_probe.mockserver.pc.limits.ramp import Ramp
from catalog_probe.mockserver.pc.limits.spending import check_spending
from catalog_probe.mockserver.pc.limits.tiers import GRANTS, LIVE_SESSIONS, STORE_REQUESTS
from catalog_probe.mockserver.pc.models import MODELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.limits.tiers import Grant
    from catalog_probe.mockserver.pc.models import Model

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
