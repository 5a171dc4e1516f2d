"""PB's rate limits: no header tells of them, only the service tier and the message of a 429 do (2:8.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.model.labels import LIMITED
from probes.elicit.recipe import Family
from probes.recipes.exhausting import exhaust
from probes.recipes.limit_looks import SLUG, TIGHT, beyond, generated
from probes.recipes.pb.quota import MOST
from probes.recipes.pb.requests import MODELS, generate

if TYPE_CHECKING:
    from probes.elicit.probe import Probe

LIMITS = Family("pb/rate_limits/limits")


async def beyond_the_limit(probe: Probe) -> None:
    """One request more than a minute allows to a project that may do hardly any."""
    call = generate("{minute_quota_model}").but(credential=TIGHT)
    await exhaust(probe, call, min(int(probe.values["minute_quota"]) + 1, MOST), label=LIMITED)


RECIPES = (
    LIMITS.recipe(
        SLUG,
        MODELS,
        optional={
            **generated(LIMITS, "generation", generate(), tokens=16),
            **beyond(
                LIMITS,
                beyond_the_limit,
                requests=MOST + 1,
                tokens=MOST * 4,
                needs={"minute_quota_model", "minute_quota"},
            ),
        },
    ),
)
