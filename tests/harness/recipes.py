"""The shipped recipes as a run loads them: a test that imported them by name would get a second copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.recipes.book import load_recipes_module

if TYPE_CHECKING:
    from types import ModuleType


def load_recipes(provider: str) -> ModuleType:
    """Return a provider's package of recipes. Its modules are its attributes, typed `Any`."""
    package = load_recipes_module(provider)
    assert package is not None, f"{provider} has recipes"
    return package
