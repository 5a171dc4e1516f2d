"""Sends what a recipe says: its calls by label, then its steps, then what it looks at besides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.model.labels import SETUP

if TYPE_CHECKING:
    from probes.elicit.probe import Probe
    from probes.elicit.recipe import Recipe


async def perform(recipe: Recipe, probe: Probe) -> None:
    """Elicit a record's behaviour once.

    Raises:
        Stopped: something could not be sent, or a step that the recipe relies on did not succeed.
    """
    for label, call in recipe.calls.items():
        await (probe.setup(call) if label == SETUP else probe.send(call, label))
    if recipe.steps is not None:
        await recipe.steps(probe)
    for look in recipe.optional.values():
        await perform(look, probe)
