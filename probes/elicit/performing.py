"""Sends what a recipe says: its calls by label, then its steps, then what it looks at besides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog.model.labels import SETUP
from probes.elicit.probe import Stopped

if TYPE_CHECKING:
    from catalog.model import Reason
    from probes.elicit.probe import Probe
    from probes.elicit.recipe import Recipe


async def perform(recipe: Recipe, probe: Probe) -> dict[str, Reason]:
    """Elicit a record's behaviour once; says of which optional looks nothing came, by label, and why.

    What is looked at besides must not take away what was seen before it, so a look that stops is only left out.

    Raises:
        Stopped: something could not be sent, or a step that the recipe relies on did not succeed.
    """
    for label, call in recipe.calls.items():
        await (probe.setup(call) if label == SETUP else probe.send(call, label))
    if recipe.steps is not None:
        await recipe.steps(probe)
    stopped: dict[str, Reason] = {}
    for look in recipe.optional.values():
        try:
            stopped |= await perform(look, probe)
        except Stopped as ended:
            stopped |= dict.fromkeys(look.labels, ended.reason)
    return stopped
