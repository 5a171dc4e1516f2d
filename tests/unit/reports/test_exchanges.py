"""Exchanges in a report: documented beside observed value, and the lines that differ marked."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Aspect, Attempt, Event, Finding, GrpcStatus, Outcome, Response, Severity
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.reports import exchanges
from catalog_probe.reports.exchanges import (
    MARKED,
    MAX_LINES,
    MISSING,
    DifferenceRow,
    Marks,
    compare_side_by_side,
    find_marks,
)
from tests.unit.reports.factories import make_answer, make_exchange, make_finding, make_result

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
STRUCTURED = st.lists(JSON, max_size=3) | st.dictionaries(st.text(max_size=4), JSON, max_size=3)


def list_marked(rows: list[DifferenceRow], side: str) -> list[str]:
    return [piece.text for row in rows for piece in getattr(row, side) or () if piece.marked and piece.text.strip()]


def test_scalar_values_are_marked_as_a_whole() -> None:
    rows = compare_side_by_side(400, 422)
    assert (list_marked(rows, "documented"), list_marked(rows, "observed")) == (["400"], ["422"])


def test_a_number_and_its_text_differ() -> None:
    rows = compare_side_by_side(400, "400")
    assert (list_marked(rows, "documented"), list_marked(rows, "observed")) == (["400"], ['"400"'])


def test_of_two_texts_the_part_that_differs_is_marked() -> None:
    rows = compare_side_by_side("max_tokens: Field required", "max_tokens: Field missing")
    assert (list_marked(rows, "documented"), list_marked(rows, "observed")) == (["required"], ["missing"])


def test_of_two_structures_the_fields_that_differ_are_marked() -> None:
    rows = compare_side_by_side({"error": {"type": "a", "code": 1}}, {"error": {"type": "a", "code": 2, "new": True}})
    assert list_marked(rows, "documented") == ['"code": 1,'] or list_marked(rows, "documented") == ['"code": 1']
    assert list_marked(rows, "observed") == ['"code": 2,', '"new": true,'] or '"new": true,' in list_marked(
        rows, "observed"
    )
    assert '"type": "a"' not in list_marked(rows, "observed")


def test_lines_of_the_same_location_are_side_by_side() -> None:
    rows = compare_side_by_side({"b": 1, "a": 2}, {"a": 2, "b": 3})
    for row in rows:
        names = [
            line[1].text.partition(":")[0] for line in (row.documented, row.observed) if line and ":" in line[1].text
        ]
        assert len(set(names)) < 2


@given(STRUCTURED)
def test_equal_values_have_no_mark(value: dict[str, Any] | list[Any]) -> None:
    rows = compare_side_by_side(value, value)
    assert list_marked(rows, "documented") == list_marked(rows, "observed") == []


@given(JSON, JSON)
def test_any_two_values_can_be_shown(documented: object, observed: object) -> None:
    assert len(compare_side_by_side(documented, observed)) <= MAX_LINES + 1


def test_long_values_are_truncated() -> None:
    rows = compare_side_by_side(list(range(5000)), list(range(1, 5000)))
    assert len(rows) == MAX_LINES + 1
    assert rows[-1].observed is not None
    assert "more lines" in rows[-1].observed[0].text


A = "pa/errors/general/a"
BODY = {"type": "error", "error": {"type": "x", "message": "m", "code": None}, "data": [{"id": 1}, {"id": 2}]}


def list_marked_lines(finding: Finding, body: Any = BODY) -> list[str]:
    return [text.strip() for text, mark in Marks((finding,)).mark_lines(body, 10_000) if mark]


def test_the_lines_of_a_body_that_differ() -> None:
    cases: list[tuple[Aspect, str, list[str]]] = [
        (Aspect.TYPE, "type", ['"type": "x",']),
        (Aspect.MESSAGE, "message", ['"message": "m",']),
        (Aspect.CODE, "", ['"code": null']),
        (Aspect.BODY, "/error/message", ['"message": "m",']),
        (Aspect.RELATION, "/data/*/id", ['"id": 1', '"id": 2']),
        (Aspect.BODY, "/data", ['"data": [', "{", '"id": 1', "},", "{", '"id": 2', "}", "]"]),
        (Aspect.STATUS, "", []),
        (Aspect.HEADER, "type", []),
    ]
    for aspect, at, lines in cases:
        assert list_marked_lines(make_finding(aspect=aspect, location=at)) == lines


def test_a_field_that_is_missing_is_shown_as_missing() -> None:
    missing = make_finding(
        "field-missing", aspect=Aspect.BODY, location="/error/param", documented="present", observed=None
    )
    assert Marks((missing,)).mark_lines(BODY, 10_000)[-1] == ["/error/param: absent", MISSING]


def test_a_marked_line_is_never_left_out() -> None:
    long = {"text": "x" * 500, "code": "wrong"}
    lines = Marks((make_finding(aspect=Aspect.CODE),)).mark_lines(long, 10)
    assert ['  "code": "wrong"', MARKED] in lines
    assert lines[-1][0].startswith("… (")


def test_headers_that_differ_and_those_that_are_missing() -> None:
    wrong = make_finding(aspect=Aspect.HEADER, location="X-Should-Retry")
    missing = make_finding("header-missing", aspect=Aspect.HEADER, location="retry-after")
    headers = list(Marks((wrong, missing)).mark_headers([("x-should-retry", "true"), ("server", "a")]))
    assert headers == [["x-should-retry", "true", MARKED], ["server", "a", ""], ["retry-after", "absent", MISSING]]


def test_an_exchange_has_the_marks_of_its_own_label_and_endpoint() -> None:
    here, there = "pa/endpoints/messages/a", "pa/endpoints/messages/b"
    result = make_result(
        A, findings=(make_finding(endpoints=(here,)), make_finding(severity=Severity.INFO), make_finding(label="other"))
    )
    assert len(find_marks(result, "answer", here).findings) == 1
    assert not find_marks(result, "answer", there).findings
    assert find_marks(result, "other", there).status


def test_only_the_deviant_exchange_is_shown_first() -> None:
    first, second = make_exchange("one"), make_exchange("two", response=make_answer(422, "t", "m"))
    observations = (Observation("", "one", ("status",)), Observation("", "two", (), {"status": "422"}))
    attempt = Attempt("2026-11-21T04:05:00Z", 9.0, (make_exchange("setup"), first, second))
    result = make_result(
        A, Outcome.DRIFTED, findings=(make_finding(label="two"),), attempts=(attempt,), observations=observations
    )
    view = exchanges.view_deviant_exchange(result)
    assert view is not None
    assert (view["label"], view["answer"], view["marked"]) == ("two", "422", True)
    assert exchanges.view_deviant_exchange(make_result(A, attempts=(attempt,))) is None


def test_of_a_flaky_record_both_answers_stand_side_by_side() -> None:
    attempts = tuple(
        Attempt(
            "2026-11-21T04:05:00Z", 9.0, (make_exchange("setup"), make_exchange(response=make_answer(status, "t", "m")))
        )
        for status in (504, 504, 500)
    )
    result = make_result(A, Outcome.FLAKY, attempts=attempts, findings=(make_finding(documented=504, observed=500),))
    assert [(view["number"], view["answer"]) for view in exchanges.view_disagreeing_exchanges(result)] == [
        (1, "504"),
        (3, "500"),
    ]
    assert exchanges.view_disagreeing_exchanges(make_result(A, Outcome.FLAKY, attempts=attempts[:2])) == []


def test_events_closes_and_calls_are_marked_in_their_timeline() -> None:
    missing = make_finding("event-missing", aspect=Aspect.EVENT, location="error")
    stream = Response(200, {}, events=(Event("ping", {}, 1.0),))
    (attempt,) = exchanges.view_attempts(
        make_result(A, findings=(missing,), attempts=(Attempt("", 1.0, (make_exchange(response=stream),)),))
    )
    assert attempt["exchanges"][0]["timeline"][-1] == [None, "", "error", "did not come", MISSING]
    call = Response(None, {}, grpc=GrpcStatus(5, "no", {}))
    (attempt,) = exchanges.view_attempts(
        make_result(
            A, findings=(make_finding(location="grpc"),), attempts=(Attempt("", 1.0, (make_exchange(response=call),)),)
        )
    )
    assert attempt["exchanges"][0]["timeline"][-1][-1] == MARKED
