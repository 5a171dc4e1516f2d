"""By whom something can be observed is read off recipes, costs, keys and values, and off what the record says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.reach import Reach, format_reach_counts
from catalog_probe.probes.calls.call import get
from catalog_probe.probes.planning.reach import ProviderReach
from catalog_probe.probes.recipes.book import RecipeBook
from catalog_probe.probes.recipes.recipe import Recipe, recipe
from catalog_probe.probes.targets.target import Cost, Credential, Provider, Target

ADDRESS = "pa/errors/general/x"
WHY = ("no-documented-setup", "why")
PLAIN = recipe(ADDRESS, get("/v1/x"))
PROVIDER = Provider(
    "pa",
    addresses={"base_url": "https://pa.example"},
    credentials={
        "inference": Credential("inference", None, "PA_API_KEY"),
        "admin": Credential("admin", "key-of-an-admin", "PA_ADMIN"),
    },
    values={"own": "a", "set": "b"},
    variables={"values.set": "PA_SET", "base_url": "PA_BASE_URL"},
)
TARGET = Target("t", True, frozenset({Cost.FREE}), {"pa": PROVIDER})


def reaches(*recipes: Recipe, unprobed: dict[str, Reason] | None = None) -> ProviderReach:
    return ProviderReach.for_target(
        RecipeBook({each.address: each for each in recipes}, unprobed or {}, {}), "pa", TARGET
    )


def assertion(key: str = "answer/status", out_of_reach: str = "", others: tuple[str, ...] = ()) -> Assertion:
    return Assertion(
        ADDRESS, AssertionKey.parse(key), 404, Basis.DOCUMENTED, out_of_reach=out_of_reach, compared_labels=others
    )


@pytest.mark.parametrize(
    ("own", "reach", "why"),
    [
        (PLAIN, Reach.ONE_KEY, ""),
        (recipe(ADDRESS, get("/v1/{own}")), Reach.ONE_KEY, ""),
        (recipe(ADDRESS, get("/v1/{set}")), Reach.MORE, "values.set"),
        (recipe(ADDRESS, get("/v1/x", credential="admin")), Reach.MORE, "credentials.admin"),
        (recipe(ADDRESS, get("/v1/x", service="auth_url")), Reach.MORE, "auth_url"),
        (recipe(ADDRESS, get("/v1/{set}"), cost=Cost.BILLABLE), Reach.MORE, "cost billable, values.set"),
        (recipe(ADDRESS, get("/v1/x").with_scenario("overloaded")), Reach.TRAFFIC, "no request can provoke it"),
        (replace(PLAIN, not_live=("provider-only-cause", "why")), Reach.TRAFFIC, "why"),
        (recipe(ADDRESS, get("/v1/x").with_scenario("overloaded"), not_live=WHY), Reach.MOCK, "why"),
        (replace(PLAIN, not_live=("not-on-the-wire", "why")), Reach.OFF_WIRE, "why"),
        (recipe(ADDRESS, get("/v1/x"), label="other", not_sent=WHY), Reach.TRAFFIC, "why"),
        (
            recipe(ADDRESS, get("/v1/x"), label="other", optional={"answer": replace(PLAIN, not_live=WHY)}),
            Reach.MOCK,
            "why",
        ),
        (
            recipe(ADDRESS, get("/v1/x"), label="other", cost=Cost.BILLABLE, optional={"answer": PLAIN}),
            Reach.MORE,
            "cost billable",
        ),
    ],
)
def test_a_label_has_the_reach_of_what_is_sent_for_it(own: Recipe, reach: Reach, why: str) -> None:
    found = reaches(own).label_reach(ADDRESS, "answer")
    assert (found.reach, found.why) == (reach, why)


@pytest.mark.parametrize(
    ("code", "reach"),
    [
        ("not-on-the-wire", Reach.OFF_WIRE),
        ("invisible-to-client", Reach.OFF_WIRE),
        ("surface-out-of-reach", Reach.OFF_WIRE),
        ("no-recipe", Reach.TRAFFIC),
    ],
)
def test_a_record_without_a_recipe_has_the_reach_of_its_reason(code: str, reach: Reach) -> None:
    assert reaches(unprobed={ADDRESS: Reason(code, "why")}).label_reach(ADDRESS, "answer").reach is reach
    assert reaches().label_reach(ADDRESS, "answer").reach is Reach.TRAFFIC


@pytest.mark.parametrize(
    ("stated", "reach"),
    [
        (assertion(), Reach.ONE_KEY),
        (assertion(out_of_reach="needs-an-account-state"), Reach.MORE),
        (assertion(out_of_reach="another-revision"), Reach.MORE),
        (assertion(out_of_reach="only-the-provider"), Reach.TRAFFIC),
        (assertion(out_of_reach="not-on-the-wire"), Reach.OFF_WIRE),
        (assertion("answer/relation:equals:/id:later", others=("later",)), Reach.TRAFFIC),
    ],
)
def test_a_statement_is_out_of_reach_where_its_record_or_what_it_is_compared_with_is(
    stated: Assertion, reach: Reach
) -> None:
    assert reaches(replace(PLAIN, not_sent=WHY)).assertion_reach(stated).reach is reach


def test_a_target_observes_what_its_keys_and_costs_allow() -> None:
    billable = recipe(ADDRESS, get("/v1/x"), credential="admin", cost=Cost.BILLABLE)
    assert reaches(billable).can_observe(assertion(), replace(TARGET, allow=frozenset(Cost)))
    assert not reaches(billable).can_observe(assertion(), TARGET)
    assert not reaches(PLAIN).can_observe(assertion(), TARGET), "its key is not set"
    assert not reaches().can_observe(assertion(), TARGET)


def test_only_what_a_client_can_ask_for_is_called_checked() -> None:
    assert [reach for reach in Reach if reach.is_checked] == [Reach.ONE_KEY, Reach.MORE]
    assert format_reach_counts({Reach.MOCK: 2, Reach.ONE_KEY: 1, Reach.MORE: 0}) == "1 one key, 2 mock only"
