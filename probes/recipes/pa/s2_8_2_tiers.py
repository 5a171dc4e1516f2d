"""2:8.2 PA rate limits by usage tier, model class and group of endpoints, as the headers of answers tell them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.calls import get, post
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost

from .requests import BATCHES, FAST, FILES, count_tokens, create_message, sign, user_turn, with_refusals

if TYPE_CHECKING:
    from catalog_probe.probes.calls import Call

FAMILY = Family("pa/endpoints/limits")
TIERS = {"start": "tier_start", "build": "tier_build", "scale": "tier_scale"}
"""Tier -> role of a key of an organization in it."""

MODELS = {
    "newest_large": "{newest_large_model}",
    "second_newest_large": "{second_newest_large_model}",
    "own_large": "{own_large_model}",
    "previous_large": "{previous_large_model}",
    "own_mid": "{own_mid_model}",
    "previous_mid": "{previous_mid_model}",
    "small": "{small_class_model}",
    "retired": "{retired_model}",
}
"""Model class -> the value of the target that names a model of it."""


def calls_by_tier(call: Call, label: str = "") -> dict[str, Call]:
    """Send a call with the key of each tier, labelled `<label>_<tier>`."""
    return {f"{label}_{tier}".strip("_"): call.replace(credential=role) for tier, role in TIERS.items()}


def calls_by_class_and_tier() -> dict[str, Call]:
    return {
        label: call
        for model_class, model in MODELS.items()
        for label, call in calls_by_tier(create_message(model=model), model_class).items()
    }


MARKETPLACE = "marketplace_message_signature"
LONG_CONTEXT = create_message(model="{newest_large_model}", messages=user_turn(" the" * 200_000)).replace(
    credential="tier_start"
)
"""More tokens than fit into a context of the usual length."""

LISTED_AGENTS = get("/v1/agents")
INVALID_AGENT = post("/v1/agents", {})
"""A creation that is refused; it counts toward the limit all the same."""

RECIPES: tuple[Recipe, ...] = (
    # "Messages API values as RPM / ITPM / OTPM"
    FAMILY.recipe("messages_per_minute", with_refusals(create_message()), cost=Cost.BILLABLE, tokens=4)
    .with_optional(calls_by_class_and_tier())
    # 2:9 "dedicated long-context limits were removed"
    .with_optional({"long_context": LONG_CONTEXT}, tokens=250_000)
    # "The cloud-marketplace variant starts at Start, has no per-workspace limits and no fast mode."
    .with_optional(
        {
            "marketplace": {
                "marketplace": sign(create_message(), MARKETPLACE),
                "marketplace_again": sign(create_message(), MARKETPLACE),
            }
        },
        tokens=8,
    )
    .with_optional({"marketplace_fast": sign(FAST, MARKETPLACE)}),
    # "Token counting RPM: Start 5000; Build 10000; Scale 20000."
    FAMILY.recipe("counts_per_minute", with_refusals(count_tokens())).with_optional(calls_by_tier(count_tokens())),
    # "Batches (shared across models; RPM applies to all batch endpoints): Start RPM 1000, queue 200000 requests; …"
    FAMILY.recipe("batches_per_minute", with_refusals(BATCHES)).with_optional(calls_by_tier(BATCHES)),
    # "Files API: about 500 RPM per organization, shared across upload, list, retrieve, download and delete."
    FAMILY.recipe("files_per_minute", with_refusals(FILES)),
    # "Managed agents per organization: create endpoints 300 RPM; read endpoints 1200 RPM."
    FAMILY.recipe("agent_reads_per_minute", with_refusals(LISTED_AGENTS)),
    FAMILY.recipe("agents_created_per_minute", with_refusals(LISTED_AGENTS, refused_creation=INVALID_AGENT)),
)
