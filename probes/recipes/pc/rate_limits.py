"""PC's rate limits: what ordinary answers say of them, and the answer beyond one (2:8.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.labels import LIMITED
from catalog_probe.probes.calls.call import post
from catalog_probe.probes.recipes.exhausting import exhaust
from catalog_probe.probes.recipes.limit_looks import SLUG, TIGHT, beyond, generated
from catalog_probe.probes.recipes.recipe import Family, each_apart
from catalog_probe.probes.targets.target import Cost

from .usage_tiers import LOOKS, ONLY_VOLUME

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

LIMITS = Family("pc/rate_limits/limits")
BOUND = 8
"""So many free requests at most, to use up the limit of a key that has hardly any."""

REMAINING = "x-ratelimit-remaining-requests"

CHAT = post(
    "/v1/chat/completions",
    {"model": "{small_model}", "messages": [{"role": "user", "content": "hi"}], "max_completion_tokens": 16},
)
FAILING = post("/v1/chat/completions", {"model": "{small_model}"})
"""Free, for it generates nothing; it counts all the same (2:7.5)."""


async def beyond_the_limit(probe: Probe) -> None:
    """Requests that fail, until the limit of a key with a tiny one answers."""
    await exhaust(probe, FAILING.but(credential=TIGHT), BOUND, label=LIMITED, remaining=REMAINING)


RECIPES = (
    LIMITS.recipe(
        SLUG,
        CHAT,
        cost=Cost.BILLABLE,
        tokens=32,
        optional=each_apart(
            {
                **generated(LIMITS, "project", CHAT.but(credential="project_limit"), tokens=32),
                **LOOKS,
                **beyond(LIMITS, beyond_the_limit, requests=BOUND + 1),
            }
        ),
        unsent=ONLY_VOLUME,
    ),
)
