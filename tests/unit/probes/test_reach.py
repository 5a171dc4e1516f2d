"""Who can observe an assertion: read from recipes, costs, keys, values, and the record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis, Reach
from catalog_probe.probes.calls import get
from catalog_probe.probes.planning.reach import ProviderReach
from catalog_probe.probes.recipes.book import RecipeBook
from catalog_probe.probes.recipes.recipe import Family, Recipe, declare_steps
from catalog_probe.probes.targets.target import Cost, Credential, Provider, Target, Variables

if TYPE_CHECKING:
    import pytest

    from catalog_probe.probes.recipes.probe import Probe

ADDRESS = "pa/errors/general/x"
GENERAL = Family("pa/errors/general")
NO_SETUP = ("no-documented-setup", "why")
PLAIN_RECIPE = GENERAL.recipe("x", get("/v1/x"))


@declare_steps(requests=1, waits_s=1)
async def wait(_: Probe) -> None:
    raise NotImplementedError


PROVIDER = Provider(
    "pa",
    addresses={"base_url": "https://pa.example"},
    credentials={
        "inference": Credential("inference", None, "PA_API_KEY"),
        "admin": Credential("admin", "key-of-an-admin", "PA_ADMIN"),
    },
    values={"own": "a", "set": "b"},
    variables=Variables({"values.set": "PA_SET", "base_url": "PA_BASE_URL"}),
)
TARGET = Target("t", True, frozenset({Cost.FREE}), {"pa": PROVIDER})


def make_reach(*recipes: Recipe, unprobed: dict[str, Reason] | None = None) -> ProviderReach:
    return ProviderReach.for_target(
        RecipeBook({recipe.address: recipe for recipe in recipes}, unprobed or {}, {}), "pa", TARGET
    )


def make_assertion(
    key: str = "answer/status", out_of_reach: str = "", compared_labels: tuple[str, ...] = ()
) -> Assertion:
    return Assertion(
        ADDRESS,
        AssertionKey.parse(key),
        404,
        Basis.DOCUMENTED,
        out_of_reach=out_of_reach,
        compared_labels=compared_labels,
    )


def test_reach_of_a_label(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Recipe, Reach, str]] = [
        (PLAIN_RECIPE, Reach.ONE_KEY, ""),
        (GENERAL.recipe("x", get("/v1/{own}")), Reach.ONE_KEY, ""),
        (GENERAL.recipe("x", get("/v1/{set}")), Reach.MORE, "values.set"),
        (GENERAL.recipe("x", get("/v1/x", credential="admin")), Reach.MORE, "credentials.admin"),
        (GENERAL.recipe("x", get("/v1/x", service="auth_url")), Reach.MORE, "auth_url"),
        (GENERAL.recipe("x", get("/v1/{set}"), cost=Cost.BILLABLE), Reach.MORE, "cost billable, values.set"),
        (GENERAL.recipe("x", get("/v1/x").with_scenario("overloaded")), Reach.TRAFFIC, "no request can provoke it"),
        (replace(PLAIN_RECIPE, not_live=("provider-only-cause", "why")), Reach.TRAFFIC, "why"),
        (GENERAL.recipe("x", get("/v1/x").with_scenario("overloaded"), not_live=NO_SETUP), Reach.MOCK, "why"),
        (replace(PLAIN_RECIPE, not_live=("not-on-the-wire", "why")), Reach.OFF_WIRE, "why"),
        (
            GENERAL.recipe("x", {"other": get("/v1/x")}).with_optional({"answer": get("/v1/x")}, not_live=NO_SETUP),
            Reach.MOCK,
            "why",
        ),
        (
            GENERAL.recipe("x", {"other": get("/v1/x")}, cost=Cost.BILLABLE).with_optional(
                {"answer": get("/v1/x")}, cost=Cost.FREE
            ),
            Reach.ONE_KEY,
            "",
        ),
        (GENERAL.recipe("x", get("/v1/x", credential=None), cost=Cost.BILLABLE, credential="admin"), Reach.ONE_KEY, ""),
        (GENERAL.recipe("x", get("/v1/x", may_not_come="no_tool")), Reach.MORE, "the provider need not show it"),
        (GENERAL.recipe("x", wait, cost=Cost.BILLABLE), Reach.MORE, "cost billable, cost slow"),
    ]
    for own_recipe, reach, detail in cases:
        with subtests.test(own_recipe=own_recipe):
            reached = make_reach(own_recipe).label_reach(ADDRESS, "answer")
            assert (reached.reach, reached.why) == (reach, detail)


def test_reach_without_a_recipe(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Reach]] = [
        ("not-on-the-wire", Reach.OFF_WIRE),
        ("invisible-to-client", Reach.OFF_WIRE),
        ("surface-out-of-reach", Reach.OFF_WIRE),
        ("no-recipe", Reach.TRAFFIC),
    ]
    for code, reach in cases:
        with subtests.test(code=code):
            assert make_reach(unprobed={ADDRESS: Reason(code, "why")}).label_reach(ADDRESS, "answer").reach is reach
            assert make_reach().label_reach(ADDRESS, "answer").reach is Reach.TRAFFIC


def test_reach_of_an_assertion(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Assertion, Reach]] = [
        (make_assertion(), Reach.ONE_KEY),
        (make_assertion(out_of_reach="needs-an-account-state"), Reach.MORE),
        (make_assertion(out_of_reach="another-revision"), Reach.MORE),
        (make_assertion(out_of_reach="only-the-provider"), Reach.TRAFFIC),
        (make_assertion(out_of_reach="not-on-the-wire"), Reach.OFF_WIRE),
        (make_assertion("answer/relation:equals:/id:later", compared_labels=("later",)), Reach.TRAFFIC),
    ]
    for assertion, reach in cases:
        with subtests.test(assertion=assertion):
            assert make_reach(PLAIN_RECIPE).assertion_reach(assertion).reach is reach


def test_target_observes_what_its_keys_and_costs_allow() -> None:
    billable = GENERAL.recipe("x", get("/v1/x"), credential="admin", cost=Cost.BILLABLE)
    assert make_reach(billable).can_observe(make_assertion(), replace(TARGET, allow=frozenset(Cost)))
    assert not make_reach(billable).can_observe(make_assertion(), TARGET)
    assert not make_reach(PLAIN_RECIPE).can_observe(make_assertion(), TARGET), "its key is not set"
    assert not make_reach().can_observe(make_assertion(), TARGET)


def test_checked_reaches() -> None:
    assert [reach for reach in Reach if reach.is_checked] == [Reach.ONE_KEY, Reach.MORE]
