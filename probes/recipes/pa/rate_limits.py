"""PA's rate limits: what ordinary answers say of them, and the answer beyond one (2:8.2)."""

from __future__ import annotations

from probes.elicit.probe import Probe
from probes.elicit.recipe import recipe
from probes.recipes.exhausting import exhaust
from probes.recipes.pa.requests import count, message
from probes.target.target import Cost

GENERAL = "pa/rate_limits/limits/general"
BOUND = 8
"""So many free requests at most, to use up the limit of a key that has hardly any."""

REMAINING = "pa-ratelimit-requests-remaining"


async def beyond_the_limit(probe: Probe) -> None:
    """Count tokens, which is free, until the limit of a key with a tiny one answers."""
    await exhaust(probe, count().but(credential="tight"), BOUND, label="limited", remaining=REMAINING)


FAST = message(model="{fast_model}", speed="fast").with_headers(pa_beta="{fast_mode_beta}")
PRIORITY = message(service_tier="auto").but(credential="priority")

RECIPES = (
    recipe(
        GENERAL,
        message(),
        cost=Cost.BILLABLE,
        tokens=16,
        optional={
            "fast": recipe(GENERAL, FAST, label="fast", cost=Cost.BILLABLE, tokens=16),
            "priority": recipe(GENERAL, PRIORITY, label="priority", cost=Cost.BILLABLE, tokens=16),
            "limited": recipe(
                GENERAL,
                steps=beyond_the_limit,
                labels={"limited"},
                requests=BOUND + 1,
                cost=Cost.DISRUPTIVE,
                roles=frozenset({"tight"}),
                needs={"small_model"},
            ),
        },
    ),
)
