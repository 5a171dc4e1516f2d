"""A fact counts as looked at only where something is sent whose answer is compared with it."""

from __future__ import annotations

import pytest

from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.reach import Reach
from catalog_probe.catalog.reading.facts import Fact, FactChecks, Wire
from catalog_probe.probes.calls.call import get
from catalog_probe.probes.coverage.fact_coverage import (
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
from catalog_probe.probes.recipes.recipe import Recipe, recipe
from catalog_probe.probes.targets.target import Cost, Credential, Provider, Target

ADDRESS = "pa/errors/general/x"
STATUS = Assertion(ADDRESS, AssertionKey.parse("answer/status"), 404, Basis.DOCUMENTED, "2:7.3#a")
FAR = Assertion(
    ADDRESS, AssertionKey.parse("answer/type"), "x", Basis.DOCUMENTED, "2:7.3#a", out_of_reach="only-the-provider"
)
GUESS = Assertion(ADDRESS, AssertionKey.parse("answer/code"), "x", Basis.ASSUMED)
SENT = recipe(ADDRESS, get("/v1/x"))


def fact(checked_by: str = "", *, section: str = "2:7.3", wire: str = "yes", note: str = "") -> Fact:
    cells = {"id": f"pa-{section}", "section": section, "row": "a", "statement": "A gives 404", "wire": wire}
    return Fact.parse({**cells, "note": note, "checked_by": checked_by})


KEY = {"inference": Credential("inference", "key-of-nobody")}
PLAIN = Provider("pa", addresses={"base_url": "https://pa.example"}, credentials=KEY)
HERE = Target("t", True, frozenset({Cost.FREE}), {"pa": PLAIN})


def looked(own: Fact, *recipes: Recipe) -> FactCoverage:
    checks = FactChecks([own], [STATUS, FAR, GUESS])
    reaches = ProviderReach.for_target(RecipeBook({each.address: each for each in recipes}, {}, {}), "pa", HERE)
    return next(list_provider_facts("pa", checks, reaches, HERE))


WHY = ("no-documented-setup", "why")
LOOK = recipe(ADDRESS, get("/"), needs_scenario=True)


@pytest.mark.parametrize(
    ("own", "recipes", "standing", "reach", "here"),
    [
        (fact(STATUS.id), [SENT], FactStatus.CHECKED, Reach.ONE_KEY, True),
        (fact(STATUS.id), [recipe(ADDRESS, get("/v1/{x}"))], FactStatus.CHECKED, Reach.MORE, False),
        (fact(STATUS.id), [], FactStatus.REST, None, False),
        (fact(STATUS.id), [recipe(ADDRESS, get("/v1/x"), label="other")], FactStatus.REST, None, False),
        (
            fact(STATUS.id),
            [recipe(ADDRESS, get("/v1/x"), label="other", not_sent=WHY)],
            FactStatus.REHEARSED,
            Reach.TRAFFIC,
            False,
        ),
        (fact(STATUS.id), [LOOK], FactStatus.REHEARSED, Reach.TRAFFIC, False),
        (fact(STATUS.id), [recipe(ADDRESS, get("/v1/x"), not_live=WHY)], FactStatus.REHEARSED, Reach.MOCK, False),
        (
            fact(STATUS.id),
            [recipe(ADDRESS, get("/v1/x"), label="first", optional={"answer": LOOK})],
            FactStatus.REHEARSED,
            Reach.TRAFFIC,
            False,
        ),
        (fact(FAR.id), [SENT], FactStatus.REHEARSED, Reach.TRAFFIC, True),
        (fact(f"{FAR.id}; {STATUS.id}"), [SENT], FactStatus.CHECKED, Reach.ONE_KEY, True),
        (fact(GUESS.id), [SENT], FactStatus.REST, None, False),
        (fact(f"part: {STATUS.id}", note="unchecked: 405"), [SENT], FactStatus.IN_PART, Reach.ONE_KEY, True),
        (fact("only-the-provider"), [SENT], FactStatus.REASONED, None, False),
        (fact(), [SENT], FactStatus.REST, None, False),
        (fact(wire="told"), [SENT], FactStatus.TOLD, None, False),
        (fact(wire="impossible"), [SENT], FactStatus.IMPOSSIBLE, None, False),
    ],
)
def test_how_a_fact_stands(
    own: Fact, recipes: list[Recipe], standing: FactStatus, reach: Reach | None, here: bool
) -> None:
    found = looked(own, *recipes)
    reached = found.reached.reach if found.reached is not None else None
    assert (found.status, reached, found.here) == (standing, reach, here)


FOUND = [
    looked(fact(STATUS.id), SENT),
    looked(fact("only-the-provider"), SENT),
    looked(fact(section="2:8.1")),
    looked(fact(section="2:8.1", wire=Wire.TOLD)),
]


def test_the_reasoned_and_the_rest_are_of_the_whole_and_what_is_only_told_is_not() -> None:
    table = count_by_section(FOUND)
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


def test_each_fact_that_is_not_checked_whole_is_listed_with_why() -> None:
    in_part = looked(fact(f"part: {STATUS.id}", note="unchecked: 405"), SENT)
    assert format_unchecked_facts(
        [*FOUND, in_part, looked(fact(STATUS.id), recipe(ADDRESS, get("/"), not_live=WHY))]
    ) == [
        "reasoned  pa-2:7.3: A gives 404 (only-the-provider)",
        "rest      pa-2:8.1: A gives 404",
        "in part   pa-2:7.3: A gives 404 (unchecked: 405)",
        "rehearsed pa-2:7.3: A gives 404 (mock only: why)",
    ]
