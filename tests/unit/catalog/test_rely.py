"""May a client lean on it: what a rely.toml selects, and yes, no or unknown by the evidence that records keep."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.model import Record
from catalog.model.errors import CatalogError
from catalog.model.wildcard import fits
from catalog.reading.assertions import assertions
from catalog.rely import telling
from catalog.rely.answered import Answer, together
from catalog.rely.declared import MAX_AGE_DAYS, Declared, Leaning, read, written
from catalog.rely.selected import promises, selected
from catalog.writeback.planner import Policy
from probes.planning.rotation import ROUND
from tests.harness.engines import catalog as shipped
from tests.unit.catalog.relying import COUNT, CREATE, DIFFERING, FRESH, LIMIT, OLD, RETRIES, RETRY, TODAY, asked, seen

if TYPE_CHECKING:
    from catalog.model.assertion import Assertion
    from catalog.reading.expectations import Lookup


def test_what_was_seen_as_stated_may_be_leaned_on() -> None:
    found = asked(RETRIES, seen(LIMIT, create=FRESH))
    assert (found.answer, found.assertions, found.oldest) == (Answer.YES, 2, date(2026, 11, 20))


def test_what_was_seen_otherwise_may_not() -> None:
    found = asked(RETRIES, seen(LIMIT, create=FRESH, count={"on": "2026-11-21", "differs": {RETRY: "absent"}}))
    assert found.answer is Answer.NO
    [differs] = found.differs
    assert (differs.assertion.id, differs.endpoint, differs.observed) == (f"{LIMIT}#{RETRY}", COUNT, "absent")
    assert differs.on == date(2026, 11, 21)


def test_a_difference_in_what_is_not_leaned_on_does_not_touch_it() -> None:
    elsewhere = seen(LIMIT, create={"on": "2026-11-20", "differs": {"answer/header:request-id": "absent"}})
    assert asked(RETRIES, elsewhere).answer is Answer.YES
    on_another = seen(LIMIT, create=FRESH, count={"on": "2026-11-20", "differs": {RETRY: "absent"}})
    assert asked(Leaning((LIMIT,), (RETRY,), (CREATE,)), on_another).answer is Answer.YES


def test_nobody_looked_is_neither() -> None:
    assert asked(RETRIES).answer is Answer.UNKNOWN
    partly = asked(RETRIES, seen(LIMIT, create={"on": "2026-11-20", "unseen": {RETRY: "2026-09-01"}}))
    assert partly.answer is Answer.UNKNOWN
    [unseen] = partly.unseen
    assert (unseen.assertion.id, unseen.last, unseen.why) == (f"{LIMIT}#{RETRY}", date(2026, 9, 1), "")
    assert unseen.endpoint == "", "on no endpoint"


def test_a_look_counts_for_so_many_days() -> None:
    last = TODAY - timedelta(days=MAX_AGE_DAYS)
    assert asked(RETRIES, seen(LIMIT, create={"on": last.isoformat()})).answer is Answer.YES
    older = (last - timedelta(days=1)).isoformat()
    assert asked(RETRIES, seen(LIMIT, create={"on": older})).answer is Answer.UNKNOWN
    assert asked(RETRIES, seen(LIMIT, create={"on": older}), max_age_days=60).answer is Answer.YES


def test_where_endpoints_are_named_each_of_them_is_asked() -> None:
    both = Leaning((LIMIT,), (RETRY,), ("pa/endpoints/messages/*",))
    found = asked(both, seen(LIMIT, create=FRESH))
    assert found.answer is Answer.UNKNOWN
    assert [(each.endpoint, each.last) for each in found.unseen] == [(COUNT, None)]
    assert asked(both, seen(LIMIT, create=FRESH, count=FRESH)).answer is Answer.YES
    differing = asked(both, seen(LIMIT, count={"on": "2026-11-20", "differs": {RETRY: "absent"}}))
    assert [each.endpoint for each in differing.differs] == [COUNT]
    assert [each.endpoint for each in differing.unseen] == [CREATE]


def test_on_some_endpoint_is_enough_whatever_was_never_seen_on_another() -> None:
    never = {"on": "2026-11-20", "unseen": {RETRY: None}}
    assert asked(RETRIES, seen(LIMIT, create=never, count=FRESH)).answer is Answer.YES
    assert asked(RETRIES, seen(LIMIT, create=never)).answer is Answer.UNKNOWN


def test_by_default_a_look_counts_until_a_live_night_came_round_and_its_date_was_renewed() -> None:
    assert ROUND + Policy().refresh_after == MAX_AGE_DAYS


def test_evidence_for_other_statements_says_nothing() -> None:
    record = seen(LIMIT, create=FRESH)
    edited = Record(record.address, {**record.data, "http_status": 430})
    assert asked(RETRIES, edited).answer is Answer.UNKNOWN


def test_a_star_means_what_the_documents_state_and_a_written_key_what_we_assumed_too() -> None:
    stated = assertions(shipped()[CREATE], shipped().__getitem__)
    assumed = next(str(each.key) for each in stated if each.assumed and each.key.label == "success")
    every = asked(Leaning((CREATE,), ("success/*",)))
    assert every.left_out
    assert assumed not in {str(each.assertion.key) for each in every.unseen}
    written_out = asked(
        Leaning((CREATE,), (assumed,)), seen(CREATE, create={"on": "2026-11-20", "differs": {assumed: "x"}})
    )
    assert written_out.answer is Answer.NO
    told = "\n".join(telling.lines([written_out]))
    assert f"{CREATE}#{assumed}: assumed " in told


@given(st.lists(st.sampled_from(Answer), min_size=1))
def test_the_answer_to_all(answers: list[Answer]) -> None:
    """As Kleene has it: one no is no; a yes needs all."""
    yes, no, unknown = (asked(RETRIES, seen(LIMIT, create=each)) for each in (FRESH, DIFFERING, OLD))
    by_answer = {Answer.YES: yes, Answer.NO: no, Answer.UNKNOWN: unknown}
    expected = Answer.NO if Answer.NO in answers else Answer.UNKNOWN if Answer.UNKNOWN in answers else Answer.YES
    assert together(by_answer[each] for each in answers) is expected


# --- patterns


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (LIMIT, LIMIT, True),
        ("pa/*", LIMIT, True),
        ("*/rate_limit", LIMIT, True),
        ("pa/errors/*/rate*", LIMIT, True),
        ("pa/errors/*/rat", LIMIT, False),
        ("pb/*", LIMIT, False),
        ("answer/body:/data/*/id", "answer/body:/data/*/id", True),
        ("answer/body:/data/*", "answer/body:/data/*/id", True),
        ("a.c", "abc", False),
    ],
)
def test_a_star_stands_for_anything(pattern: str, text: str, expected: bool) -> None:
    assert fits(pattern, text) is expected


@given(st.text(max_size=20))
def test_a_text_fits_itself_and_a_star_every_one(text: str) -> None:
    assert fits(text, text)
    assert fits("*", text)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
LISTS = st.lists(TEXTS, min_size=1, max_size=3).map(tuple)
LEANINGS = st.builds(Leaning, on=LISTS, assertions=LISTS, endpoints=LISTS | st.just(()), why=TEXTS | st.just(""))


@given(st.lists(LEANINGS, min_size=1, max_size=3))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, leanings: list[Leaning]) -> None:
    path = tmp_path_factory.getbasetemp() / "rely.toml"
    path.write_bytes(written(leanings, "a heading\nof two lines").encode())
    assert read(path).leanings == tuple(leanings)


def test_a_declaration_is_written_as_a_person_would() -> None:
    assert written([Leaning(("a",))]) == '[[rely]]\non = ["a"]\nassertions = ["*/*"]\n'
    two = written([Leaning(("a", "b"), ("x",), ("e",), "w"), Leaning(("c",))], "one\ntwo")
    assert two == (
        '# one\n# two\n\n[[rely]]\non = [\n  "a",\n  "b",\n]\nassertions = ["x"]\nendpoints = ["e"]\nwhy = "w"\n'
        '\n[[rely]]\non = ["c"]\nassertions = ["*/*"]\n'
    )


def test_what_is_not_written_has_its_default(tmp_path: Path) -> None:
    path = tmp_path / "rely.toml"
    path.write_text('[[rely]]\non = ["pa/*"]\n', encoding="utf-8")
    assert read(path) == Declared((Leaning(("pa/*",), ("*/*",), (), ""),), 35, path)
    path.write_text('max_age_days = 5\n[[rely]]\non = ["pa/*"]\n', encoding="utf-8")
    assert read(path).max_age_days == 5


def test_two_declarations_are_the_same_by_what_they_select() -> None:
    by_pattern = Declared((Leaning(("pa/errors/general/rate_lim*",), ("answer/header:retry*",)),))
    by_name = Declared((Leaning((LIMIT,), (RETRY,)),))
    assert promises(by_pattern, shipped()) == promises(by_name, shipped()) == {(f"{LIMIT}#{RETRY}", "*")}
    on_one = Declared((Leaning((LIMIT,), (RETRY,), (CREATE,)),))
    assert promises(on_one, shipped()) == {(f"{LIMIT}#{RETRY}", CREATE)}


def test_what_only_the_provider_can_do_may_be_leaned_on_and_stays_unknown_until_somebody_met_it() -> None:
    overloaded = Leaning(("pa/errors/general/overloaded",), ("answer/*",))
    found = asked(overloaded)
    assert found.answer is Answer.UNKNOWN
    assert {each.why for each in found.unseen} == {"out of any client's reach: only-the-provider"}
    assert asked(overloaded, seen("pa/errors/general/overloaded", create=FRESH)).answer is Answer.YES


def test_where_the_documents_say_nothing_a_star_means_what_we_assumed() -> None:
    stream = "pb/endpoints/generation/stream_generate_content_v1beta"
    assert all(
        each.assumed for each in assertions(shipped()[stream], shipped().__getitem__) if each.key.label == "success"
    )
    found = asked(Leaning((stream,), ("success/*",)))
    assert (found.answer, found.left_out, bool(found.unseen)) == (Answer.UNKNOWN, 0, True)


def test_a_catalog_error_names_the_pattern() -> None:
    with pytest.raises(CatalogError, match=r"'pz/\*' names no record"):
        asked(Leaning(("pz/*",)))


def test_however_many_entries_select_a_record_it_is_taken_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def counted(record: Record, lookup: Lookup) -> tuple[Assertion, ...]:
        taken.append(str(record.address))
        return assertions(record, lookup)

    monkeypatch.setattr("catalog.rely.selected.assertions", counted)
    declared = Declared(tuple(Leaning((pattern,)) for pattern in ("*", "pa/*", LIMIT, f"{LIMIT}*")))
    found = selected(declared, shipped())
    assert sorted(taken) == sorted(map(str, shipped()))
    assert [len(own) for _, own in found][2:] == [1, 1]
    assert found[2][1][0].meant == next(each for each in found[0][1] if str(each.record.address) == LIMIT).meant
