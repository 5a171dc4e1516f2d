"""2:8.2 PA rate limits: what the headers of ordinary answers say of them, and the answer beyond one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.labels import LIMITED
from catalog_probe.probes.recipes.exhausting import exhaust_limit
from catalog_probe.probes.recipes.rate_limit_parts import SLUG, TIGHT, exceeded_part
from catalog_probe.probes.recipes.recipe import Family
from catalog_probe.probes.targets.target import Cost

from .requests import FAST, count_tokens, create_message

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

LIMITS = Family("pa/rate_limits/limits")
BOUND = 8
"""Most free requests sent to use up the limit of the tight key."""

REMAINING = "pa-ratelimit-requests-remaining"


async def exceed_limit(probe: Probe) -> None:
    """Count tokens, which is free, until the tight key's limit refuses it."""
    await exhaust_limit(probe, count_tokens().replace(credential=TIGHT), BOUND, label=LIMITED, remaining=REMAINING)


PRIORITY = create_message(service_tier="auto").replace(credential="priority")

RECIPES = (
    # "Rate-limit response headers: retry-after …; pa-ratelimit-requests-|tokens-|input-tokens-|output-tokens-"
    LIMITS.recipe(
        SLUG,
        create_message(),
        cost=Cost.BILLABLE,
        tokens=16,
        optional={
            # "Fast mode has dedicated limits and headers", "Headers `pa-priority-input-tokens-*`"
            **LIMITS.optional_calls(SLUG, {"fast": FAST, "priority": PRIORITY}, cost=Cost.BILLABLE, tokens=16),
            **exceeded_part(LIMITS, exceed_limit, requests=BOUND + 1),
        },
    ),
)
