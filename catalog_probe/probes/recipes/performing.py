"""Sends what a recipe says: its calls, its steps, what it looks at besides, then the same on other endpoints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.labels import SETUP
from catalog_probe.probes.recipes.probe import Stopped

if TYPE_CHECKING:
    from collections.abc import Collection, Container

    from catalog_probe.catalog.model import Reason
    from catalog_probe.probes.recipes.probe import Probe
    from catalog_probe.probes.recipes.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Unseen:
    """Of what nothing came, and why: optional looks by label, other endpoints by address."""

    looks: dict[str, Reason] = field(default_factory=dict)
    endpoints: dict[str, Reason] = field(default_factory=dict)


async def perform(recipe: Recipe, probe: Probe, places: Collection[tuple[str, str]] | None = None) -> Unseen:
    """Elicit a record's behaviour once, here and on its other endpoints; says of what nothing came.

    What is looked at besides or elsewhere must not take away what was seen before it: if it stops, it is left out.
    With `places`, each a label and an endpoint, only what they need is sent: their own calls, or all that comes before
    a step of theirs.

    Raises:
        Stopped: something could not be sent, or a step that the recipe relies on did not succeed.
    """
    unseen = Unseen(await _perform(recipe, probe, _labels(places, recipe.endpoint)))

    for cell in recipe.spread.cells.values():
        with probe.apart(cell.apart):
            try:
                await _perform(cell, probe, _labels(places, cell.endpoint))
            except Stopped as ended:
                unseen.endpoints[cell.endpoint] = probe.explain_stop(ended.reason)
    return unseen


def _labels(places: Collection[tuple[str, str]] | None, endpoint: str) -> Container[str] | None:
    """The labels that are asked for on an endpoint; None for all."""
    return None if places is None else {label for label, where in places if where in ("", endpoint)}


async def _perform(recipe: Recipe, probe: Probe, labels: Container[str] | None) -> dict[str, Reason]:
    probe.endpoint = recipe.endpoint
    of_calls, of_steps = _wanted(recipe, labels)
    calls = [(label, call) for label, call in recipe.calls.items() if label in of_calls]
    for label, call in calls:
        await (probe.setup(call) if label == SETUP else probe.send(call, label))
    if recipe.steps is not None and of_steps:
        await recipe.steps(probe)

    stopped: dict[str, Reason] = {}
    for look in recipe.optional.values():
        if labels is not None and not any(label in labels for label in look.labels):
            continue
        with probe.apart(look.apart):
            try:
                stopped |= await _perform(look, probe, labels)
            except Stopped as ended:
                stopped |= dict.fromkeys(look.labels, probe.explain_stop(ended.reason))
    return stopped


def _wanted(recipe: Recipe, labels: Container[str] | None) -> tuple[Container[str], bool]:
    """The labels of the calls that are asked for, and whether the steps are; these may rely on every call."""
    if labels is None:
        return recipe.calls.keys(), True
    beside = frozenset(label for look in recipe.optional.values() for label in look.labels)
    if any(label in labels for label in recipe.labels - beside - recipe.calls.keys()):
        return recipe.calls.keys(), True
    asked = frozenset(label for label in recipe.calls if label in labels)
    return asked | {SETUP} if asked else asked, False
