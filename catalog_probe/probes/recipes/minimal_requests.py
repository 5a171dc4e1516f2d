"""The minimal request of each endpoint, from the endpoints' own recipes, and the common changes of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import SUCCESS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.other_endpoints import Change
    from catalog_probe.probes.recipes.recipe import Recipe


def list_minimal_requests(*tables: Iterable[Recipe]) -> dict[str, Call]:
    """Return by address the request that each endpoint answers with success, with the key that it needs.

    A request that makes something keeps its removal, in case a provider accepts what it should refuse. Do not take
    a request that deletes from here: its minimal request names an id that cannot exist.
    """
    recipes = (recipe for table in tables for recipe in table if "/endpoints/" in recipe.address)
    return {
        recipe.address: with_lane_key(recipe.calls[SUCCESS], recipe.credential)
        for recipe in recipes
        if SUCCESS in recipe.calls
    }


def with_lane_key(call: Call, role: str) -> Call:
    """Return the call with the key that a lane of this role would send it with."""
    return call.replace(credential=call.credential_role(role))


def with_key(role: str | None) -> Change:
    """Change the key, or leave it out."""
    return lambda call: call.replace(credential=role)


def with_fields(**fields: Json) -> Change:
    """Set some fields of the JSON body."""
    return lambda call: call.with_fields(**fields)


def with_headers(**headers: str | None) -> Change:
    """Set some headers, `_` for `-`, or leave them out."""
    return lambda call: call.with_headers(**headers)


def with_scenario(scenario: str) -> Change:
    """Run the request under a mock scenario."""
    return lambda call: call.with_scenario(scenario)


def unchanged(call: Call) -> Call:
    """Change nothing: the minimal request itself names what cannot exist."""
    return call
