"""What a rate-limit record looks at besides an ordinary answer: a generation's, and the one beyond a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.labels import LIMITED
from catalog_probe.probes.targets.target import Cost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.recipe import Family, Recipe, Steps

SLUG = "general"
TIGHT = "tight"
"""The role of a key that may do hardly any."""


def generated(family: Family, label: str, call: Call, tokens: int) -> dict[str, Recipe]:
    """What the answer to something generated tells."""
    return {label: family.recipe(SLUG, call, label=label, cost=Cost.BILLABLE, tokens=tokens)}


def beyond(
    family: Family, steps: Steps, *, requests: int, needs: Iterable[str] = ("small_model",), tokens: int = 0
) -> dict[str, Recipe]:
    """What is answered when the limit of a key that may do hardly any is used up."""
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
