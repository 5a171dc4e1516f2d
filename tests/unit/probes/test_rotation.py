"""Which endpoints a night draws, and what is planned for each."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Address, Record
from catalog_probe.probes.calls import NO_BODY, delete, get, post
from catalog_probe.probes.planning.plan import (
    ALL_ENDPOINTS,
    ROUND_DAYS,
    Depth,
    Rotation,
    draw_variants,
    is_due,
    list_other_endpoints,
    own_endpoints,
    plan_endpoints,
)
from catalog_probe.probes.recipes.minimal_requests import (
    by_method,
    calls_by_endpoint,
    with_fields,
    with_key,
)
from catalog_probe.probes.recipes.recipe import Family, PlannedRecipe, Recipe, same_change
from catalog_probe.probes.targets.target import Cost, Credential, Provider, Target
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.recipe import OtherEndpoints


ADDRESSES = st.from_regex(r"p[a-d]/errors/[a-z_]{1,12}/[a-z_]{1,20}", fullmatch=True)
ENDPOINTS = st.from_regex(r"p[a-d]/endpoints/[a-z_]{1,12}/[a-z_]{1,20}", fullmatch=True)
DAYS = st.dates(date(2020, 1, 1), date(2100, 1, 1))


def make_record(address: str, *differing: str) -> Record:
    lines = {endpoint: {"on": "2026-11-01", "mismatched": {"answer/status": "403"}} for endpoint in differing}
    evidence = {"evidence": {"statements": "0", "endpoints": lines}} if lines else {}
    return Record(Address.parse(address), {"endpoints": [], **evidence})


@given(ADDRESSES, ENDPOINTS, DAYS)
def test_each_endpoint_is_due_once_in_four_weeks(address: str, endpoint: str, first: date) -> None:
    days = [first + timedelta(days=number) for number in range(ROUND_DAYS)]
    assert sum(is_due(address, endpoint, day) for day in days) == 1


@given(ADDRESSES, st.lists(ENDPOINTS, unique=True, max_size=12), st.data())
def test_deeper_run_includes_the_shallower_one(address: str, endpoints: list[str], data: st.DataObject) -> None:
    day = data.draw(DAYS)
    differing = data.draw(st.lists(st.sampled_from(endpoints), unique=True)) if endpoints else []
    probed = make_record(address, *differing)
    drawn = {
        depth: {endpoint for endpoint in endpoints if Rotation(depth, day).includes(probed, endpoint)}
        for depth in Depth
    }
    assert drawn[Depth.QUICK] == set()
    assert set(differing) <= drawn[Depth.ROTATE]
    assert drawn[Depth.ROTATE] <= drawn[Depth.FULL] == set(endpoints)


@given(ADDRESSES, ENDPOINTS, ENDPOINTS, DAYS)
def test_due_day_does_not_depend_on_other_endpoints(address: str, endpoint: str, other: str, day: date) -> None:
    drawing = Rotation(Depth.ROTATE, day)
    assert drawing.includes(make_record(address), endpoint) == is_due(address, endpoint, day)
    if other != endpoint:
        assert drawing.includes(make_record(address, other), endpoint) == is_due(address, endpoint, day)


def test_all_endpoints_by_default() -> None:
    assert ALL_ENDPOINTS.includes(make_record("pa/errors/general/x"), "pa/endpoints/models/list_models")


GENERAL = Family("pa/errors/general")
KEY_REVOKED = "pa/errors/general/key_revoked"
MODELS, MODEL = "pa/endpoints/models/list_models", "pa/endpoints/models/get_model"
MINIMAL_REQUESTS = {MODELS: get("/v1/models"), MODEL: get("/v1/models/{small_model}", credential="inference")}


REVOKE_KEY = same_change(lambda call: call.replace(credential="revoked"))


def make_recipe(other_endpoints: OtherEndpoints | None = REVOKE_KEY, endpoint: str = "") -> Recipe:
    call = get("/v1/models", credential="revoked")
    return GENERAL.recipe("key_revoked", call, tokens=2, other_endpoints=other_endpoints, endpoint=endpoint)


def make_target(*roles: str, live: bool = True, **values: str) -> Target:
    credentials = {role: Credential(role, "key-1234") for role in roles}
    provider = Provider("pa", addresses={"base_url": "https://x.example"}, credentials=credentials, values=values)
    return Target("t", live, frozenset({Cost.FREE}), {"pa": provider})


def test_fault_is_sent_to_each_other_endpoint() -> None:
    recipes_by_endpoint = list_other_endpoints(make_recipe(), catalog()[KEY_REVOKED], catalog(), MINIMAL_REQUESTS)
    assert list(recipes_by_endpoint) == [MODEL]
    (other_recipe,) = recipes_by_endpoint.values()
    assert (other_recipe.endpoint, set(other_recipe.labels), other_recipe.requests, other_recipe.tokens) == (
        MODEL,
        {"answer"},
        1,
        2,
    )
    (call,) = other_recipe.calls.values()
    assert (call.path, call.credential) == ("/v1/models/{small_model}", "revoked")
    assert other_recipe.needs == {"small_model"}


def test_recipe_without_other_endpoints() -> None:
    assert (
        list_other_endpoints(make_recipe(other_endpoints=None), catalog()[KEY_REVOKED], catalog(), MINIMAL_REQUESTS)
        == {}
    )


def test_several_causes_and_tables_of_calls() -> None:
    recipe_of_causes = make_recipe(
        other_endpoints=same_change({"a": lambda call: call, "b": lambda call: call.replace(method="PUT")})
    )
    (other_recipe,) = list_other_endpoints(
        recipe_of_causes, catalog()[KEY_REVOKED], catalog(), MINIMAL_REQUESTS
    ).values()
    assert {label: call.method for label, call in other_recipe.calls.items()} == {"a": "GET", "b": "PUT"}
    own_recipe = GENERAL.recipe("key_revoked", delete("/v1/x"), cost=Cost.DESTRUCTIVE)
    table = calls_by_endpoint("pa/endpoints", {"models/get_model": own_recipe})
    (other_recipe,) = list_other_endpoints(
        make_recipe(other_endpoints=table), catalog()[KEY_REVOKED], catalog(), {}
    ).values()
    assert (other_recipe.cost, other_recipe.endpoint) == (Cost.DESTRUCTIVE, MODEL)


def test_change_applies_to_other_endpoints() -> None:
    request = post("/v1/messages", {"model": "a", "n": 1})
    (single, several, from_table) = (
        GENERAL.recipe("bad", request, with_fields(n=2), tokens=3),
        GENERAL.recipe("bad", request, {"key": with_key("wrong"), "field": with_fields(n=2)}),
        GENERAL.recipe("bad", request, with_key(None), other_endpoints=calls_by_endpoint("pa/endpoints", {})),
    )
    assert (single.address, single.calls, single.tokens) == (
        "pa/errors/general/bad",
        {"answer": request.with_fields(n=2)},
        3,
    )
    shape = post("/v1/other", {"n": 0})
    assert single.other_endpoints is not None
    assert single.other_endpoints(MODELS, shape) == shape.with_fields(n=2)
    assert several.calls == {"key": request.replace(credential="wrong"), "field": request.with_fields(n=2)}
    assert several.other_endpoints is not None
    assert several.other_endpoints(MODELS, shape) == {
        "key": shape.replace(credential="wrong"),
        "field": shape.with_fields(n=2),
    }
    assert from_table.other_endpoints is not None
    assert from_table.other_endpoints(MODELS, shape) is None


def test_variants_change_the_spoiled_request_at_its_own_endpoint_alone() -> None:
    recipe = GENERAL.recipe("a", post("/v1/models", {"n": 1}), with_key("wrong"), variants=by_method("PUT", "DELETE"))
    spoiled = post("/v1/models", {"n": 1}, credential="wrong")
    assert recipe.calls == {
        "answer": spoiled,
        "put": spoiled.replace(method="PUT", body=NO_BODY),
        "delete": spoiled.replace(method="DELETE", body=NO_BODY),
    }
    assert recipe.other_endpoints is not None
    assert recipe.other_endpoints(MODEL, post("/v1/other")) == post("/v1/other", credential="wrong")
    with pytest.raises(TypeError, match="variants need one call"):
        GENERAL.recipe("a", {"one": spoiled}, variants=by_method("PUT"))


def test_a_night_sends_a_share_of_the_variants_and_none_where_the_record_differs() -> None:
    methods = ("PUT", "PATCH", "DELETE")
    written = GENERAL.recipe("a", get("/v1/models"), variants=by_method(*methods))
    recipe = PlannedRecipe.from_recipe(written, {})
    days = [date(2026, 11, 1) + timedelta(days=number) for number in range(ROUND_DAYS)]
    nights = [draw_variants(recipe, make_record("pa/errors/general/a"), Rotation(Depth.ROTATE, day)) for day in days]
    assert sum(night.requests for night in nights) == ROUND_DAYS + len(methods)
    assert all(night.calls.keys() | set(night.variants_not_drawn) == recipe.calls.keys() for night in nights)
    assert all(night.labels == recipe.labels for night in nights), "what is not drawn is not forgotten"
    differing = make_record("pa/errors/general/a", MODEL)
    of_differing = [draw_variants(recipe, differing, Rotation(Depth.ROTATE, day)) for day in days]
    assert all(night.calls.keys() == {"answer"} for night in of_differing), "each would tell the same drift once more"
    assert draw_variants(recipe, make_record("pa/errors/general/a"), ALL_ENDPOINTS) == recipe


def test_own_endpoints_by_path_or_recipe() -> None:
    claimed = (MODELS, MODEL)
    assert own_endpoints(make_recipe(), claimed, catalog()) == {MODELS}
    assert own_endpoints(make_recipe(endpoint=MODEL), claimed, catalog()) == {MODEL}
    assert own_endpoints(GENERAL.recipe("key_revoked", post("/v1/models")), claimed, catalog()) == {MODELS}


def test_plan_of_other_endpoints() -> None:
    other_recipes = list_other_endpoints(make_recipe(), catalog()[KEY_REVOKED], catalog(), MINIMAL_REQUESTS)
    free = frozenset({Cost.FREE})
    record = catalog()[KEY_REVOKED]
    complete = plan_endpoints(
        other_recipes, record, make_target("inference", "revoked", small_model="s"), free, ALL_ENDPOINTS
    )
    assert (list(complete.recipes), complete.left_out, complete.not_drawn) == ([MODEL], {}, ())
    incomplete = plan_endpoints(other_recipes, record, make_target("inference", "revoked"), free, ALL_ENDPOINTS)
    assert (incomplete.recipes, {key: reason.code for key, reason in incomplete.left_out.items()}) == (
        {},
        {MODEL: "value-missing"},
    )
    quick = plan_endpoints(
        other_recipes,
        record,
        make_target("inference", "revoked", small_model="s"),
        free,
        Rotation(Depth.QUICK, date(2026, 11, 21)),
    )
    assert (quick.recipes, quick.not_drawn) == ({}, (MODEL,))
    days = [date.fromordinal(date(2026, 11, 1).toordinal() + number) for number in range(28)]
    (due_day,) = (day for day in days if is_due(KEY_REVOKED, MODEL, day))
    rotated = plan_endpoints(
        other_recipes,
        record,
        make_target("inference", "revoked", small_model="s"),
        free,
        Rotation(Depth.ROTATE, due_day),
    )
    assert list(rotated.recipes) == [MODEL]
