"""Facts: how they are read, which assertions check them, and how mistakes are reported."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.check import validate as checking
from catalog_probe.catalog.check.validate import Problem
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.reading.facts import (
    COLUMNS,
    SET,
    Dimension,
    Fact,
    FactChecks,
    Wire,
    facts_file,
    read_facts,
)
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from pathlib import Path

ROW = {
    "id": "pa-2.7.3-a-1",
    "section": "2:7.3",
    "row": "a",
    "statement": "A gives 404",
    "wire": "yes",
    "note": "",
    "checked_by": "",
}


def fact(**cells: str) -> Fact:
    return Fact.parse({**ROW, **cells})


def assertion(address: str, key: str, basis: Basis = Basis.DOCUMENTED, source: str = "2:7.3#a") -> Assertion:
    return Assertion(address, AssertionKey.parse(key), 404, basis, source if basis is Basis.DOCUMENTED else "")


ONE = assertion("pa/errors/general/one", "answer/status")
TYPE = assertion("pa/errors/general/one", "answer/type")
TWO = assertion("pa/errors/general/two", "answer/status", source="2:7.3#b; 2:7.3#a")
GUESS = assertion("pa/errors/general/two", "answer/type", Basis.ASSUMED)
ITEMS = assertion("pa/endpoints/models/list", "success/body:/data/*/id")
ALL = (ONE, TYPE, TWO, GUESS, ITEMS)

REFUSED = assertion("pa/errors/general/three", "answer/status", Basis.ASSUMED)
PLACED = replace(assertion("pa/errors/general/three", "answer/body:/a", Basis.ASSUMED), documented={"const": "x"})
SHAPED = replace(assertion("pa/errors/general/three", "answer/body:/b", Basis.ASSUMED), documented={"type": "string"})


def ids(assertions: tuple[Assertion, ...]) -> list[str]:
    return [assertion.id for assertion in assertions]


def test_a_fact_is_checked_by_the_assertions_that_it_names() -> None:
    cases: list[tuple[str, list[str]]] = [
        ("", []),
        ("pa/errors/general/one#answer/status", [ONE.id]),
        ("pa/errors/general/*#answer/status", [ONE.id, TWO.id]),
        ("pa/errors/general/one#answer/status; pa/errors/general/one#*", [ONE.id, TYPE.id]),
        ("pa/errors/general/two#*", [TWO.id]),  # what is assumed looks at no fact
        ("*#answer/type", [TYPE.id]),
        ("pa/*", []),  # a star stays on its side of the `#`
        ("pa/endpoints/models/list#success/body:/data/*/id", [ITEMS.id]),
        ("part: pa/errors/general/one#answer/status", [ONE.id]),
        ("only-the-provider", []),
    ]
    for checked_by, assertion_ids in cases:
        own = fact(checked_by=checked_by)
        assert ids(FactChecks([own], ALL).assertions_for(own)) == assertion_ids, checked_by


def test_a_partly_assumed_assertion_checks_the_remaining_facts() -> None:
    cases: list[tuple[str, Assertion, bool]] = [
        ("A is refused", REFUSED, True),  # a success there would be a difference from the documents
        ("A gives 404", REFUSED, False),  # another refusal would be none
        ("A says x", PLACED, True),  # another value there would be one
        ("A says b", SHAPED, False),
        ("A says x", GUESS, False),
    ]
    for statement, assertion, is_checked in cases:
        own = fact(statement=statement, checked_by=assertion.id)
        checks = FactChecks([own], [assertion])
        assert (checks.assertions_for(own) == (assertion,)) is is_checked, (statement, assertion)
        assert (list(checking.check_facts(checks)) == []) is is_checked, (statement, assertion)


def test_a_restating_fact_is_checked_by_the_assertions_of_the_restated_one() -> None:
    first = fact(checked_by=ONE.id)
    again = fact(id="pa-2.9-a-1", note="restates pa-2.7.3-a-1; once more")
    own = fact(id="pa-2.9-a-2", note="restates pa-2.7.3-a-1", checked_by=TWO.id)
    checks = FactChecks([first, again, own], ALL)
    assert [ids(checks.assertions_for(fact_)) for fact_ in (again, own)] == [[ONE.id], [TWO.id]]
    assert not checks.is_unchecked(again)
    for_a_reason = FactChecks([fact(checked_by="only-the-provider"), again], ALL)
    assert not for_a_reason.is_unchecked(again)


def test_a_ring_of_restatements_ends() -> None:
    ring = [fact(id="pa-1-a-1", note="restates pa-1-a-2"), fact(id="pa-1-a-2", note="restates pa-1-a-1")]
    checks = FactChecks(ring, ALL)
    assert [checks.assertions_for(member) for member in ring] == [(), ()]
    assert all(checks.is_unchecked(member) for member in ring)


def test_a_wire_fact_without_assertion_is_unchecked() -> None:
    cases: list[tuple[dict[str, str], bool]] = [
        ({}, True),
        ({"wire": "told"}, False),
        ({"wire": "impossible"}, False),
        ({"checked_by": "needs-an-account-state"}, False),
        ({"checked_by": ONE.id}, False),
        ({"checked_by": GUESS.id}, True),
    ]
    for cells, wanting in cases:
        own = fact(**cells)
        assert FactChecks([own], ALL).is_unchecked(own) is wanting, cells


def test_an_assertion_without_fact_is_listed_with_the_facts_of_its_row() -> None:
    own = fact(checked_by=ONE.id)
    checks = FactChecks([own], ALL)
    assert ids(checks.assertions_without_fact) == [TYPE.id, TWO.id, ITEMS.id]
    assert ids(checks.list_citing_assertions(own)) == [ONE.id, TYPE.id, TWO.id, ITEMS.id]
    assert checks.list_citing_assertions(fact(row="c")) == ()


COMPLAINTS: list[tuple[list[dict[str, str]], str]] = [
    ([{}], ""),
    ([{"checked_by": ONE.id}], ""),
    ([{"checked_by": "pa/errors/*#answer/*"}], ""),
    (
        [{"checked_by": "pa/errors/general/one#answer/statsu"}],
        "checked_by: 'pa/errors/general/one#answer/statsu' names no assertion; "
        "did you mean pa/errors/general/one#answer/status or pa/errors/general/one#answer/type?",
    ),
    (
        [{"checked_by": "perhaps"}],
        "checked_by: 'perhaps' names no assertion; name an assertion, as <address>#<key>, or one of "
        "only-the-provider, needs-an-account-state, not-on-the-wire, needs-time-or-volume",
    ),
    (
        [{"checked_by": GUESS.id}],
        f"checked_by: {GUESS.id!r} is assumed, which checks no fact; "
        "name what is documented, or take it out of the record's `assumed`",
    ),
    (
        [{"checked_by": ONE.id, "wire": "told"}],
        "checked_by: is filled, and wire is told; empty it, or correct wire",
    ),
    (
        [{"checked_by": f"part: {ONE.id}"}],
        "checked_by: begins with `part:`, and the note does not say what is unchecked; name the assertions, and say "
        "in the note after 'unchecked:' what they leave out",
    ),
    ([{"checked_by": f"part: {ONE.id}", "note": "unchecked: the other half"}], ""),
    (
        [{"checked_by": ONE.id, "note": "unchecked: the other half"}],
        "note: says what is unchecked, but checked_by does not begin with `part:`; write `part: ` before it",
    ),
    ([{"note": "restates pa-1-x-1"}], "note: restates pa-1-x-1, which is no fact; name a fact of this file"),
    ([{}, {}], "id: is the id of an earlier fact; give it another id"),
]


def test_each_mistake_is_one_line_with_its_mend() -> None:
    for rows, line in COMPLAINTS:
        complaints = [
            complaint for _, complaint in checking.check_facts(FactChecks([fact(**row) for row in rows], ALL))
        ]
        assert [f"{complaint.json_path}: {complaint.message}; {complaint.mend}" for complaint in complaints] == (
            [line] if line else []
        ), rows


def written(folder: Path, *lines: str) -> Path:
    folder.mkdir(exist_ok=True)
    facts_file("pa", folder).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


HEADER = "\t".join(COLUMNS)


def test_an_unreadable_file_is_a_problem_with_its_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[list[str], str]] = [
        ([], "pa.tsv: has the columns ; they are id, section"),
        (["id\tsection"], "pa.tsv: has the columns id, section; they are id, section, row"),
        ([HEADER, "one\ttwo"], "pa.tsv:2: has 2 cells; write 7, separated by tabs"),
        ([HEADER, "\t".join({**ROW, "wire": "ye"}.values())], "pa.tsv:2: wire is 'ye'; did you mean yes?"),
        ([HEADER, "\t".join({**ROW, "wire": "no"}.values())], "wire is 'no'; it is one of yes, told, impossible"),
        ([HEADER, "\t".join((*ROW.values(), "method"))], "pa.tsv:2: has 8 cells"),
        ([f"{HEADER}\t{SET}", "\t".join((*ROW.values(), "verb(PUT)"))], "pa.tsv:2: set is 'verb(PUT)'; write each of"),
        (
            [f"{HEADER}\t{SET}", "\t".join((*ROW.values(), "method x method"))],
            "set is 'method x method'; write each of",
        ),
    ]
    for lines, message in cases:
        with subtests.test(repr(lines)):
            with pytest.raises(CatalogError) as error:
                read_facts("pa", written(tmp_path, *lines))
            assert message in str(error.value)


def test_a_line_may_say_over_what_its_fact_holds(tmp_path: Path) -> None:
    named = "\t".join((*ROW.values(), "method(PUT, PATCH) x endpoint"))
    one_case, of_a_set = read_facts("pa", written(tmp_path, f"{HEADER}\t{SET}", "\t".join(ROW.values()), named))
    assert one_case.set == ()
    assert of_a_set.set == (Dimension("method", ("PUT", "PATCH")), Dimension("endpoint"))
    assert " x ".join(map(str, of_a_set.set)) == "method(PUT, PATCH) x endpoint"


def test_a_binary_file_is_a_problem_and_a_provider_without_file_has_no_facts(tmp_path: Path) -> None:
    facts_file("pa", tmp_path).write_bytes(b"\xff\xfe")
    with pytest.raises(CatalogError, match="save it as UTF-8"):
        read_facts("pa", tmp_path)
    assert read_facts("pb", tmp_path) == ()


def test_a_check_of_the_catalog_says_where(tmp_path: Path) -> None:
    line = "\t".join({**ROW, "checked_by": "pa/errors/general/none#answer/status"}.values())
    folder = written(tmp_path, HEADER, line)
    problems = [
        str(Problem(file, id_, *complaint)) for file, id_, complaint in checking.list_fact_complaints(catalog(), folder)
    ]
    assert len(problems) == 1
    assert "pa.tsv: pa-2.7.3-a-1: checked_by: 'pa/errors/general/none#answer/status' names no assertion;" in problems[0]


def test_quotes_are_letters_like_any_other(tmp_path: Path) -> None:
    line = "\t".join({**ROW, "note": 'says "usually'}.values())
    assert read_facts("pa", written(tmp_path, HEADER, line))[0].note == 'says "usually'


def test_the_shipped_facts_are_read_whole() -> None:
    for provider in providers():
        facts = read_facts(provider)
        assert len(facts) == len(facts_file(provider).read_text(encoding="utf-8").splitlines()) - 1
        assert {member.wire for member in facts} <= set(Wire), provider
        assert any(member.wire is Wire.YES for member in facts), provider


NAMES = st.sampled_from(
    [*(assertion.id for assertion in ALL), "pa/errors/*#*", "*#answer/type", "none", "only-the-provider"]
)


@given(st.lists(NAMES, max_size=4), st.booleans())
def test_assumed_assertions_check_no_fact_and_unchecked_facts_have_none(names: list[str], part: bool) -> None:
    own = fact(checked_by=("part: " if part else "") + "; ".join(names))
    checks = FactChecks([own], ALL)
    assert GUESS not in checks.assertions_for(own)
    assert not (checks.is_unchecked(own) and checks.assertions_for(own))
    assert {*ids(checks.assertions_for(own)), *ids(checks.assertions_without_fact)} == {
        assertion.id for assertion in ALL if assertion is not GUESS
    }


def test_a_fact_goes_by_its_id_its_section_and_its_row() -> None:
    own: Any = replace(fact(), id="pa-2.7.3-a-1")
    assert [own.matches_name(name) for name in ("pa", "pa-2.7.3", "2:7.3", "2:7.3#a", "2:7", "a")] == [True] * 4 + [
        False
    ] * 2
