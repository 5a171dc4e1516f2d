"""PC's limits: what is counted a minute, a day and in the queue of batches, and what is refused beyond it (2:8.4)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.limits import Charge, take_all
from catalog_probe.mockserver.pc.bodies import read_value
from catalog_probe.mockserver.pc.errors import RATE_LIMIT_EXCEEDED, SLOW_DOWN
from catalog_probe.mockserver.pc.limits.headers import FAMILIES, retry_after
from catalog_probe.mockserver.pc.limits.ramp import Ramp
from catalog_probe.mockserver.pc.limits.spending import refuse_spenders
from catalog_probe.mockserver.pc.limits.tiers import GRANTS, LIVE_SESSIONS
from catalog_probe.mockserver.pc.models import MODELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.pc.gateway import Call
    from catalog_probe.mockserver.pc.limits.tiers import Grant
    from catalog_probe.mockserver.pc.models import Model

MINUTES_A_DAY = 24 * 60

OF_REQUESTS = ("requests_per_minute", "requests_per_day")
OF_TOKENS = ("tokens_per_minute", "tokens_per_day")
OF_LONG_CONTEXT = ("long_context_tokens_per_minute", "tokens_per_day")
OF_IMAGES = ("images_per_minute",)
"""Which limits count what; a project's own counts tokens, too."""

SHOWN = ("requests_per_minute", "tokens_per_minute")
"""The limits that every answer of a generation tells of."""

UNNAMED = "mid"
"""The class of model that a request counts for which names no model that there is."""

LONG_CONTEXT_FROM = 272_000
"""Above so many input tokens another table holds (2:8.4); its values are not shown."""

LONG_CONTEXT_SHARE = 2
"""The mock's own: half of the tokens that are granted otherwise."""

STORE_REQUESTS_PER_MINUTE = 300
"""Of files and file batches together, per vector store (2:8.4)."""

Meter = tuple[str, "TokenBucket"]
"""A limit by its name, and how much of it is left."""


class Queue(Counter[tuple[str, str]]):
    """The input tokens that wait in batches, by organization and model: the batch queue limit (2:8.4)."""


class LiveSessions(Counter[str]):
    """The live sessions that are open, by organization; the documents show nothing that ends one."""


async def read_counted(call: Call) -> Any:
    """The JSON of a request that counts, whether it will succeed or not (2:7.5); or 400, or 429."""
    try:
        body = await read_value(call)
    except Refusal:
        admit_request(call)
        raise
    count_request(call, body)
    return body


def count_request(call: Call, body: Any) -> None:
    """Count the request that a body makes, towards the limits of the model that it names; or 429."""
    name = body.get("model") if isinstance(body, dict) else None
    admit_request(call, MODELS.get(name) if isinstance(name, str) else None)


def admit_request(call: Call, model: Model | None = None) -> None:
    """Count one request, or 429; the answer tells of the limits in any case."""
    try:
        _take(call, _meters(call, model, OF_REQUESTS), 1)
    finally:
        _show(call, _meters(call, model, SHOWN))


def admit_tokens(call: Call, model: Model, prompt: int, max_tokens: int) -> None:
    """Count the larger of max_tokens and the estimated prompt (2:8.4), or 429; and refuse those out of money."""
    refuse_spenders(call)
    tokens = max(prompt, max_tokens)
    is_long = prompt > LONG_CONTEXT_FROM
    meters = [*_meters(call, model, OF_LONG_CONTEXT if is_long else OF_TOKENS)]
    ramp = call.session.state(Ramp)
    if not ramp.admits(tokens, call.now):
        raise SLOW_DOWN()
    _take(call, meters, tokens)
    ramp.count(tokens, call.now)
    _show(call, meters)


def admit_images(call: Call, model: Model, images: int) -> None:
    """Count images, or 429."""
    _take(call, _meters(call, model, OF_IMAGES), images)


def admit_live_session(call: Call) -> None:
    """Open one more live session, or 429."""
    sessions, organization = call.session.state(LiveSessions), call.key.organization
    allowed = LIVE_SESSIONS.get(organization.tier)
    if allowed is not None and sessions[organization.id] >= allowed:
        raise make_excess(call, f"concurrent live sessions: limit {allowed}")
    sessions[organization.id] += 1


def enqueue(call: Call, model: Model, tokens: int) -> None:
    """Queue the input tokens of a batch, as many as the model's queue takes of the organization (2:8.4), or 429."""
    queue, limit = call.session.state(Queue), grant_of(call, model).queued_tokens
    place = call.key.organization.id, model.id
    if limit is not None and queue[place] + tokens > limit:
        raise make_excess(call, f"enqueued tokens of {model.id}: limit {limit}")
    queue[place] += tokens


def admit_to_store(call: Call) -> None:
    """Count one request of a vector store, or 429."""
    key = ("pc", "vector_store", call.params["vector_store_id"])
    bucket = call.session.bucket(key, STORE_REQUESTS_PER_MINUTE)
    _take(call, [("requests_per_minute_and_vector_store", bucket)], 1)


def grant_of(call: Call, model: Model | None) -> Grant:
    """What the organization's tier grants for the model's class."""
    return GRANTS[call.key.organization.tier][pool_of(model)]


def pool_of(model: Model | None) -> str:
    """The models whose limits are one: those of a class (2:8.4 "shared limit pools")."""
    return model.limits if model else UNNAMED


def _meters(call: Call, model: Model | None, limits: Iterable[str]) -> Iterator[Meter]:
    """Those of the limits that the organization has for a class of models, and its project's own of tokens."""
    for limit in limits:
        number = _number(grant_of(call, model), limit)
        if number is not None:
            period = MINUTES_A_DAY if limit.endswith("_day") else 1
            key = ("pc", call.key.organization.id, pool_of(model), limit)
            yield limit.removeprefix("long_context_"), call.session.bucket(key, number / period, number)
        if limit.endswith("tokens_per_minute") and call.project.tokens_per_minute is not None:
            bucket = call.session.bucket(("pc", "project", call.project.id), call.project.tokens_per_minute)
            yield "project_tokens_per_minute", bucket


def _number(grant: Grant, limit: str) -> int | None:
    if limit != OF_LONG_CONTEXT[0]:
        number: int | None = getattr(grant, limit)
        return number
    return None if grant.tokens_per_minute is None else grant.tokens_per_minute // LONG_CONTEXT_SHARE


def _take(call: Call, meters: Iterable[Meter], amount: int) -> None:
    """Charge all of these limits, or 429 for the first that cannot take so much more."""
    beyond = take_all([Charge(limit, bucket, amount) for limit, bucket in meters], call.now)
    if beyond:
        charge, wait_s = beyond[0].charge, beyond[0].wait_s
        raise make_excess(call, f"{charge.limit.replace('_', ' ')}: limit {charge.bucket.capacity:.0f}", wait_s)


def make_excess(call: Call, limit: str, wait_s: float | None = None) -> Refusal:
    """The 429 of a limit; it says how many seconds to wait where that is known."""
    headers = None if wait_s is None else retry_after(max(1, wait_s))
    return RATE_LIMIT_EXCEEDED(holder=f"organization {call.key.organization.id}", limit=limit, headers=headers)


def _show(call: Call, meters: Iterable[Meter]) -> None:
    """Let the answer tell of those limits that have headers."""
    call.meters.update({FAMILIES[limit]: bucket for limit, bucket in meters if limit in FAMILIES})
