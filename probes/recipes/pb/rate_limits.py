"""PB's rate limits: what they allow and refuse; no header tells of them, only the message of a 429 does (2:8.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.labels import LIMITED
from catalog_probe.probes.recipes.exhausting import exhaust
from catalog_probe.probes.recipes.limit_looks import SLUG, TIGHT, beyond, generated
from catalog_probe.probes.recipes.recipe import each_apart

from . import account_limits, quota_windows
from .account_limits import LIMITS
from .quota import MOST, ONLY_USE
from .requests import MODELS, generate

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe


async def beyond_the_limit(probe: Probe) -> None:
    """One request more than a minute allows to a project that may do hardly any."""
    call = generate("{minute_quota_model}").but(credential=TIGHT)
    await exhaust(probe, call, min(int(probe.values["minute_quota"]) + 1, MOST), label=LIMITED)


RECIPES = (
    LIMITS.recipe(
        SLUG,
        MODELS,
        optional=each_apart(
            {
                **generated(LIMITS, "generation", generate(), tokens=16),
                **beyond(
                    LIMITS,
                    beyond_the_limit,
                    requests=MOST + 1,
                    tokens=MOST * 4,
                    needs={"minute_quota_model", "minute_quota"},
                ),
                **account_limits.LOOKS,
                **quota_windows.LOOKS,
            }
        ),
        unsent=ONLY_USE,
    ),
)
