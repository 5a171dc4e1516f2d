"""A fact counts as checked only if a request is sent whose answer is compared with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis, Reach
from catalog_probe.catalog.reading.facts import Fact, FactChecks, Wire
from catalog_probe.probes.calls import get
from catalog_probe.probes.coverage.records_and_facts import (
    FactCounts,
    FactCoverage,
    FactStatus,
    count_by_section,
    format_fact_table,
    format_unchecked_facts,
    list_provider_facts,
)
from catalog_probe.probes.planning.reach import ProviderReach
from catalog_probe.probes.recipes.book import RecipeBook
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost, Credential, Provider, Target

if TYPE_CHECKING:
    import pytest

ADDRESS = "pa/errors/general/x"
STATUS = Assertion(ADDRESS, AssertionKey.parse("answer/status"), 404, Basis.DOCUMENTED, "2:7.3#a")
PROVIDER_ONLY = Assertion(
    ADDRESS, AssertionKey.parse("answer/type"), "x", Basis.DOCUMENTED, "2:7.3#a", out_of_reach="only-the-provider"
)
ASSUMED = Assertion(ADDRESS, AssertionKey.parse("answer/code"), "x", Basis.ASSUMED)
GENERAL = Family("pa/errors/general")
SENT_RECIPE = GENERAL.recipe("x", get("/v1/x"))


def make_fact(checked_by: str = "", *, section: str = "2:7.3", wire: str = "yes", note: str = "") -> Fact:
    cells = {"id": f"pa-{section}", "section": section, "row": "a", "statement": "A gives 404", "wire": wire}
    return Fact.parse({**cells, "note": note, "checked_by": checked_by})


KEY = {"inference": Credential("inference", "key-of-nobody")}
PROVIDER = Provider("pa", addresses={"base_url": "https://pa.example"}, credentials=KEY)
TARGET = Target("t", True, frozenset({Cost.FREE}), {"pa": PROVIDER})


def find_coverage(fact: Fact, *recipes: Recipe) -> FactCoverage:
    checks = FactChecks([fact], [STATUS, PROVIDER_ONLY, ASSUMED])
    reaches = ProviderReach.for_target(RecipeBook({recipe.address: recipe for recipe in recipes}, {}, {}), "pa", TARGET)
    return next(list_provider_facts("pa", checks, reaches, TARGET))


NO_SETUP = ("no-documented-setup", "why")
MOCK_ONLY = get("/").with_scenario("overloaded")


def test_status_and_reach_of_a_fact(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Fact, list[Recipe], FactStatus, Reach | None, bool]] = [
        (make_fact(STATUS.id), [SENT_RECIPE], FactStatus.CHECKED, Reach.ONE_KEY, True),
        (make_fact(STATUS.id), [GENERAL.recipe("x", get("/v1/{x}"))], FactStatus.CHECKED, Reach.MORE, False),
        (make_fact(STATUS.id), [], FactStatus.REST, None, False),
        (make_fact(STATUS.id), [GENERAL.recipe("x", {"other": get("/v1/x")})], FactStatus.REST, None, False),
        (make_fact(STATUS.id), [GENERAL.recipe("x", MOCK_ONLY)], FactStatus.REHEARSED, Reach.TRAFFIC, False),
        (
            make_fact(STATUS.id),
            [GENERAL.recipe("x", get("/v1/x"), not_live=NO_SETUP)],
            FactStatus.REHEARSED,
            Reach.MOCK,
            False,
        ),
        (
            make_fact(STATUS.id),
            [GENERAL.recipe("x", {"first": get("/v1/x")}).with_optional({"answer": MOCK_ONLY})],
            FactStatus.REHEARSED,
            Reach.TRAFFIC,
            False,
        ),
        (make_fact(PROVIDER_ONLY.id), [SENT_RECIPE], FactStatus.REHEARSED, Reach.TRAFFIC, True),
        (make_fact(f"{PROVIDER_ONLY.id}; {STATUS.id}"), [SENT_RECIPE], FactStatus.CHECKED, Reach.ONE_KEY, True),
        (make_fact(ASSUMED.id), [SENT_RECIPE], FactStatus.REST, None, False),
        (
            make_fact(f"part: {STATUS.id}", note="unchecked: 405"),
            [SENT_RECIPE],
            FactStatus.IN_PART,
            Reach.ONE_KEY,
            True,
        ),
        (make_fact("only-the-provider"), [SENT_RECIPE], FactStatus.REASONED, None, False),
        (make_fact(), [SENT_RECIPE], FactStatus.REST, None, False),
        (make_fact(wire="told"), [SENT_RECIPE], FactStatus.TOLD, None, False),
        (make_fact(wire="impossible"), [SENT_RECIPE], FactStatus.IMPOSSIBLE, None, False),
    ]
    for fact, recipes, status, reach, is_here in cases:
        with subtests.test(fact=fact):
            coverage = find_coverage(fact, *recipes)
            reach_found = coverage.reached.reach if coverage.reached is not None else None
            assert (coverage.status, reach_found, coverage.here) == (status, reach, is_here)


COVERAGES = [
    find_coverage(make_fact(STATUS.id), SENT_RECIPE),
    find_coverage(make_fact("only-the-provider"), SENT_RECIPE),
    find_coverage(make_fact(section="2:8.1")),
    find_coverage(make_fact(section="2:8.1", wire=Wire.TOLD)),
]


def test_counts_by_section() -> None:
    table = count_by_section(COVERAGES)
    assert list(table) == ["pa", "pa 2:7.3", "pa 2:8.1", "total"]
    assert table["pa 2:7.3"] == FactCounts(on_wire=2, checked=1, one_key=1, reasoned=1, here=1)
    assert table["pa 2:8.1"] == FactCounts(on_wire=1, rest=1, told_only=1)
    assert (
        table["total"]
        == table["pa"]
        == FactCounts(on_wire=3, checked=1, one_key=1, reasoned=1, rest=1, here=1, told_only=1)
    )
    assert [table[row].share for row in ("pa 2:7.3", "pa 2:8.1")] == [0.5, 0.0]
    lines = format_fact_table(table)
    assert len({len(line) for line in lines}) == 1
    assert lines[-1].endswith(" 33.3%")


def test_unchecked_facts_are_listed_with_their_reason() -> None:
    in_part = find_coverage(make_fact(f"part: {STATUS.id}", note="unchecked: 405"), SENT_RECIPE)
    assert format_unchecked_facts(
        [*COVERAGES, in_part, find_coverage(make_fact(STATUS.id), GENERAL.recipe("x", get("/"), not_live=NO_SETUP))]
    ) == [
        "reasoned  pa-2:7.3: A gives 404 (only-the-provider)",
        "rest      pa-2:8.1: A gives 404",
        "in part   pa-2:7.3: A gives 404 (unchecked: 405)",
        "rehearsed pa-2:7.3: A gives 404 (mock only: why)",
    ]
