"""The smallest request of each endpoint, from the endpoints' own recipes, and the common ways to spoil one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.labels import SUCCESS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.other_endpoints import Change
    from catalog_probe.probes.recipes.recipe import Recipe


def shapes_of(*tables: Iterable[Recipe]) -> dict[str, Call]:
    """By address, what each endpoint answers with success, with the key that it needs.

    What makes something keeps its removal, should a provider take what it ought to refuse. What deletes is not taken
    from here: its shape names an id that cannot exist.
    """
    own = (each for table in tables for each in table if "/endpoints/" in each.address and SUCCESS in each.calls)
    return {each.address: with_key_of(each.calls[SUCCESS], each.credential) for each in own}


def with_key_of(call: Call, role: str) -> Call:
    """The call with the key that a lane of this role would send it with."""
    return call.replace(credential=call.credential_role(role))


def with_key(role: str | None) -> Change:
    """Another key, or none."""
    return lambda call: call.replace(credential=role)


def with_fields(**fields: Json) -> Change:
    """Some fields of the JSON body set otherwise."""
    return lambda call: call.with_fields(**fields)


def befallen(scenario: str) -> Change:
    """A cause that only the provider has, or a mock."""
    return lambda call: call.with_scenario(scenario)


def as_it_is(call: Call) -> Call:
    """Nothing: the shape itself names what cannot exist."""
    return call
