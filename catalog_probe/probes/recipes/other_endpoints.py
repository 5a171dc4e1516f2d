"""Provokes an error on the other endpoints of its record, by a change of each endpoint's minimal request.

A provider's recipes have a table of minimal requests: for each endpoint the smallest one that it takes, with ids that
cannot exist where the verb destroys something. An error changes one thing in such a request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Unpack

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.recipe import Family, OtherEndpoints, Recipe, RowOptions

# The address of an endpoint -> the smallest request that it takes.
MinimalRequests = Mapping[str, "Call"]

Change = Callable[["Call"], "Call"]


def changed_request(
    family: Family,
    slug: str,
    request: Call,
    change: Change | Mapping[str, Change],
    **options: Unpack[RowOptions],
) -> Recipe:
    """Make the recipe of an error that one change of a request provokes, or several by label, on any endpoint."""
    if callable(change):
        options.setdefault("other_endpoints", same_change(change))
        return family.recipe(slug, change(request), **options)
    options.setdefault("other_endpoints", same_changes(**change))
    return family.recipe(slug, {label: label_change(request) for label, label_change in change.items()}, **options)


def same_change(change: Change) -> OtherEndpoints:
    """Send each endpoint's minimal request with this change, under the only label of the record."""
    return lambda _, request: change(request) if request is not None else None


def same_recipe(make_recipe: Callable[[Call], Recipe]) -> OtherEndpoints:
    """Send each endpoint what a recipe of its minimal request sends."""
    return lambda _, request: make_recipe(request) if request is not None else None


def same_changes(**changes: Change) -> OtherEndpoints:
    """Send each endpoint's minimal request with each of these changes, by label."""

    def change_each(_: str, request: Call | None) -> Mapping[str, Call] | None:
        return {label: change(request) for label, change in changes.items()} if request is not None else None

    return change_each


def calls_by_endpoint(kind: str, table: Mapping[str, Call | Mapping[str, Call] | Recipe]) -> OtherEndpoints:
    """Send what a table lists for the rest of each endpoint's address after `kind` (`pa/endpoints`)."""
    return lambda endpoint, _: table.get(endpoint.removeprefix(f"{kind}/"))
