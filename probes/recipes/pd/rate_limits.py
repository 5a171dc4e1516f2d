"""PD's rate limits: the documents name no header that tells of them, and no Retry-After (2:7.6, 2:8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import LIMITED, SETUP
from catalog_probe.probes.calls.call import post
from catalog_probe.probes.recipes.exhausting import exhaust, until_refused
from catalog_probe.probes.recipes.limit_looks import SLUG, TIGHT, beyond, generated
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost

from .accounts import TRIES
from .requests import MODELS, completion

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.probe import Probe

LIMITS = Family("pd/rate_limits/limits")


async def beyond_the_limit(probe: Probe) -> None:
    """The smallest completions, until a team that may make hardly any is refused."""
    await exhaust(probe, completion().but(credential=TIGHT), TRIES, label=LIMITED)


def used_up_first(label: str, by: Call, then: Call, *, roles: set[str]) -> Recipe:
    """What is answered after the limit of another call was used up."""

    async def steps(probe: Probe) -> None:
        await until_refused(probe, by, TRIES, label=SETUP)
        await probe.send(then, label)

    return LIMITS.recipe(
        SLUG,
        steps=steps,
        label=label,
        requests=TRIES + 1,
        tokens=(TRIES + 1) * 32,
        cost=Cost.DISRUPTIVE,
        roles=roles,
        needs=by.placeholders | then.placeholders,
    )


ONLY_TIME = (ReasonCode.NO_DOCUMENTED_SETUP, "how long a limit lasts is not waited for")
OTHER = completion(model="{reasoning_model}")
USED_UP = completion().but(credential=TIGHT)

LOOKS = {
    "other_model": used_up_first("other_model", USED_UP, OTHER.but(credential=TIGHT), roles={TIGHT}),
    "other_key_of_the_team": used_up_first(
        "other_key_of_the_team",
        USED_UP,
        completion().but(credential="tight_sibling"),
        roles={TIGHT, "tight_sibling"},
    ),
    "batch_is_not_counted": used_up_first(
        "batch_is_not_counted", USED_UP, post("/v1/batches", {"name": "hi"}, credential=TIGHT), roles={TIGHT}
    ),
    "other_team": used_up_first("other_team", USED_UP, completion(), roles={TIGHT}),
    "cap_of_another_key": used_up_first(
        "cap_of_another_key",
        completion().but(credential="capped"),
        completion().but(credential="capped_second"),
        roles={"capped", "capped_second"},
    ),
}

RECIPES = (
    LIMITS.recipe(
        SLUG,
        MODELS,
        optional={
            **LOOKS,
            **generated(LIMITS, "generation", completion(), tokens=16),
            **beyond(LIMITS, beyond_the_limit, requests=TRIES + 1, tokens=TRIES * 16),
        },
        unsent=ONLY_TIME,
    ),
)
