"""Runs a recipe on the mock with a recording probe, and compares its use with its declaration."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.model.exchange import ANSWER, CLEANUP, UNJUDGED_LABELS
from catalog_probe.probes.calls import LOOPBACK_SERVICES
from catalog_probe.probes.planning.reach import known_calls
from catalog_probe.probes.recipes.performing import perform_recipe
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running.attempt_probe import AttemptProbe
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.limits import Budget
from catalog_probe.probes.targets.target import WRONG_KEY, Target
from catalog_probe.probes.wire.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.recipe import Recipe

CREDENTIAL_SUFFIX = "_credential"
"""Suffix of the placeholder of a credential inside a body; the role comes before it."""


class RecordedValues(dict[str, str]):
    """The values of a target, and the names of those that were read."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.read.add(name)
        return super().__getitem__(name)


class RecordingProbe(AttemptProbe):
    """An attempt that records its calls, and the objects that it could not remove."""

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
    """What one attempt used. Requests that remove created objects are not counted, as in the budget."""

    requests: int
    labels: frozenset[str]
    roles: frozenset[str] = field(default=frozenset())
    values: frozenset[str] = field(default=frozenset())
    services: frozenset[str] = field(default=frozenset())
    left: frozenset[str] = field(default=frozenset())
    """Removals of objects that are left, because their id was not in the answer."""


def observe_use(recipe: Recipe, target: Target, redactor: Redactor | None = None) -> RecipeUse:
    """Perform a recipe on a target and return what it used.

    A caller with many recipes passes one redactor, because making it is slow.

    Raises:
        ProbeStopped: the recipe could not be finished.
    """
    return anyio.run(partial(_perform, recipe, target, redactor or make_redactor(target)))


def make_redactor(target: Target) -> Redactor:
    """Return the redactor of a target."""
    return Redactor.for_target(target)


def find_gaps(recipes: Mapping[str, Recipe], target: Target) -> dict[str, list[str]]:
    """Return the recipes that use what they do not declare, or cannot be finished, with a line for each reason."""
    redactor = make_redactor(target)
    gaps: dict[str, list[str]] = {}
    for name, recipe in recipes.items():
        try:
            gaps[name] = list(list_undeclared(recipe, observe_use(recipe, target, redactor)))
        except ProbeStopped as stopped:
            gaps[name] = [f"stops: {stopped}"]
    return {name: lines for name, lines in gaps.items() if lines}


async def _perform(recipe: Recipe, target: Target, redactor: Redactor) -> RecipeUse:
    provider = target.providers[recipe.provider]
    lane = Lane(provider, recipe.credential, redactor, Budget(provider), mock=True)
    probe = RecordingProbe(recipe, lane)
    try:
        await perform_recipe(recipe, probe)
    finally:
        await probe.remove_all()
        await lane.aclose()
    placeholders = frozenset().union(*(call.placeholders for call, _ in probe.calls))
    credentials = {name for name in placeholders if name.endswith(CREDENTIAL_SUFFIX)}
    roles = {call.credential_role(recipe.credential) for call, _ in probe.calls}
    return RecipeUse(
        requests=sum(exchange.label != CLEANUP for exchange in probe.exchanges),
        labels=frozenset(label for _, label in probe.calls),
        roles=frozenset(role for role in roles if role is not None)
        | {name.removesuffix(CREDENTIAL_SUFFIX) for name in credentials},
        values=frozenset(placeholders - credentials) | probe.recorded.read,
        services=frozenset(call.service for call, _ in probe.calls) - LOOPBACK_SERVICES,
        left=frozenset(probe.left),
    )


def list_undeclared(recipe: Recipe, use: RecipeUse) -> Iterator[str]:
    """Yield a line for each use that the recipe does not declare."""
    for label in sorted(recipe.labels - use.labels):
        yield f"declares the label {label!r} and sends nothing under it"
    for label in sorted(use.labels - recipe.labels - UNJUDGED_LABELS):
        yield f"sends {label!r}, which it does not declare"
    if use.requests > recipe.requests:
        yield f"sends {use.requests} requests and declares {recipe.requests}"
    for name in sorted(use.left):
        yield f"leaves the object of the removal {name!r}: it finds no id in the answer"
    roles_of_calls = {call.credential_role(recipe.credential) for call in recipe.calls.values()}
    for role in sorted(use.roles - recipe.roles - roles_of_calls - {recipe.credential, WRONG_KEY}):
        yield f"uses the key of role {role!r}, which it does not declare"
    for name in sorted(use.values - recipe.needs):
        yield f"uses the value {name!r}, which it does not declare"
    for service in sorted(use.services - recipe.services - {call.service for call in known_calls(recipe)}):
        yield f"asks at {service!r}, which it does not declare"
