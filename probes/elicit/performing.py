"""Sends what a recipe says: its calls, its steps, what it looks at besides, then the same on other endpoints."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Container, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING

from catalog.model.labels import SETUP
from probes.calls.call import Call, Mock
from probes.elicit.probe import Stopped

if TYPE_CHECKING:
    from catalog.model import Reason
    from probes.elicit.probe import Probe
    from probes.elicit.recipe import Recipe

Performed = Callable[["Recipe", "Probe"], Awaitable[dict[str, "Reason"]]]
"""Sends one recipe, and says of what nothing came and why."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """Of what nothing came, and why: optional looks by label, other endpoints by address."""

    looks: dict[str, Reason] = field(default_factory=dict)
    endpoints: dict[str, Reason] = field(default_factory=dict)


class _Kind(Enum):
    """How a look or another endpoint may be sent with its neighbours."""

    IN_TURN = auto()
    BESIDE = auto()
    APART = auto()


async def perform(recipe: Recipe, probe: Probe, places: Collection[tuple[str, str]] | None = None) -> Unseen:
    """Elicit a record's behaviour once, here and on its other endpoints; says of what nothing came.

    What is looked at besides or elsewhere must not take away what was seen before it: if it stops, it is left out.
    With `places`, each a label and an endpoint, only what they need is sent: their own calls, or all that comes before
    a step of theirs.

    Raises:
        Stopped: something could not be sent, or a step that the recipe relies on did not succeed.
    """
    unseen = Unseen(await _perform(recipe, probe, _labels(places, recipe.endpoint)))

    async def cell(other: Recipe, probe: Probe) -> dict[str, Reason]:
        try:
            await _perform(other, probe, _labels(places, other.endpoint))
        except Stopped as ended:
            return {other.endpoint: probe.explain_stop(ended.reason)}
        return {}

    for stopped in await _in_order(recipe.spread.cells.values(), probe, cell):
        unseen.endpoints.update(stopped)
    return unseen


async def _in_order(recipes: Iterable[Recipe], probe: Probe, performed: Performed) -> list[dict[str, Reason]]:
    """What comes of looks or other endpoints; of those that follow one another all that may go side by side do."""
    found: list[dict[str, Reason]] = []
    for kind, those in groupby(recipes, key=_kind):
        by_name: dict[str, list[Recipe]] = {}
        for number, each in enumerate(those):
            by_name.setdefault(each.apart or (f"{number}" if kind is _Kind.BESIDE else ""), []).append(each)
        parts = [partial(_in_turn, its, performed) for its in by_name.values()]
        found += chain(*await probe.side_by_side(parts, apart=kind is _Kind.APART))
    return found


async def _in_turn(recipes: Iterable[Recipe], performed: Performed, probe: Probe) -> list[dict[str, Reason]]:
    return [await performed(each, probe) for each in recipes]


def _labels(places: Collection[tuple[str, str]] | None, endpoint: str) -> Container[str] | None:
    """The labels that are asked for on an endpoint; None for all."""
    return None if places is None else {label for label, where in places if where in ("", endpoint)}


async def _perform(recipe: Recipe, probe: Probe, labels: Container[str] | None) -> dict[str, Reason]:
    probe.endpoint = recipe.endpoint
    of_calls, of_steps = _wanted(recipe, labels)
    calls = [(label, call) for label, call in recipe.calls.items() if label in of_calls]
    for reading, those in groupby(calls, key=lambda each: each[0] != SETUP and _reads(each[1])):
        parts = [partial(_sent, label, call) for label, call in those]
        if reading:
            await probe.side_by_side(parts)
        else:
            for part in parts:
                await part(probe)
    if recipe.steps is not None and of_steps:
        await recipe.steps(probe)

    async def look(each: Recipe, probe: Probe) -> dict[str, Reason]:
        try:
            return await _perform(each, probe, labels)
        except Stopped as ended:
            return dict.fromkeys(each.labels, probe.explain_stop(ended.reason))

    beside = recipe.optional.values()
    asked = [each for each in beside if labels is None or any(label in labels for label in each.labels)]
    stopped: dict[str, Reason] = {}
    for each in await _in_order(asked, probe, look):
        stopped |= each
    return stopped


async def _sent(label: str, call: Call, probe: Probe) -> None:
    await (probe.setup(call) if label == SETUP else probe.send(call, label))


def _reads(call: Call) -> bool:
    """Whether it leaves nothing behind that another could meet, and is of no other moment."""
    return call.method == "GET" and call.mock == Mock()


def _kind(recipe: Recipe) -> _Kind:
    if recipe.apart:
        return _Kind.APART
    only_reads = recipe.steps is None and all(map(_reads, recipe.calls.values()))
    return _Kind.BESIDE if recipe.beside or only_reads else _Kind.IN_TURN


def _wanted(recipe: Recipe, labels: Container[str] | None) -> tuple[Container[str], bool]:
    """The labels of the calls that are asked for, and whether the steps are; these may rely on every call."""
    if labels is None:
        return recipe.calls.keys(), True
    beside = frozenset(label for look in recipe.optional.values() for label in look.labels)
    if any(label in labels for label in recipe.labels - beside - recipe.calls.keys()):
        return recipe.calls.keys(), True
    asked = frozenset(label for label in recipe.calls if label in labels)
    return asked | {SETUP} if asked else asked, False
