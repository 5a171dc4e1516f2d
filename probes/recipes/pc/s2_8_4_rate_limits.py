"""2:8.4 PC rate limits: what ordinary answers tell of them by tier and class of model, and the answer beyond one.

No probe uses up a limit that takes a day of traffic, or 200,000 USD: the record documents it, and nothing asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import Call, post
from catalog_probe.probes.recipes.rate_limits import SLUG, TIGHT, exhaust_tight_key, use_up_limit
from catalog_probe.probes.recipes.recipe import Family, declare_steps
from catalog_probe.probes.targets.target import Cost

from .requests import IMAGE, STORE, TOKENS, add_to_store, create_completion, create_response, files_of, make

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.recipes.probe import Probe

LIMITS = Family("pc/rate_limits/limits")
NEEDS_HEAVY_USE = (ReasonCode.NO_DOCUMENTED_SETUP, "only so much use brings it about")

TIERS = {"tier_1": "paid_5", "tier_5": "paid_1000"}
"""Tier -> role of a key of an organization in it (tier 1: 5 paid, tier 5: 1000 paid)."""

BOUND = 8
"""Most free requests sent to use up the limit of the tight key."""

IMAGES_PER_MINUTE = 5
"""What image models are granted in Tier 1 (2:8.4)."""

REMAINING = "x-ratelimit-remaining-requests"

CHAT = create_completion(max_tokens=None, max_completion_tokens=16)
FAILING = post("/v1/chat/completions", {"model": "{small_model}"})
"""Free, since it fails; it counts toward the limit all the same (2:7.5)."""

BATCH = post("/v1/batches", {"input_file_id": "{batch_file}", "endpoint": "/v1/responses", "completion_window": "24h"})


def speech(model: str) -> Call:
    return post("/v1/audio/speech", {"model": model, "input": "hi", "voice": "alloy"})


CLASSES: Mapping[str, Call] = {
    # "older completion models: Tier 1 500 / 10000 / 10000 / 100000 up to Tier 5 10000 / none / 1000000 / 150000000"
    "older_completion": create_completion(model="{small_context_model}"),
    # "mid-size chat models: Tier 1 500 / 10000 / 200000 / 2000000 up to Tier 5 30000 / none / 150000000 / 15000000000"
    "mid_size_chat": create_completion(),
    # "large chat models: Tier 1 500 / 30000 / 90000 (no RPD) up to Tier 5 10000 / 30000000 / 5000000000"
    "large_chat": create_completion(model="{large_model}"),
    # "long-context variants (128k input) have their own rows, e.g. Tier 1 100 / 200000 / 2000000"
    "long_context": create_completion(model="{long_context_model}"),
    # "image models list TPM and IPM (Tier 1 100000 and 5 up to Tier 5 8000000 and 250)"
    "image": IMAGE,
    # "realtime models list RPM, RPD, TPM (Tier 1 200 / 1000 / 40000 up to Tier 5 20000 / none / 15000000)"
    "realtime": post("/v1/live/sessions", {"model": "{realtime_model}"}),
    # "transcription and speech models list RPM and TPM (Tier 1 500 / 50000 or 10000 up to …)"
    "speech": speech("{speech_model}"),
    "transcription": speech("{transcription_model}"),
}
"""Class of models -> the smallest request to one of them."""


@declare_steps(
    "context_within_272k",
    "context_above_272k",
    requests=2,
    needs={"verbose_model"},
    roles={TIERS["tier_5"]},
)
async def long_context(probe: Probe) -> None:
    """Send a prompt below and one above 272K tokens, whether K is 1,000 or 1,024; a token has four characters."""
    for label, tokens in (("context_within_272k", 270_000), ("context_above_272k", 280_000)):
        call = create_response(model="{verbose_model}", input=" the" * tokens)
        await probe.send(call.replace(credential=TIERS["tier_5"]), label)


@declare_steps("ingestion_shared", "ingestion_of_another_store", requests=BOUND + 4, roles={TIGHT})
async def share_ingestion(probe: Probe) -> None:
    """Use up the minute of a vector store by its files: its file batches are refused, and another store is not."""
    store, other_store = [await make(probe, STORE.replace(credential=TIGHT)) for _ in range(2)]
    await use_up_limit(probe, files_of(store).replace(credential=TIGHT), BOUND)
    await probe.send(add_to_store(store, []).replace(credential=TIGHT), "ingestion_shared")
    await probe.send(files_of(other_store).replace(credential=TIGHT), "ingestion_of_another_store")


@declare_steps("live_session_beyond", requests=BOUND + 1, needs={"realtime_model"}, roles={TIGHT})
async def exceed_live_sessions(probe: Probe) -> None:
    """Open live sessions until one is refused."""
    await use_up_limit(probe, CLASSES["realtime"].replace(credential=TIGHT), BOUND)
    await probe.send(CLASSES["realtime"].replace(credential=TIGHT), "live_session_beyond")


@declare_steps(
    "image_tier_1_images_last",
    "image_tier_1_images_beyond",
    requests=IMAGES_PER_MINUTE + 1,
    needs={"image_model"},
    roles={TIERS["tier_1"]},
)
async def exceed_images(probe: Probe) -> None:
    """Ask for the five images a minute of Tier 1, and for one more."""
    image = IMAGE.replace(credential=TIERS["tier_1"])
    for _ in range(IMAGES_PER_MINUTE - 1):
        await probe.setup(image)
    await probe.send(image, "image_tier_1_images_last")
    await probe.send(image, "image_tier_1_images_beyond")


ANSWERS = {
    # "x-ratelimit-limit-project-tokens, … when a project limit applies"
    "project": CHAT.replace(credential="project_limit"),
    **{
        f"{name}_{tier}": call.replace(credential=role)
        for name, call in CLASSES.items()
        for tier, role in TIERS.items()
        if (name, tier) != ("long_context", "tier_5")
    },
    # "batch queue limit (input tokens queued per model)"
    "mid_size_chat_tier_1_queue_last": BATCH.replace(credential=TIERS["tier_1"]),
    # "Free (allowed geography)"
    "free_elsewhere": create_completion().with_scenario("unsupported_region").replace(credential="inference"),
}
"""Label -> a request whose ordinary answer tells a limit."""

RECIPES = (
    LIMITS.recipe(SLUG, CHAT, cost=Cost.BILLABLE, tokens=TOKENS)
    .with_optional(ANSWERS)
    # "long-context limit (separate table above 272K input tokens)"
    .with_optional(long_context, cost=Cost.DISRUPTIVE, tokens=560_000, not_live=NEEDS_HEAVY_USE)
    # "vector-store ingestion (300 requests/min per vector store, shared by files and file_batches)"
    .with_optional(share_ingestion, cost=Cost.DISRUPTIVE, tokens=share_ingestion.requests * TOKENS)
    # "concurrent live sessions"
    .with_optional(exceed_live_sessions, cost=Cost.DISRUPTIVE, tokens=exceed_live_sessions.requests * TOKENS)
    # "image models list TPM and IPM (Tier 1 100000 and 5 …)"
    .with_optional(exceed_images, cost=Cost.DISRUPTIVE, tokens=exceed_images.requests * TOKENS)
    # "Retry-After (seconds, for 429 and 503)"
    .with_optional(exhaust_tight_key(FAILING, BOUND, remaining=REMAINING), cost=Cost.DISRUPTIVE, tokens=0),
)
