"""What PC grants by usage tier and class of model, as the headers of ordinary answers tell it (2:8.4).

What only a day of traffic, or 200,000 USD, would use up is left to recorded traffic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.call import Call, post
from catalog_probe.probes.recipes.limit_looks import SLUG
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost

from .requests import TOKENS, completion, response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.recipes.probe import Probe

LIMITS = Family("pc/rate_limits/limits")
TIERS = {"tier_1": "paid_5", "tier_5": "paid_1000"}
"""By tier: the role of a key of an organization in it."""

ONLY_VOLUME = (ReasonCode.NO_DOCUMENTED_SETUP, "only so much use brings it about")


def speech(model: str) -> Call:
    return post("/v1/audio/speech", {"model": model, "input": "hi", "voice": "alloy"})


CLASSES: Mapping[str, Call] = {
    "older_completion": completion(model="{small_context_model}"),
    "mid_size_chat": completion(),
    "large_chat": completion(model="{large_model}"),
    "long_context": completion(model="{long_context_model}"),
    "image": post("/v1/images/generations", {"model": "{image_model}", "prompt": "hi"}),
    "realtime": post("/v1/live/sessions", {"model": "{realtime_model}"}),
    "speech": speech("{speech_model}"),
    "transcription": speech("{transcription_model}"),
}
"""Class of models of 2:8.4 -> the smallest request to one of them."""

BATCH = post("/v1/batches", {"input_file_id": "{batch_file}", "endpoint": "/v1/responses", "completion_window": "24h"})


def look(label: str, call: Call, role: str) -> Recipe:
    return LIMITS.recipe(SLUG, call.but(credential=role), label=label, cost=Cost.BILLABLE, tokens=TOKENS)


async def long_context(probe: Probe) -> None:
    """A prompt below 272K tokens, whether K is 1,000 or 1,024, and one above: of four characters a token."""
    for label, tokens in (("context_within_272k", 270_000), ("context_above_272k", 280_000)):
        call = response(model="{verbose_model}", input=" the" * tokens)
        await probe.send(call.but(credential=TIERS["tier_5"]), label)


LOOKS: Mapping[str, Recipe] = {
    **{
        f"{name}_{tier}": look(f"{name}_{tier}", call, role)
        for name, call in CLASSES.items()
        for tier, role in TIERS.items()
        if (name, tier) != ("long_context", "tier_5")
    },
    "mid_size_chat_tier_1_queue_last": look("mid_size_chat_tier_1_queue_last", BATCH, TIERS["tier_1"]),
    "free_elsewhere": look("free_elsewhere", completion().befallen("unsupported_region"), "inference"),
    "long_context": LIMITS.recipe(
        SLUG,
        steps=long_context,
        labels=("context_within_272k", "context_above_272k"),
        requests=2,
        tokens=560_000,
        roles={TIERS["tier_5"]},
        needs={"verbose_model"},
        cost=Cost.DISRUPTIVE,
        live=ONLY_VOLUME,
    ),
}
"""By label, what is looked at besides an ordinary answer."""
