"""2:8.4 PC rate limits: what ordinary answers tell of them by tier and class of model, and the answer beyond one.

What only a day of traffic, or 200,000 USD, would use up is left to recorded traffic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.call import Call, post
from catalog_probe.probes.recipes.rate_limit_parts import SLUG, exhausted_part
from catalog_probe.probes.recipes.recipe import Family, isolate_each
from catalog_probe.probes.targets.target import Cost

from .requests import IMAGE, TOKENS, create_completion, create_response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.recipes.probe import Probe

LIMITS = Family("pc/rate_limits/limits")
NEEDS_HEAVY_USE = (ReasonCode.NO_DOCUMENTED_SETUP, "only so much use brings it about")

TIERS = {"tier_1": "paid_5", "tier_5": "paid_1000"}
"""Tier -> role of a key of an organization in it (tier 1: 5 paid, tier 5: 1000 paid)."""

BOUND = 8
"""Most free requests sent to use up the limit of the tight key."""

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


async def long_context(probe: Probe) -> None:
    """Send a prompt below and one above 272K tokens, whether K is 1,000 or 1,024; a token has four characters."""
    for label, tokens in (("context_within_272k", 270_000), ("context_above_272k", 280_000)):
        call = create_response(model="{verbose_model}", input=" the" * tokens)
        await probe.send(call.replace(credential=TIERS["tier_5"]), label)


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

PARTS = {
    **LIMITS.optional_calls(SLUG, ANSWERS, cost=Cost.BILLABLE, tokens=TOKENS),
    # "long-context limit (separate table above 272K input tokens)"
    "long_context": LIMITS.recipe(
        SLUG,
        steps=long_context,
        labels=("context_within_272k", "context_above_272k"),
        requests=2,
        tokens=560_000,
        roles={TIERS["tier_5"]},
        needs={"verbose_model"},
        cost=Cost.DISRUPTIVE,
        not_live=NEEDS_HEAVY_USE,
    ),
    # "Retry-After (seconds, for 429 and 503)"
    **exhausted_part(LIMITS, FAILING, BOUND, remaining=REMAINING),
}

RECIPES = (
    LIMITS.recipe(SLUG, CHAT, cost=Cost.BILLABLE, tokens=32, optional=isolate_each(PARTS), not_sent=NEEDS_HEAVY_USE),
)
