"""2:7.4 PB errors, row 429: by the quota that is used up, with a key of a project with tight quotas.

The documents publish none of the numbers, so a target names for each dimension a model and how much of it is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.recipes.rate_limits import send_one_more_than, send_until_limited
from catalog_probe.probes.recipes.recipe import Family, OtherEndpoints, Recipe, declare_steps
from catalog_probe.probes.targets.target import Cost

from .requests import SEARCH, generate, in_both_versions, in_same_version, user_turn

if TYPE_CHECKING:
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.probe import Probe

QUOTA = Family("pb/errors/quota")
MAX_REQUESTS = 20
"""Most requests sent to use up a quota, whatever the target says."""

IMAGE_TOKENS = 2_000

NEEDS_HEAVY_USE = (ReasonCode.NO_DOCUMENTED_SETUP, "it takes 250 USD or 500 searches")


def exhaustion_recipe(slug: str, call: Call, times: str, *, tokens: int = 4, family: Family = QUOTA) -> Recipe:
    """Send a call once more than the tight project may; the target's value `times` says how often it may.

    `tokens` is an upper bound for one call.
    """
    tight = call.replace(credential="tight")

    @declare_steps(requests=MAX_REQUESTS, needs={*call.placeholders, times}, roles={"tight"})
    async def steps(probe: Probe) -> None:
        await send_one_more_than(probe, tight, min(int(probe.values[times]), MAX_REQUESTS - 1))

    return family.recipe(
        slug,
        steps,
        tokens=MAX_REQUESTS * tokens,
        cost=Cost.DISRUPTIVE,
        other_endpoints=exhausted_in_other_version(slug, tight, tokens, family),
    )


MAX_RETRIES = 3
"""Most requests to the other version: part of the quota may have come back meanwhile."""


def exhausted_in_other_version(slug: str, call: Call, tokens: int, family: Family) -> OtherEndpoints:
    """Send the call in the other version, which shares the project's used-up quota (2:8.3)."""

    def for_endpoint(_: str, request: Call | None) -> Recipe | None:
        if request is None:
            return None
        versioned_call = in_same_version(request, call)

        @declare_steps(
            requests=MAX_RETRIES,
            needs=versioned_call.placeholders,
            roles={role for role in [versioned_call.credential_role("")] if role},
        )
        async def steps(probe: Probe) -> None:
            await send_until_limited(probe, versioned_call, MAX_RETRIES)

        return family.recipe(slug, steps, tokens=MAX_RETRIES * tokens, cost=Cost.DISRUPTIVE)

    return for_endpoint


def token_exhaustion_recipe(slug: str, model: str, words: str, role: str) -> Recipe:
    """Two prompts, of which the first uses up the token quota; the target's value `words` says how long they are."""

    def prompt(count: int) -> Call:
        return generate(model, contents=user_turn("word " * count)).replace(credential=role)

    @declare_steps(requests=2, needs={*generate(model).placeholders, words}, roles={role})
    async def steps(probe: Probe) -> None:
        await send_one_more_than(probe, prompt(int(probe.values[words])), 1)

    return QUOTA.recipe(
        slug,
        steps,
        tokens=100_000,
        cost=Cost.DISRUPTIVE,
        other_endpoints=exhausted_in_other_version(slug, prompt(MAX_REQUESTS), MAX_REQUESTS, QUOTA),
    )


ROWS: tuple[Recipe, ...] = (
    # 429 RESOURCE_EXHAUSTED "flex capacity shed"
    QUOTA.recipe("flex_capacity_shed", generate(serviceTier="flex").with_scenario("flex_capacity_shed")),
    # "free tier shows `limit: 0` for paid-only models"
    QUOTA.recipe("free_tier_limit_zero", generate("{paid_only_model}").replace(credential="free"), tokens=4),
    # "per-minute, token, daily, image quota"
    exhaustion_recipe("requests_per_minute", generate("{minute_quota_model}"), "minute_quota"),
    exhaustion_recipe("requests_per_day", generate("{day_quota_model}"), "day_quota"),
    exhaustion_recipe(
        "images_per_minute",
        generate("{image_quota_model}", contents=user_turn("a dot"), config={"maxOutputTokens": IMAGE_TOKENS}),
        "image_quota",
        tokens=IMAGE_TOKENS,
    ),
    token_exhaustion_recipe("tokens_per_minute", "{token_quota_model}", "token_quota", "tight"),
    token_exhaustion_recipe("tokens_per_day", "{day_token_quota_model}", "day_token_quota", "tight"),
    # 2:8.3 "Tier 1 (billing linked; spend cap 250"; "search on previous generation 1500 per day (free tier 500)"
    QUOTA.recipe("spend_cap", generate().with_scenario("quota_used_up;quota=spend_cap"), not_live=NEEDS_HEAVY_USE),
    QUOTA.recipe(
        "grounding_searches",
        generate("{previous_generation_model}", tools=SEARCH).with_scenario("quota_used_up;quota=grounding_searches"),
        not_live=NEEDS_HEAVY_USE,
    ),
    # "spend-based 10-minute limit"
    token_exhaustion_recipe("spend_per_ten_minutes", "{small_model}", "spend_quota_tokens", "thrifty"),
)

RECIPES = in_both_versions(ROWS)
