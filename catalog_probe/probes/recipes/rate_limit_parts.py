"""The optional part of a rate-limit recipe that exceeds a limit: with steps of its own, or by one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import LIMITED
from catalog_probe.probes.recipes.exhausting import exhaust_limit
from catalog_probe.probes.targets.target import Cost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.probe import Probe
    from catalog_probe.probes.recipes.recipe import Family, Recipe, Steps

SLUG = "general"
TIGHT = "tight"  # role of a key with a very small limit


def exceeded_part(
    family: Family, steps: Steps, *, requests: int, needs: Iterable[str] = ("small_model",), tokens: int = 0
) -> dict[str, Recipe]:
    """Observe the answer once the limit of the tight key is used up."""
    return {
        LIMITED: family.recipe(
            SLUG,
            steps=steps,
            label=LIMITED,
            requests=requests,
            tokens=tokens,
            cost=Cost.DISRUPTIVE,
            roles={TIGHT},
            needs=needs,
        )
    }


def exhausted_part(
    family: Family, call: Call, bound: int, *, remaining: str = "", tokens: int = 0
) -> dict[str, Recipe]:
    """Observe the answer to a call of the tight key after at most `bound` of them; see `exhaust_limit`."""

    async def steps(probe: Probe) -> None:
        await exhaust_limit(probe, call.replace(credential=TIGHT), bound, label=LIMITED, remaining=remaining)

    return exceeded_part(family, steps, requests=bound + 1, needs=call.placeholders, tokens=tokens)
