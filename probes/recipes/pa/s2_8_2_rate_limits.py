"""2:8.2 PA rate limits: what the headers of ordinary answers say of them, and the answer beyond one."""

from __future__ import annotations

from catalog_probe.probes.recipes.rate_limits import SLUG, exhaust_tight_key
from catalog_probe.probes.recipes.recipe import Family
from catalog_probe.probes.targets.target import Cost

from .requests import FAST, count_tokens, create_message

LIMITS = Family("pa/rate_limits/limits")
BOUND = 8
"""Most free requests sent to use up the limit of the tight key."""

REMAINING = "pa-ratelimit-requests-remaining"


PRIORITY = create_message(service_tier="auto").replace(credential="priority")

RECIPES = (
    # "Rate-limit response headers: retry-after …; pa-ratelimit-requests-|tokens-|input-tokens-|output-tokens-"
    LIMITS.recipe(SLUG, create_message(), cost=Cost.BILLABLE, tokens=16)
    # "Fast mode has dedicated limits and headers", "Headers `pa-priority-input-tokens-*`"
    .with_optional({"fast": FAST, "priority": PRIORITY})
    .with_optional(exhaust_tight_key(count_tokens(), BOUND, remaining=REMAINING), cost=Cost.DISRUPTIVE, tokens=0),
)
