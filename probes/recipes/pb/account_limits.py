"""What a project without billing is allowed on PB (1:3, 2:8.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.recipes.limit_looks import SLUG
from catalog_probe.probes.recipes.recipe import Family, Recipe

from .requests import generate

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.calls.call import Call

LIMITS = Family("pb/rate_limits/limits")

SEARCH: list[Json] = [{"webSearch": {}}]
"""The tool that grounds by search; the documents do not say how it is asked for."""


def look(label: str, call: Call) -> tuple[str, Recipe]:
    """A small generation of a project without billing."""
    return label, LIMITS.recipe(SLUG, call.but(credential="free"), label=label)


LOOKS: dict[str, Recipe] = dict(
    [
        look("free_tier", generate()),
        look("free_tier_paid_only_model", generate("{paid_only_model}")),
        look("free_searches_within", generate("{previous_generation_model}", tools=SEARCH)),
    ]
)
