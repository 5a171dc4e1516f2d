"""PD's rate limits: the documents name no header that tells of them, and no Retry-After (2:7.6, 2:8.5)."""

from __future__ import annotations

from probes.elicit.probe import Probe
from probes.elicit.recipe import recipe
from probes.recipes.exhausting import exhaust
from probes.recipes.pd.accounts import TRIES
from probes.recipes.pd.requests import MODELS, completion
from probes.target.target import Cost

GENERAL = "pd/rate_limits/limits/general"


async def beyond_the_limit(probe: Probe) -> None:
    """The smallest completions, until a team that may make hardly any is refused."""
    await exhaust(probe, completion().but(credential="tight"), TRIES, label="limited")


RECIPES = (
    recipe(
        GENERAL,
        MODELS,
        optional={
            "generation": recipe(GENERAL, completion(), label="generation", cost=Cost.BILLABLE, tokens=16),
            "limited": recipe(
                GENERAL,
                steps=beyond_the_limit,
                labels={"limited"},
                requests=TRIES + 1,
                tokens=TRIES * 16,
                cost=Cost.DISRUPTIVE,
                roles=frozenset({"tight"}),
                needs={"small_model"},
            ),
        },
    ),
)
