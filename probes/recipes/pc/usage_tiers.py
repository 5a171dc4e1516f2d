"""What PC grants by usage tier and class of model: each documented value, and both sides of each limit (2:8.4).

A provider would have to be used for a day, or for 200,000 USD, so that a limit is only ever reached on a mock: there
`already_used` says how much was used before the call. What a header tells is looked at wherever the target has a key
of an organization of that tier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from catalog.model.codes import ReasonCode
from catalog.model.labels import SETUP
from probes.calls.call import Call, get, post
from probes.elicit.recipe import Family, Recipe, Steps
from probes.recipes.limit_looks import SLUG, TIGHT
from probes.recipes.pc.making import STORE, make
from probes.recipes.pc.requests import STORES, TOKENS, completion, response
from probes.target.target import Cost

if TYPE_CHECKING:
    from probes.elicit.probe import Probe

LIMITS = Family("pc/rate_limits/limits")
FIRST, LAST = "paid_5", "paid_1000"
"""The roles of keys in Tier 1 and in Tier 5."""

POOLED = "paid_100"
"""The role of a key whose limits no other look uses up: it is granted what Tier 1 is."""

ONLY_VOLUME = (ReasonCode.NO_DOCUMENTED_SETUP, "only so much use brings it about")


def image(model: str) -> Call:
    return post("/v1/images/generations", {"model": model, "prompt": "hi"})


def live_session(model: str) -> Call:
    return post("/v1/live/sessions", {"model": model})


def speech(model: str) -> Call:
    return post("/v1/audio/speech", {"model": model, "input": "hi", "voice": "alloy"})


def batch(file: str) -> Call:
    """A batch of 1,000 input tokens."""
    return post("/v1/batches", {"input_file_id": file, "endpoint": "/v1/responses", "completion_window": "24h"})


def having_used(call: Call, metered: str, amount: int) -> Call:
    """The call as it comes after so much use of a limit."""
    return call.befallen(f"already_used;of={metered};amount={amount}")


CLASSES: Mapping[str, Call] = {
    "older_completion": completion(model="{small_context_model}"),
    "mid_size_chat": completion(),
    "large_chat": completion(model="{large_model}"),
    "long_context": completion(model="{long_context_model}"),
    "image": image("{image_model}"),
    "realtime": live_session("{realtime_model}"),
    "speech": speech("{speech_model}"),
    "transcription": speech("{transcription_model}"),
}
"""Class of models of 2:8.4 -> the smallest request to one of them."""

ONE_IMAGE_A_TIME = image("{image_only_model}")


class Bound(NamedTuple):
    """A limit that some requests keep to: whose key, the request, what is counted, the limit, and what one takes."""

    role: str
    call: Call
    metered: str
    limit: int
    takes: int = 1


BOUNDS: Mapping[str, Bound] = {
    "older_completion_tier_1_day": Bound(FIRST, CLASSES["older_completion"], "requests_per_day", 10_000),
    "mid_size_chat_tier_1_day": Bound(FIRST, CLASSES["mid_size_chat"], "requests_per_day", 10_000),
    "realtime_tier_1_day": Bound(FIRST, CLASSES["realtime"], "requests_per_day", 1_000),
    "older_completion_tier_1_queue": Bound(FIRST, batch("{older_batch_file}"), "queued_tokens", 100_000, 1_000),
    "older_completion_tier_5_queue": Bound(LAST, batch("{older_batch_file}"), "queued_tokens", 150_000_000, 1_000),
    "mid_size_chat_tier_1_queue": Bound(FIRST, batch("{batch_file}"), "queued_tokens", 2_000_000, 1_000),
    "mid_size_chat_tier_5_queue": Bound(LAST, batch("{batch_file}"), "queued_tokens", 15_000_000_000, 1_000),
    "large_chat_tier_1_queue": Bound(FIRST, batch("{large_batch_file}"), "queued_tokens", 90_000, 1_000),
    "large_chat_tier_5_queue": Bound(LAST, batch("{large_batch_file}"), "queued_tokens", 5_000_000_000, 1_000),
    "long_context_tier_1_queue": Bound(FIRST, batch("{long_context_batch_file}"), "queued_tokens", 2_000_000, 1_000),
    "image_tier_1_images": Bound(FIRST, CLASSES["image"], "images_per_minute", 5),
    "image_tier_5_images": Bound(LAST, CLASSES["image"], "images_per_minute", 250),
    "image_only_free_images": Bound("paid_4", ONE_IMAGE_A_TIME, "images_per_minute", 1),
    "image_only_tier_1_images": Bound(FIRST, ONE_IMAGE_A_TIME, "images_per_minute", 500),
    "image_only_tier_5_images": Bound(LAST, ONE_IMAGE_A_TIME, "images_per_minute", 10_000),
    "image_tier_1_tokens": Bound(FIRST, CLASSES["image"], "tokens_per_minute", 100_000),
    "realtime_tier_1_requests": Bound(FIRST, CLASSES["realtime"], "requests_per_minute", 200),
    "speech_tier_1_requests": Bound(FIRST, CLASSES["speech"], "requests_per_minute", 500),
    "transcription_tier_1_requests": Bound(FIRST, CLASSES["transcription"], "requests_per_minute", 500),
    "ingestion": Bound(
        "inference",
        get("/v1/vector_stores/{vector_store}/files", headers=STORES),
        "vector_store_requests_per_minute",
        300,
    ),
    "project_max_tokens": Bound(
        "project_limit", response(max_output_tokens=1_000), "project_tokens_per_minute", 100_000, 1_000
    ),
    "project_prompt": Bound("project_limit", response(input="x" * 4_000), "project_tokens_per_minute", 100_000, 1_000),
    "tokens_per_day": Bound(TIGHT, completion(), "tokens_per_day", 1_000_000, 1),
}
"""Label without its ending -> a limit, of which the request is let take the last, and refused one beyond."""

UNBOUND: Mapping[str, tuple[str, str]] = {
    "older_completion_tier_5_no_day": (LAST, "older_completion"),
    "mid_size_chat_tier_5_no_day": (LAST, "mid_size_chat"),
    "large_chat_tier_1_no_day": (FIRST, "large_chat"),
    "realtime_tier_5_no_day": (LAST, "realtime"),
}
"""Label -> a role and a class that no day limits."""

ENDLESS = 10**12

NOT_OF_IMAGES = {"requests": "requests_per_minute", "day": "requests_per_day", "tokens": "tokens_per_minute"}
"""What does not limit a model that is limited in images a minute alone."""

MONTHS: Mapping[str, tuple[str, int]] = {
    "free": ("paid_4", 100),
    "tier_1": ("paid_5", 100),
    "tier_1_still": ("paid_49", 100),
    "tier_2": ("paid_50", 500),
    "tier_2_still": ("paid_99", 500),
    "tier_3": ("paid_100", 1_000),
    "tier_3_still": ("paid_249", 1_000),
    "tier_4": ("paid_250", 5_000),
    "tier_4_still": ("paid_999", 5_000),
    "tier_5": ("paid_1000", 200_000),
}
"""Label without its ending -> who paid how much, and may spend how many USD a month."""


def look(label: str, call: Call, role: str) -> Recipe:
    return LIMITS.recipe(SLUG, call.but(credential=role), label=label, cost=Cost.BILLABLE, tokens=TOKENS)


def both_sides(label: str, bound: Bound, minutes: int) -> Iterator[tuple[str, Recipe]]:
    """The last that a limit lets pass, and the first beyond it, so many minutes from now.

    Several limits hold for one request: by the time of this look, what an earlier one used up of another has come back.
    """
    for ending, used in (("last", bound.limit - bound.takes), ("beyond", bound.limit - bound.takes + 1)):
        name = f"{label}_{ending}"
        yield name, look(name, having_used(bound.call, bound.metered, used).later(f"+{minutes}m"), bound.role)


def walked(label: str, steps: Steps, *, requests: int, roles: set[str], needs: set[str]) -> Recipe:
    """A look of several steps, which only a mock lets use so much."""
    return LIMITS.recipe(
        SLUG,
        steps=steps,
        label=label,
        requests=requests,
        tokens=requests * TOKENS,
        roles=roles,
        needs=needs,
        cost=Cost.DISRUPTIVE,
        live=ONLY_VOLUME,
    )


async def ingestion_is_shared(probe: Probe) -> None:
    """Files use up what file batches take of the same store."""
    await probe.send(having_used(BOUNDS["ingestion"].call, BOUNDS["ingestion"].metered, 3_000), SETUP)
    await probe.send(
        post("/v1/vector_stores/{vector_store}/file_batches", {"file_ids": ["{file}"]}, headers=STORES),
        "ingestion_shared",
    )


async def ingestion_of_another_store(probe: Probe) -> None:
    store = await make(probe, STORE)
    await probe.send(having_used(BOUNDS["ingestion"].call, BOUNDS["ingestion"].metered, 3_000), SETUP)
    await probe.send(get(f"/v1/vector_stores/{store}/files", headers=STORES), "ingestion_of_another_store")


async def queue_of_another_model(probe: Probe) -> None:
    full = having_used(batch("{batch_file}"), "queued_tokens", 2_000_000)
    await probe.send(full.but(credential=POOLED), SETUP)
    await probe.send(batch("{large_batch_file}").but(credential=POOLED), "queue_of_another_model")


async def pool_is_shared(probe: Probe) -> None:
    """The tokens of one model use up those of another in its pool."""
    full = having_used(completion(), "tokens_per_minute", 2_000_000)
    await probe.send(full.but(credential=POOLED), SETUP)
    await probe.send(completion(model="{pooled_model}").but(credential=POOLED), "pool_shared")


async def pool_of_another_model(probe: Probe) -> None:
    full = having_used(completion(), "tokens_per_minute", 2_000_000)
    await probe.send(full.but(credential=POOLED), SETUP)
    await probe.send(CLASSES["large_chat"].but(credential=POOLED), "pool_of_another_model")


async def one_live_session_too_many(probe: Probe) -> None:
    session = live_session("{realtime_model}").but(credential=TIGHT)
    await probe.setup(session)
    await probe.send(session, "live_session_beyond")


HALF_A_MILLION = 500_000
"""Tokens that one request asks for, and hardly generates."""


async def grown_by_half(probe: Probe) -> None:
    """A million in one minute, a million and a half in the next; and half a million more is too fast."""
    ask = response(model="{verbose_model}", max_output_tokens=HALF_A_MILLION)
    for _ in range(2):
        await probe.setup(ask.later("+1h"))
    for _ in range(2):
        await probe.setup(ask.later("+62m"))
    await probe.send(ask.later("+62m"), "ramp_grown_by_half")


async def grown_faster(probe: Probe) -> None:
    """The smallest request there is, beyond a million and a half after a million; later than any other look."""
    ask = response(model="{verbose_model}", max_output_tokens=HALF_A_MILLION)
    for _ in range(2):
        await probe.setup(ask.later("+9h"))
    for _ in range(3):
        await probe.setup(ask.later("+542m"))
    await probe.send(response(model="{verbose_model}").later("+542m"), "ramp_grown_faster")


async def not_yet_a_ramp(probe: Probe) -> None:
    """Nine tenths of a million at once, out of nothing: the documents say "about" a million (2:8.4)."""
    ask = response(model="{verbose_model}", max_output_tokens=HALF_A_MILLION * 9 // 10)
    await probe.setup(ask.later("+5h"))
    await probe.send(ask.later("+5h"), "ramp_from_nothing")


async def grown_in_fourteen_minutes(probe: Probe) -> None:
    """What was asked for fourteen minutes ago is still the measure."""
    ask = response(model="{verbose_model}", max_output_tokens=HALF_A_MILLION)
    for _ in range(2):
        await probe.setup(ask.later("+7h"))
    for _ in range(2):
        await probe.setup(ask.later("+434m"))
    await probe.send(ask.later("+434m"), "ramp_grown_in_14_minutes")


async def long_context(probe: Probe) -> None:
    """A prompt below 272K tokens, whether K is 1,000 or 1,024, and one above: of four characters a token."""
    for label, tokens in (("context_within_272k", 270_000), ("context_above_272k", 280_000)):
        await probe.send(response(model="{verbose_model}", input=" the" * tokens).but(credential=LAST), label)


LOOKS: Mapping[str, Recipe] = {
    **{
        f"{name}_{tier}": look(f"{name}_{tier}", call, role)
        for name, call in CLASSES.items()
        for tier, role in (("tier_1", FIRST), ("tier_5", LAST))
        if (name, tier) != ("long_context", "tier_5")
    },
    **{
        f"{label}_month_{ending}": look(
            f"{label}_month_{ending}", having_used(completion(), "usd_a_month", usd - before), role
        )
        for label, (role, usd) in MONTHS.items()
        for ending, before in (("last", 1), ("beyond", 0))
    },
    **{
        name: made
        for number, (label, bound) in enumerate(BOUNDS.items())
        for name, made in both_sides(label, bound, 2 * number)
    },
    **{
        label: look(label, having_used(CLASSES[name], "requests_per_day", ENDLESS), role)
        for label, (role, name) in UNBOUND.items()
    },
    **{
        f"image_only_tier_1_no_{what}": look(
            f"image_only_tier_1_no_{what}", having_used(ONE_IMAGE_A_TIME, metered, ENDLESS), POOLED
        )
        for what, metered in NOT_OF_IMAGES.items()
    },
    "free_elsewhere": look("free_elsewhere", completion().befallen("unsupported_region"), "paid_4"),
    "project_larger_alone": look(
        "project_larger_alone",
        having_used(response(input="x" * 3_200, max_output_tokens=1_000), "project_tokens_per_minute", 99_000),
        "project_limit",
    ),
    "ingestion_shared": walked(
        "ingestion_shared", ingestion_is_shared, requests=2, roles=set(), needs={"vector_store", "file"}
    ),
    "ingestion_of_another_store": walked(
        "ingestion_of_another_store", ingestion_of_another_store, requests=3, roles=set(), needs={"vector_store"}
    ),
    "queue_of_another_model": walked(
        "queue_of_another_model",
        queue_of_another_model,
        requests=2,
        roles={POOLED},
        needs={"batch_file", "large_batch_file"},
    ),
    "pool_shared": walked(
        "pool_shared", pool_is_shared, requests=2, roles={POOLED}, needs={"small_model", "pooled_model"}
    ),
    "pool_of_another_model": walked(
        "pool_of_another_model",
        pool_of_another_model,
        requests=2,
        roles={POOLED},
        needs={"small_model", "large_model"},
    ),
    "live_session_beyond": walked(
        "live_session_beyond", one_live_session_too_many, requests=2, roles={TIGHT}, needs={"realtime_model"}
    ),
    "long_context": LIMITS.recipe(
        SLUG,
        steps=long_context,
        labels=("context_within_272k", "context_above_272k"),
        requests=2,
        tokens=560_000,
        roles={LAST},
        needs={"verbose_model"},
        cost=Cost.DISRUPTIVE,
        live=ONLY_VOLUME,
    ),
    "ramp_grown_by_half": walked("ramp_grown_by_half", grown_by_half, requests=5, roles=set(), needs={"verbose_model"}),
    "ramp_from_nothing": walked("ramp_from_nothing", not_yet_a_ramp, requests=2, roles=set(), needs={"verbose_model"}),
    "ramp_grown_in_14_minutes": walked(
        "ramp_grown_in_14_minutes",
        grown_in_fourteen_minutes,
        requests=5,
        roles=set(),
        needs={"verbose_model"},
    ),
    "ramp_grown_faster": walked("ramp_grown_faster", grown_faster, requests=6, roles=set(), needs={"verbose_model"}),
}
"""By label, what is looked at besides an ordinary answer; the months first, for they use nothing up."""
