"""Sends what a recipe says: its calls, its steps, what it looks at besides, then the same on other endpoints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog.model.labels import SETUP
from probes.elicit.probe import Stopped

if TYPE_CHECKING:
    from catalog.model import Reason
    from probes.elicit.probe import Probe
    from probes.elicit.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Unseen:
    """Of what nothing came, and why: optional looks by label, other endpoints by address."""

    looks: dict[str, Reason] = field(default_factory=dict)
    endpoints: dict[str, Reason] = field(default_factory=dict)


async def perform(recipe: Recipe, probe: Probe) -> Unseen:
    """Elicit a record's behaviour once, here and on its other endpoints; says of what nothing came.

    What is looked at besides or elsewhere must not take away what was seen before it: if it stops, it is left out.

    Raises:
        Stopped: something could not be sent, or a step that the recipe relies on did not succeed.
    """
    unseen = Unseen(await _perform(recipe, probe))
    for endpoint, cell in recipe.spread.cells.items():
        try:
            await _perform(cell, probe)
        except Stopped as ended:
            unseen.endpoints[endpoint] = ended.reason
    return unseen


async def _perform(recipe: Recipe, probe: Probe) -> dict[str, Reason]:
    probe.endpoint = recipe.endpoint
    for label, call in recipe.calls.items():
        await (probe.setup(call) if label == SETUP else probe.send(call, label))
    if recipe.steps is not None:
        await recipe.steps(probe)
    stopped: dict[str, Reason] = {}
    for look in recipe.optional.values():
        try:
            stopped |= await _perform(look, probe)
        except Stopped as ended:
            stopped |= dict.fromkeys(look.labels, ended.reason)
    return stopped
