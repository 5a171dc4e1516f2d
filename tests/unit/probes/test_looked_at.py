"""A fact counts as looked at only where something is sent whose answer is compared with it."""

from __future__ import annotations

import pytest

from catalog.model.assertion import Assertion, Basis, Key
from catalog.reading.documents import Checks, Fact, Wire
from probes.calls.call import get
from probes.elicit.book import Book
from probes.elicit.recipe import Recipe, recipe
from probes.planning.looked_at import Count, Looked, Standing, by_section, of_provider, rest, told

ADDRESS = "pa/errors/general/x"
STATUS = Assertion(ADDRESS, Key.parse("answer/status"), 404, Basis.DOCUMENTED, "2:7.3#a")
FAR = Assertion(ADDRESS, Key.parse("answer/type"), "x", Basis.DOCUMENTED, "2:7.3#a", out_of_reach="only-the-provider")
GUESS = Assertion(ADDRESS, Key.parse("answer/code"), "x", Basis.ASSUMED)
SENT = recipe(ADDRESS, get("/v1/x"))


def fact(checked_by: str = "", *, section: str = "2:7.3", wire: str = "yes", note: str = "") -> Fact:
    cells = {"id": f"pa-{section}", "section": section, "row": "a", "statement": "A gives 404", "wire": wire}
    return Fact.of({**cells, "note": note, "checked_by": checked_by})


def looked(own: Fact, *recipes: Recipe) -> Looked:
    checks = Checks([own], [STATUS, FAR, GUESS])
    return next(of_provider("pa", checks, Book({each.address: each for each in recipes}, {}, {})))


@pytest.mark.parametrize(
    ("own", "recipes", "standing", "live"),
    [
        (fact(STATUS.id), [SENT], Standing.CHECKED, True),
        (fact(STATUS.id), [], Standing.REST, False),
        (fact(STATUS.id), [recipe(ADDRESS, get("/v1/x"), label="other")], Standing.REST, False),
        (fact(STATUS.id), [recipe(ADDRESS, get("/v1/x"), scenario=True)], Standing.CHECKED, False),
        (
            fact(STATUS.id),
            [recipe(ADDRESS, get("/v1/x"), live=("no-documented-setup", "why"))],
            Standing.CHECKED,
            False,
        ),
        (
            fact(STATUS.id),
            [
                recipe(
                    ADDRESS, get("/v1/x"), label="first", optional={"answer": recipe(ADDRESS, get("/"), scenario=True)}
                )
            ],
            Standing.CHECKED,
            False,
        ),
        (fact(FAR.id), [SENT], Standing.CHECKED, False),
        (fact(f"{FAR.id}; {STATUS.id}"), [SENT], Standing.CHECKED, True),
        (fact(GUESS.id), [SENT], Standing.REST, False),
        (fact(f"part: {STATUS.id}", note="unchecked: 405"), [SENT], Standing.IN_PART, True),
        (fact("only-the-provider"), [SENT], Standing.REASONED, False),
        (fact(), [SENT], Standing.REST, False),
        (fact(wire="told"), [SENT], Standing.TOLD, False),
        (fact(wire="impossible"), [SENT], Standing.IMPOSSIBLE, False),
    ],
)
def test_how_a_fact_stands(own: Fact, recipes: list[Recipe], standing: Standing, live: bool) -> None:
    found = looked(own, *recipes)
    assert (found.standing, found.live) == (standing, live)


FOUND = [
    looked(fact(STATUS.id), SENT),
    looked(fact("only-the-provider"), SENT),
    looked(fact(section="2:8.1")),
    looked(fact(section="2:8.1", wire=Wire.TOLD)),
]


def test_the_reasoned_and_the_rest_are_of_the_whole_and_what_is_only_told_is_not() -> None:
    table = by_section(FOUND)
    assert list(table) == ["pa", "pa 2:7.3", "pa 2:8.1", "total"]
    assert table["pa 2:7.3"] == Count(on_wire=2, checked=1, reasoned=1, live=1)
    assert table["pa 2:8.1"] == Count(on_wire=1, rest=1, told_only=1)
    assert table["total"] == table["pa"] == Count(on_wire=3, checked=1, reasoned=1, rest=1, live=1, told_only=1)
    assert [table[row].share for row in ("pa 2:7.3", "pa 2:8.1")] == [0.5, 0.0]
    lines = told(table)
    assert len({len(line) for line in lines}) == 1
    assert lines[-1].endswith(" 33.3%")


def test_each_fact_that_is_not_looked_at_whole_is_listed_with_why() -> None:
    assert rest([*FOUND, looked(fact(f"part: {STATUS.id}", note="unchecked: 405"), SENT)]) == [
        "reasoned pa-2:7.3: A gives 404 (only-the-provider)",
        "rest     pa-2:8.1: A gives 404",
        "in part  pa-2:7.3: A gives 404 (unchecked: 405)",
    ]
