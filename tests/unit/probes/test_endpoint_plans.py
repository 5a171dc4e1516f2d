"""An error on the other endpoints that its record names: which are drawn, which can be asked here, and what is sent."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.probes.calls.call import delete, get, post
from catalog_probe.probes.planning.endpoint_plans import list_other_endpoints, own_endpoints, plan_endpoints
from catalog_probe.probes.planning.rotation import ALL_ENDPOINTS, Depth, Rotation, is_due
from catalog_probe.probes.recipes.minimal_requests import with_fields, with_key
from catalog_probe.probes.recipes.other_endpoints import (
    calls_by_endpoint,
    changed_request,
    same_change,
    same_changes,
)
from catalog_probe.probes.recipes.recipe import Family, Recipe, recipe
from catalog_probe.probes.targets.target import Cost, Credential, Provider, Target
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.recipe import OtherEndpoints

REVOKED = "pa/errors/general/key_revoked"
MODELS, MODEL = "pa/endpoints/models/list_models", "pa/endpoints/models/get_model"
MINIMAL_REQUESTS = {MODELS: get("/v1/models"), MODEL: get("/v1/models/{small_model}", credential="inference")}


REVOKE = same_change(lambda call: call.replace(credential="revoked"))


def revoked(other_endpoints: OtherEndpoints | None = REVOKE, endpoint: str = "") -> Recipe:
    call = get("/v1/models", credential="revoked")
    return recipe(REVOKED, call, tokens=2, other_endpoints=other_endpoints, endpoint=endpoint)


def target(*roles: str, live: bool = True, **values: str) -> Target:
    keys = {role: Credential(role, "key-1234") for role in roles}
    known = Provider("pa", addresses={"base_url": "https://x.example"}, credentials=keys, values=values)
    return Target("t", live, frozenset({Cost.FREE}), {"pa": known})


def test_the_shape_of_each_endpoint_is_spoilt_but_for_those_that_the_first_call_asks() -> None:
    found = list_other_endpoints(revoked(), catalog()[REVOKED], catalog(), MINIMAL_REQUESTS)
    assert list(found) == [MODEL]
    (other_recipe,) = found.values()
    assert (other_recipe.endpoint, set(other_recipe.labels), other_recipe.requests, other_recipe.tokens) == (
        MODEL,
        {"answer"},
        1,
        2,
    )
    (call,) = other_recipe.calls.values()
    assert (call.path, call.credential) == ("/v1/models/{small_model}", "revoked")
    assert other_recipe.needs == {"small_model"}


def test_a_recipe_that_provokes_nothing_elsewhere_has_no_others() -> None:
    assert list_other_endpoints(revoked(other_endpoints=None), catalog()[REVOKED], catalog(), MINIMAL_REQUESTS) == {}


def test_each_cause_is_sent_and_a_table_says_what_goes_where() -> None:
    causes = revoked(other_endpoints=same_changes(a=lambda call: call, b=lambda call: call.replace(method="PUT")))
    (other_recipe,) = list_other_endpoints(causes, catalog()[REVOKED], catalog(), MINIMAL_REQUESTS).values()
    assert {label: call.method for label, call in other_recipe.calls.items()} == {"a": "GET", "b": "PUT"}
    own = recipe(REVOKED, delete("/v1/x"), cost=Cost.DESTRUCTIVE)
    table = calls_by_endpoint("pa/endpoints", {"models/get_model": own})
    (other_recipe,) = list_other_endpoints(revoked(other_endpoints=table), catalog()[REVOKED], catalog(), {}).values()
    assert (other_recipe.cost, other_recipe.endpoint) == (Cost.DESTRUCTIVE, MODEL)


def test_a_row_provokes_by_one_change_of_its_request_and_of_the_shape_of_each_other_endpoint() -> None:
    errors, request = Family("pa/errors/general"), post("/v1/messages", {"model": "a", "n": 1})
    (one, several, told) = (
        changed_request(errors, "bad", request, with_fields(n=2), tokens=3),
        changed_request(errors, "bad", request, {"key": with_key("wrong"), "field": with_fields(n=2)}),
        changed_request(errors, "bad", request, with_key(None), other_endpoints=calls_by_endpoint("pa/endpoints", {})),
    )
    assert (one.address, one.calls, one.tokens) == ("pa/errors/general/bad", {"answer": request.with_fields(n=2)}, 3)
    shape = post("/v1/other", {"n": 0})
    assert one.other_endpoints is not None
    assert one.other_endpoints(MODELS, shape) == shape.with_fields(n=2)
    assert several.calls == {"key": request.replace(credential="wrong"), "field": request.with_fields(n=2)}
    assert several.other_endpoints is not None
    assert several.other_endpoints(MODELS, shape) == {
        "key": shape.replace(credential="wrong"),
        "field": shape.with_fields(n=2),
    }
    assert told.other_endpoints is not None
    assert told.other_endpoints(MODELS, shape) is None


def test_what_the_first_calls_ask_is_told_by_path_or_by_the_recipe() -> None:
    claimed = (MODELS, MODEL)
    assert own_endpoints(revoked(), claimed, catalog()) == {MODELS}
    assert own_endpoints(revoked(endpoint=MODEL), claimed, catalog()) == {MODEL}
    assert own_endpoints(recipe(REVOKED, post("/v1/models")), claimed, catalog()) == {MODELS}


def test_an_endpoint_is_drawn_and_can_be_asked_or_says_why_not() -> None:
    others = list_other_endpoints(revoked(), catalog()[REVOKED], catalog(), MINIMAL_REQUESTS)
    free = frozenset({Cost.FREE})
    record = catalog()[REVOKED]
    sent = plan_endpoints(others, record, target("inference", "revoked", small_model="s"), free, ALL_ENDPOINTS)
    assert (list(sent.recipes), sent.left_out, sent.not_drawn) == ([MODEL], {}, ())
    lacking = plan_endpoints(others, record, target("inference", "revoked"), free, ALL_ENDPOINTS)
    assert (lacking.recipes, {key: why.code for key, why in lacking.left_out.items()}) == ({}, {MODEL: "value-missing"})
    quick = plan_endpoints(
        others, record, target("inference", "revoked", small_model="s"), free, Rotation(Depth.QUICK, date(2026, 11, 21))
    )
    assert (quick.recipes, quick.not_drawn) == ({}, (MODEL,))
    days = [date.fromordinal(date(2026, 11, 1).toordinal() + number) for number in range(28)]
    (its_day,) = (day for day in days if is_due(REVOKED, MODEL, day))
    tonight = plan_endpoints(
        others, record, target("inference", "revoked", small_model="s"), free, Rotation(Depth.ROTATE, its_day)
    )
    assert list(tonight.recipes) == [MODEL]
