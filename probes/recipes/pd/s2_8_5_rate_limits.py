"""2:8.5 PD rate limits: whom a limit holds for; no header tells of one, and no Retry-After (2:7.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import SETUP
from catalog_probe.probes.calls import post
from catalog_probe.probes.recipes.rate_limits import SLUG, TIGHT, exhausted_part, send_until_refused
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost

from .requests import MODELS, create_completion
from .s2_7_6_errors import MAX_REQUESTS

if TYPE_CHECKING:
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.probe import Probe

LIMITS = Family("pd/rate_limits/limits")


def after_exhaustion_part(label: str, by: Call, then: Call) -> Recipe:
    """Use up a limit with the call `by`, then judge the answer to `then`."""

    async def steps(probe: Probe) -> None:
        await send_until_refused(probe, by, MAX_REQUESTS, label=SETUP)
        await probe.send(then, label)

    return LIMITS.recipe(
        SLUG,
        steps=steps,
        label=label,
        requests=MAX_REQUESTS + 1,
        tokens=(MAX_REQUESTS + 1) * 32,
        cost=Cost.DISRUPTIVE,
        roles={call.credential for call in (by, then) if isinstance(call.credential, str)},
        needs=by.placeholders | then.placeholders,
    )


TIGHT_COMPLETION = create_completion().replace(credential=TIGHT)

SCOPE_PARTS = (
    # "Limits are per model"
    after_exhaustion_part(
        "other_model", TIGHT_COMPLETION, create_completion(model="{reasoning_model}").replace(credential=TIGHT)
    ),
    # "per team": another key of the team meets it, another team does not
    after_exhaustion_part(
        "other_key_of_the_team", TIGHT_COMPLETION, create_completion().replace(credential="tight_sibling")
    ),
    after_exhaustion_part("other_team", TIGHT_COMPLETION, create_completion()),
    # "optional per key (qps, qpm, tpm) through the management API"
    after_exhaustion_part(
        "cap_of_another_key",
        create_completion().replace(credential="capped"),
        create_completion().replace(credential="capped_second"),
    ),
    # "The batch API does not count toward rate limits."
    after_exhaustion_part(
        "batch_is_not_counted", TIGHT_COMPLETION, post("/v1/batches", {"name": "hi"}, credential=TIGHT)
    ),
)

RECIPES = (
    LIMITS.recipe(
        SLUG,
        MODELS,
        optional={
            **{label: part for part in SCOPE_PARTS for label in part.labels},
            **LIMITS.optional_calls(SLUG, {"generation": create_completion()}, cost=Cost.BILLABLE, tokens=16),
            **exhausted_part(LIMITS, create_completion(), MAX_REQUESTS, tokens=MAX_REQUESTS * 16),
        },
    ),
)
