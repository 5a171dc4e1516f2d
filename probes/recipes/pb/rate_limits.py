"""PB's rate limits: no header tells of them, only the service tier and the message of a 429 do (2:8.3)."""

from __future__ import annotations

from probes.elicit.probe import Probe
from probes.elicit.recipe import recipe
from probes.recipes.exhausting import exhaust
from probes.recipes.pb.quota import MOST
from probes.recipes.pb.requests import MODELS, generate
from probes.target.target import Cost

GENERAL = "pb/rate_limits/limits/general"


async def beyond_the_limit(probe: Probe) -> None:
    """One request more than a minute allows to a project that may do hardly any."""
    call = generate("{minute_quota_model}").but(credential="tight")
    await exhaust(probe, call, min(int(probe.values["minute_quota"]) + 1, MOST), label="limited")


RECIPES = (
    recipe(
        GENERAL,
        MODELS,
        optional={
            "generation": recipe(GENERAL, generate(), label="generation", cost=Cost.BILLABLE, tokens=16),
            "limited": recipe(
                GENERAL,
                steps=beyond_the_limit,
                labels={"limited"},
                requests=MOST + 1,
                tokens=MOST * 4,
                cost=Cost.DISRUPTIVE,
                roles=frozenset({"tight"}),
                needs={"minute_quota_model", "minute_quota"},
            ),
        },
    ),
)
