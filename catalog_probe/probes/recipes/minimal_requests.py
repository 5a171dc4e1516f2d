"""The minimal request of each endpoint, and the changes that spoil a request.

A provider's recipes have a table of minimal requests: for each endpoint the smallest request that the endpoint takes.
Where the verb destroys something, the request names an id that cannot exist. An error is provoked by one change, such
as `with_key("revoked")`, in the request of its recipe and in the minimal request of each other endpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import MISSING_CREDENTIAL, SUCCESS, WRONG_CREDENTIAL
from catalog_probe.probes.calls import NO_BODY
from catalog_probe.probes.targets.target import WRONG_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.recipe import Change, OtherEndpoints, Recipe


@dataclass(frozen=True, slots=True)
class Refusals:
    """Which refusals the documents show for some endpoints: of a missing key, of a key that does not exist."""

    missing: bool = True
    wrong: bool = True

    def refused_calls(self, call: Call) -> dict[str, Call]:
        """Return the call without a key and with a wrong one, by the labels of an endpoint's credential rules."""
        calls = {}
        if self.missing:
            calls[MISSING_CREDENTIAL] = call.replace(credential=None)
        if self.wrong:
            calls[WRONG_CREDENTIAL] = call.replace(credential=WRONG_KEY)
        return calls

    def label_calls(self, success: Call, /, **rules: Call) -> dict[str, Call]:
        """Return the success, its refusals, and the endpoint's own rules by their labels.

        Example: `BOTH_REFUSALS.label_calls(MODELS, listed=LIST)` has the labels `success`, `missing_credential`,
        `wrong_credential` and `listed`.
        """
        return {SUCCESS: success, **self.refused_calls(success), **rules}


BOTH_REFUSALS = Refusals()


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
    """Send the key of another role, or no key if the role is None."""
    return lambda call: call.replace(credential=role)


def with_fields(**fields: Json) -> Change:
    """Set some fields of the JSON body."""
    return lambda call: call.with_fields(**fields)


def with_headers(**headers: str | None) -> Change:
    """Set some headers, or leave them out where None. Example: `pa_version=None` leaves out `pa-version`."""
    return lambda call: call.with_headers(**headers)


def as_stream(call: Call) -> Call:
    """Ask for the answer as a stream, by the member `stream` of the body."""
    return call.with_fields(stream=True)


def by_method(*methods: str) -> dict[str, Change]:
    """Return a change for each method, which sends that method without a body: `PUT` under the label `put`."""

    def with_method(method: str) -> Change:
        return lambda call: call.replace(method=method, body=NO_BODY)

    return {method.lower(): with_method(method) for method in methods}


def with_scenario(scenario: str) -> Change:
    """Run the request under a scenario of the mock, e.g. `overloaded`. Live, such a recipe is not probed."""
    return lambda call: call.with_scenario(scenario)


# The address of an endpoint -> the smallest request that it takes.
MinimalRequests = Mapping[str, "Call"]


def send_minimal_request(_: str, request: Call | None) -> Call | None:
    """Send each endpoint its minimal request as it is: the request itself names what cannot exist."""
    return request


def same_recipe(make_recipe: Callable[[Call], Recipe]) -> OtherEndpoints:
    """Send each endpoint what a recipe of its minimal request sends."""
    return lambda _, request: make_recipe(request) if request is not None else None


def calls_by_endpoint(kind: str, table: Mapping[str, Call | Mapping[str, Call] | Recipe]) -> OtherEndpoints:
    """Send what a table lists for the rest of each endpoint's address after `kind`.

    Example: with the kind `pa/endpoints`, the key of `pa/endpoints/models/get_model` is `models/get_model`.
    """
    return lambda endpoint, _: table.get(endpoint.removeprefix(f"{kind}/"))
