"""Sends what a recipe says: its calls, its steps, its optional parts, then the same on other endpoints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import SETUP
from catalog_probe.probes.recipes.probe import ProbeStopped

if TYPE_CHECKING:
    from collections.abc import Collection, Container

    from catalog_probe.catalog.model import Reason
    from catalog_probe.probes.recipes.probe import Probe
    from catalog_probe.probes.recipes.recipe import PlannedRecipe, Recipe


@dataclass(frozen=True, slots=True)
class UnobservedParts:
    """Why nothing was observed of a part: optional parts by label, other endpoints by address."""

    labels: dict[str, Reason] = field(default_factory=dict)
    endpoints: dict[str, Reason] = field(default_factory=dict)


async def perform_planned_recipe(
    recipe: PlannedRecipe, probe: Probe, step_keys: Collection[tuple[str, str]] | None = None
) -> UnobservedParts:
    """Provoke a record's behaviour once, here and on its other endpoints; return why parts were not observed.

    With `step_keys`, each a label and an endpoint, only what they need is sent: their own calls, or all calls and the
    recipe's steps if these send one of them. An optional part or another endpoint that stops takes nothing away from
    what was seen before it.

    Raises:
        ProbeStopped: something could not be sent, or a step that the recipe relies on did not succeed.
    """
    unobserved = UnobservedParts(await perform_recipe(recipe, probe, _select_labels(step_keys, recipe.endpoint)))

    for endpoint, endpoint_recipe in recipe.endpoint_plan.recipes.items():
        session = endpoint if _is_independent(endpoint_recipe, recipe) else ""
        with probe.use_mock_session(session):
            try:
                await perform_recipe(endpoint_recipe, probe, _select_labels(step_keys, endpoint))
            except ProbeStopped as stop:
                unobserved.endpoints[endpoint] = probe.explain_stop(stop.reason)
    return unobserved


def _is_independent(endpoint_recipe: Recipe, recipe: Recipe) -> bool:
    """Whether nothing that is sent to another endpoint relies on what the recipe did before.

    Example: a limit that the recipe's steps used up is used up for the other endpoint as well.
    """
    has_steps = recipe.steps is not None or endpoint_recipe.steps is not None
    return not has_steps and SETUP not in recipe.calls


def _select_labels(step_keys: Collection[tuple[str, str]] | None, endpoint: str) -> Container[str] | None:
    """Return the labels that are asked for on an endpoint; None for all."""
    if step_keys is None:
        return None
    return {label for label, step_endpoint in step_keys if step_endpoint in ("", endpoint)}


async def perform_recipe(recipe: Recipe, probe: Probe, labels: Container[str] | None = None) -> dict[str, Reason]:
    """Send calls, steps and optional parts, or only what these labels need; return why parts stopped, by label.

    Raises:
        ProbeStopped: something could not be sent, or a step that the recipe relies on did not succeed.
    """
    probe.endpoint = recipe.endpoint
    call_labels, needs_steps = _select_calls(recipe, labels)
    for label, call in recipe.calls.items():
        if label not in call_labels:
            continue
        await (probe.setup(call) if label == SETUP else probe.send(call, label))
    if recipe.steps is not None and needs_steps:
        await recipe.steps.run(probe)

    stopped: dict[str, Reason] = {}
    for name, part in recipe.optional.items():
        if labels is not None and not any(label in labels for label in part.labels):
            continue
        with probe.use_mock_session(name):
            try:
                stopped |= await perform_recipe(part, probe, labels)
            except ProbeStopped as stop:
                stopped |= dict.fromkeys(part.labels, probe.explain_stop(stop.reason))
    return stopped


def _select_calls(recipe: Recipe, labels: Container[str] | None) -> tuple[Container[str], bool]:
    """Return the labels of the calls to send, and whether to run the steps, which may rely on every call."""
    if labels is None:
        return recipe.calls.keys(), True
    step_labels = recipe.steps.labels if recipe.steps is not None else ()
    if any(label in labels for label in step_labels):
        return recipe.calls.keys(), True
    call_labels = frozenset(label for label in recipe.calls if label in labels)
    return call_labels | {SETUP} if call_labels else call_labels, False
