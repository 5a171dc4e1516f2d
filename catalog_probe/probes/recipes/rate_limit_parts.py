"""Optional parts of a rate-limit recipe: the answer to a generation, and the one when a limit is exceeded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.labels import LIMITED
from catalog_probe.probes.targets.target import Cost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.recipe import Family, Recipe, Steps

SLUG = "general"
TIGHT = "tight"  # role of a key with a very small limit


def generation_part(family: Family, label: str, call: Call, tokens: int) -> dict[str, Recipe]:
    """Observe the answer to a generation."""
    return {label: family.recipe(SLUG, call, label=label, cost=Cost.BILLABLE, tokens=tokens)}


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
