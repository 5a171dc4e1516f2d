"""PD's rate limits: the documents name no header that tells of them, and no Retry-After (2:7.6, 2:8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.model.labels import LIMITED
from probes.elicit.recipe import Family
from probes.recipes.exhausting import exhaust
from probes.recipes.limit_looks import SLUG, TIGHT, beyond, generated
from probes.recipes.pd.accounts import TRIES
from probes.recipes.pd.requests import MODELS, completion

if TYPE_CHECKING:
    from probes.elicit.probe import Probe

LIMITS = Family("pd/rate_limits/limits")


async def beyond_the_limit(probe: Probe) -> None:
    """The smallest completions, until a team that may make hardly any is refused."""
    await exhaust(probe, completion().but(credential=TIGHT), TRIES, label=LIMITED)


RECIPES = (
    LIMITS.recipe(
        SLUG,
        MODELS,
        optional={
            **generated(LIMITS, "generation", completion(), tokens=16),
            **beyond(LIMITS, beyond_the_limit, requests=TRIES + 1, tokens=TRIES * 16),
        },
    ),
)
