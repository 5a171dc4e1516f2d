"""What a provider may take ill: keys that nobody was given, requests without one, large bodies, deletes. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.model.labels import WRONG_CREDENTIAL
from probes.calls.body import Content, Declared, JsonBody
from probes.calls.services import LOOPBACK
from probes.target.target import WRONG
from reports.words import count

if TYPE_CHECKING:
    from probes.calls.call import Call
    from probes.elicit.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Courtesy:
    """If nothing is sent again; of steps, what their labels tell."""

    invented_keys: int
    keyless: int
    deletes: int
    body_bytes: int
    """Of all bodies together, as they are written in the recipes; what is only declared counts as if it were sent."""

    def __str__(self) -> str:
        return (
            f"{count(self.invented_keys, 'invented key')}, {count(self.keyless, 'keyless request')}, "
            f"{count(self.deletes, 'delete')}, {self.body_bytes:,} bytes of bodies"
        )


def courtesy(recipes: Iterable[Recipe]) -> Courtesy:
    """What these recipes show to a provider."""
    every = list(_every(recipes))
    calls = [call for each in every for call in each.calls.values() if call.service not in LOOPBACK]
    return Courtesy(
        invented_keys=sum(call.credential == WRONG for call in calls) + sum(map(_in_steps, every)),
        keyless=sum(call.credential is None for call in calls),
        deletes=sum(call.method == "DELETE" for call in calls),
        body_bytes=sum(map(_size, calls)),
    )


def calls_of(recipe: Recipe) -> Iterator[tuple[Recipe, str, Call]]:
    """Every call that a recipe declares: its own, of its looks besides, on its other endpoints."""
    for each in _every([recipe]):
        yield from ((each, label, call) for label, call in each.calls.items())


def steps_of(recipe: Recipe) -> Iterator[Recipe]:
    """Every part of a recipe that decides while it runs what it sends."""
    return (each for each in _every([recipe]) if each.steps is not None)


def _every(recipes: Iterable[Recipe]) -> Iterator[Recipe]:
    for each in recipes:
        yield each
        yield from _every([*each.optional.values(), *each.spread.cells.values()])


def _in_steps(recipe: Recipe) -> bool:
    return recipe.steps is not None and WRONG_CREDENTIAL in recipe.labels - recipe.calls.keys()


def _size(call: Call) -> int:
    match call.body:
        case JsonBody(value=value):
            return len(json.dumps(value, default=str))
        case Content(data=data):
            return len(data)
        case Declared(length=length):
            return length
        case _:
            return 0
