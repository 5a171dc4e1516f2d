"""The same request in the other version of PB's API: they share model paths, and interactions exist in both (2:9)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.recipe import Recipe


def in_both(*tables: Iterable[Recipe]) -> tuple[Recipe, ...]:
    """The rows; what a record's other endpoint is sent is the row's own calls, in the version of that endpoint."""
    return tuple(_in_both(each) if each.elsewhere is None else each for table in tables for each in table)


def in_version_of(shape: Call, call: Call) -> Call:
    """The call in the version of another endpoint, which its shape begins with."""
    version = shape.path.split("/")[1]
    _, _, rest = call.path.lstrip("/").partition("/")
    return call.but(path=f"/{version}/{rest}")


def _in_both(recipe: Recipe) -> Recipe:
    def elsewhere(_: str, shape: Call | None) -> Mapping[str, Call] | None:
        if shape is None or not recipe.calls:
            return None
        return {label: in_version_of(shape, call) for label, call in recipe.calls.items()}

    return replace(recipe, elsewhere=elsewhere)
