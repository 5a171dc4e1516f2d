"""PA's limits by usage tier, model class and endpoint group, as the headers of answers tell them (2:8.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.call import get, post
from catalog_probe.probes.recipes.recipe import Family, Recipe, each_apart
from catalog_probe.probes.targets.target import Cost

from .requests import count, labelled, message, said

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.calls.call import Call

FAMILY = Family("pa/endpoints/limits")
TIERS = {"start": "tier_start", "build": "tier_build", "scale": "tier_scale"}
"""By tier: the role of a key of an organization in it."""

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
"""By model class: the value of the target that names a model of it."""


def told(slug: str, looks: Mapping[str, Call], *, cost: Cost = Cost.FREE, tokens: int = 0) -> dict[str, Recipe]:
    """An answer of each tier, where the target has a key of it: what is looked at is its headers."""
    return {label: FAMILY.recipe(slug, call, label=label, cost=cost, tokens=tokens) for label, call in looks.items()}


def by_tier(call: Call, label: str = "") -> dict[str, Call]:
    """The call with the key of each tier, by the tier's name behind the label."""
    return {f"{label}_{tier}".strip("_"): call.but(credential=role) for tier, role in TIERS.items()}


def by_class_and_tier() -> dict[str, Call]:
    """A message to a model of each class with the key of each tier."""
    return {
        label: call
        for model_class, model in MODELS.items()
        for label, call in by_tier(message(model=model), model_class).items()
    }


def signed(**fields: Json) -> Call:
    """A message of the cloud-marketplace variant, signed instead of sent with a key."""
    return message(**fields).but(credential="marketplace_message_signature", key_in=("authorization", ""))


LONG = message(model="{newest_large_model}", messages=said(" the" * 200_000)).but(credential="tier_start")
"""More tokens than a context of the usual length has room for."""
FAST = signed(model="{fast_model}", speed="fast").with_headers(pa_beta="{fast_mode_beta}")

NO_QUEUE = (ReasonCode.NO_DOCUMENTED_SETUP, "it takes 200,000 requests or more that wait in batches (2:8.2)")

LISTED_BATCHES, LISTED_FILES, LISTED_AGENTS = get("/v1/messages/batches"), get("/v1/files"), get("/v1/agents")
NO_AGENT = post("/v1/agents", {})
"""A creation that is refused, and counts like any other."""

RECIPES: tuple[Recipe, ...] = (
    FAMILY.recipe(
        "messages_per_minute",
        labelled(message()),
        cost=Cost.BILLABLE,
        tokens=4,
        optional={
            **each_apart(told("messages_per_minute", by_class_and_tier(), cost=Cost.BILLABLE, tokens=4)),
            **told("messages_per_minute", {"long_context": LONG}, cost=Cost.BILLABLE, tokens=250_000),
            **told("messages_per_minute", {"marketplace": signed()}, cost=Cost.BILLABLE, tokens=4),
            **told("messages_per_minute", {"marketplace_again": signed()}, cost=Cost.BILLABLE, tokens=4),
            **told("messages_per_minute", {"marketplace_fast": FAST}, cost=Cost.BILLABLE, tokens=4),
        },
    ),
    FAMILY.recipe("counts_per_minute", labelled(count()), optional=told("counts_per_minute", by_tier(count()))),
    FAMILY.recipe(
        "batches_per_minute",
        labelled(LISTED_BATCHES),
        optional=told("batches_per_minute", by_tier(LISTED_BATCHES)),
        unsent=NO_QUEUE,
    ),
    FAMILY.recipe("files_per_minute", labelled(LISTED_FILES)),
    FAMILY.recipe("agent_reads_per_minute", labelled(LISTED_AGENTS)),
    FAMILY.recipe("agents_created_per_minute", labelled(LISTED_AGENTS, refused_creation=NO_AGENT)),
)
