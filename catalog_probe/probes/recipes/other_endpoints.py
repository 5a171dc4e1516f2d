"""How an error is brought about on the other endpoints that its record names: a change of each endpoint's own request.

A provider's recipes have a table of shapes: for each endpoint the smallest request that it takes, with ids of which a
verb that destroys could find nothing. What provokes an error spoils one thing in such a shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.recipe import Elsewhere, Recipe

Shapes = Mapping[str, "Call"]
"""The address of an endpoint -> the smallest request that it takes."""

Change = Callable[["Call"], "Call"]


def spoilt(change: Change) -> Elsewhere:
    """Each endpoint's request with one thing changed, under the only label of the record."""
    return lambda _, shape: change(shape) if shape is not None else None


def spoilt_by_label(**changes: Change) -> Elsewhere:
    """The same where the record has several causes: each endpoint is sent all of them."""

    def each(_: str, shape: Call | None) -> Mapping[str, Call] | None:
        return {label: change(shape) for label, change in changes.items()} if shape is not None else None

    return each


def listed(kind: str, table: Mapping[str, Call | Mapping[str, Call] | Recipe]) -> Elsewhere:
    """A table of what is sent where, by what is left of the endpoint's address behind `kind` (`pa/endpoints`)."""
    return lambda endpoint, _: table.get(endpoint.removeprefix(f"{kind}/"))
