"""Runs a recipe on the mock with a probe that records, and says what it uses and does not declare."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.model.labels import ANSWER, CLEANUP, UNJUDGED_LABELS
from catalog_probe.probes.calls.services import LOOPBACK_SERVICES
from catalog_probe.probes.planning.obstacles import known_calls
from catalog_probe.probes.recipes.performing import perform_recipe
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running.attempt_probe import AttemptProbe
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.pacing.budget import Budget
from catalog_probe.probes.targets.target import NONEXISTENT_KEY, WRONG_KEY, Target
from catalog_probe.probes.wire.redaction.redactor import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.recipe import Recipe

HANDED_OVER = "_credential"
"""How the placeholder of a credential that a body hands over ends; before it stands the role."""


class RecordedValues(dict[str, str]):
    """The values of a target, and which of them steps have asked for."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.read.add(name)
        return super().__getitem__(name)


class RecordingProbe(AttemptProbe):
    """An attempt that keeps each call as its recipe made it, beside the exchange it became."""

    def __init__(self, recipe: Recipe, lane: Lane) -> None:
        session = f"declared/{recipe.address}#{min(recipe.labels)}@{recipe.endpoint}"
        super().__init__(recipe.address, recipe.credential, lane, session)
        self.recorded = RecordedValues(self.values)
        self.values = self.recorded
        self.calls: list[tuple[Call, str]] = []
        self.left: set[str] = set()

    async def send(self, call: Call, label: str = ANSWER) -> Exchange:
        self.calls.append((call, label))
        exchange = await super().send(call, label)
        body = exchange.response.body if exchange.response and exchange.response.status == 200 else None
        if call.removal is not None and body is not None and call.removal.find_id(body) is None:
            self.left.add(call.removal.name)
        return exchange


@dataclass(frozen=True, slots=True)
class RecipeUse:
    """What one attempt used; requests without the removal of what it made, which the bounds leave out."""

    requests: int
    labels: frozenset[str]
    roles: frozenset[str] = field(default=frozenset())
    values: frozenset[str] = field(default=frozenset())
    services: frozenset[str] = field(default=frozenset())
    left: frozenset[str] = field(default=frozenset())
    """The removals of what was made and is left, since no id that fits was found in the answer."""


def observe_use(recipe: Recipe, target: Target, redactor: Redactor | None = None) -> RecipeUse:
    """What the recipe uses on a target; who asks of many hands over what hides the keys, which takes long to make.

    Raises:
        ProbeStopped: it could not be carried through.
    """
    return anyio.run(partial(_perform, recipe, target, redactor or make_redactor(target)))


def make_redactor(target: Target) -> Redactor:
    """What hides the keys of a target."""
    return Redactor.for_target(target, public=[NONEXISTENT_KEY])


def find_gaps(recipes: Mapping[str, Recipe], target: Target) -> dict[str, list[str]]:
    """Of these recipes, by name, those that use what they do not declare, or cannot be carried through; and why."""
    redactor = make_redactor(target)
    found: dict[str, list[str]] = {}
    for name, recipe in recipes.items():
        try:
            found[name] = list_undeclared(recipe, observe_use(recipe, target, redactor))
        except ProbeStopped as stopped:
            found[name] = [f"stops: {stopped}"]
    return {name: lines for name, lines in found.items() if lines}


def list_undeclared(recipe: Recipe, seen: RecipeUse) -> list[str]:
    """One line for each way in which a recipe's declaration falls short of what was seen."""
    return list(_undeclared(recipe, seen))


async def _perform(recipe: Recipe, target: Target, redactor: Redactor) -> RecipeUse:
    provider = target.providers[recipe.provider]
    lane = Lane(provider, recipe.credential, redactor, Budget(provider), mock=True)
    probe = RecordingProbe(recipe, lane)
    try:
        await perform_recipe(recipe, probe)
    finally:
        await probe.remove_all()
        await lane.aclose()
    asked = frozenset().union(*(call.placeholders for call, _ in probe.calls))
    handed_over = {name for name in asked if name.endswith(HANDED_OVER)}
    roles = {call.credential_role(recipe.credential) for call, _ in probe.calls}
    return RecipeUse(
        requests=sum(exchange.label != CLEANUP for exchange in probe.exchanges),
        labels=frozenset(label for _, label in probe.calls),
        roles=frozenset(role for role in roles if role is not None)
        | {name.removesuffix(HANDED_OVER) for name in handed_over},
        values=frozenset(asked - handed_over) | probe.recorded.read,
        services=frozenset(call.service for call, _ in probe.calls) - LOOPBACK_SERVICES,
        left=frozenset(probe.left),
    )


def _undeclared(recipe: Recipe, seen: RecipeUse) -> Iterator[str]:
    for label in sorted(recipe.labels - seen.labels):
        yield f"declares the label {label!r} and sends nothing under it"
    for label in sorted(seen.labels - recipe.labels - UNJUDGED_LABELS):
        yield f"sends {label!r}, which it does not declare"
    if seen.requests > recipe.requests:
        yield f"sends {seen.requests} requests and declares {recipe.requests}"
    for name in sorted(seen.left):
        yield f"leaves what the removal {name!r} is for: it finds no id in the answer"
    named = {call.credential_role(recipe.credential) for call in recipe.calls.values()}
    for role in sorted(seen.roles - recipe.roles - named - {recipe.credential, WRONG_KEY}):
        yield f"uses the key of role {role!r}, which it does not declare"
    for name in sorted(seen.values - recipe.needs):
        yield f"uses the value {name!r}, which it does not declare"
    for service in sorted(seen.services - recipe.services - {call.service for call in known_calls(recipe)}):
        yield f"asks at {service!r}, which it does not declare"
