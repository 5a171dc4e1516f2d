"""What a revision makes otherwise: of answers the most that can be said, and of what was not looked at nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from catalog.model import Attempt, Close, Event, Outcome, Reason, Response
from catalog.model.look import Look
from reports.across.upgrade import Kind, Upgrade
from reports.across.upgrade_told import as_json, as_text
from tests.unit.reports.making import answer, exchange, result, run

if TYPE_CHECKING:
    from catalog.evidence.results import Result

A, B = "pa/errors/general/invalid_request", "pa/errors/general/not_found"
LOOKS = (Look("", "answer", ("status",)),)


def saw(response: Response, address: str = A, **changes: Any) -> Result:
    attempt = Attempt("2026-11-21T04:05:00Z", 1, (exchange(response=response),))
    return result(address, **{"attempts": (attempt,), "looks": LOOKS, **changes})


def ok(body: Any) -> Response:
    return Response(200, {}, body, "json")


def upgrade(before: Result, after: Result) -> Upgrade:
    old, new = {"pa": "2023-06-01"}, {"pa": "2026-10-21"}
    return Upgrade((run(run="old", revisions=old), [before]), (run(run="new", revisions=new), [after]))


def told(before: Response, after: Response) -> list[tuple[str, str, str]]:
    return [(each.kind, each.was, each.now) for each in upgrade(saw(before), saw(after)).changes]


REFUSED = answer(400, "invalid_request_error", "temperature: range: 0..1")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (ok({}), ok({}), []),
        (ok({"id": "a"}), ok({"id": "b"}), []),
        (ok({}), REFUSED, [(Kind.FAILS_NOW, "200", "400 invalid_request_error: temperature: range: 0..1")]),
        (REFUSED, ok({}), [(Kind.ACCEPTED_NOW, "400 invalid_request_error: temperature: range: 0..1", "200")]),
        (
            REFUSED,
            answer(400, "invalid_request_error", "temperature: not supported"),
            [
                (
                    Kind.ANOTHER_REASON,
                    "400 invalid_request_error: temperature: range: 0..1",
                    "400 invalid_request_error: temperature: not supported",
                )
            ],
        ),
        (
            answer(400, "invalid_request_error", "no"),
            answer(422, "invalid_request_error", "no"),
            [(Kind.REFUSED_OTHERWISE, "400 invalid_request_error: no", "422 invalid_request_error: no")],
        ),
        (
            answer(404, "not_found_error", "request req_011CSHoEeqs5C35K2UUqR7Fy"),
            answer(404, "not_found_error", "request req_022CSHoEeqs5C35K2UUqR8Gy"),
            [],
        ),
        (ok({"max": 3, "id": "x"}), ok({"limit": 3, "id": "y"}), [(Kind.RENAMED, "/max", "/limit")]),
        (ok({"data": [{"a": "1"}]}), ok({"data": [{"b": "2"}]}), [(Kind.RENAMED, "/data/*/a", "/data/*/b")]),
        (
            ok({"u": {"a": 1, "b": 2}}),
            ok({"u": {"c": 2, "d": 1}}),
            [(Kind.RENAMED, "/u/a", "/u/d"), (Kind.RENAMED, "/u/b", "/u/c")],
        ),
        (ok({"a": 1}), ok({}), [(Kind.GONE, "/a", "absent")]),
        (ok({"a": {"b": 1}}), ok({}), [(Kind.GONE, "/a", "absent")]),
        (ok({}), ok({"a": {"b": 1}}), [(Kind.ADDED, "absent", "/a")]),
        (ok({"a": 1}), ok({"b": "text"}), [(Kind.GONE, "/a", "absent"), (Kind.ADDED, "absent", "/b")]),
        (
            Response(200, events=(Event("start"), Event("ping"), Event("stop"))),
            Response(200, events=(Event("start"), Event("stop"))),
            [(Kind.GONE, "event:ping", "absent")],
        ),
        (
            Response(101, close=Close(1000)),
            Response(101, close=Close(1008, "model not found")),
            [(Kind.FAILS_NOW, "101", "101 close 1008: model not found")],
        ),
    ],
)
def test_what_is_otherwise(before: Response, after: Response, said: list[tuple[str, str, str]]) -> None:
    assert told(before, after) == said


def test_what_no_answer_tells_is_told_of_its_assertion() -> None:
    """A header is compared where a record states it."""
    before = saw(ok({}), looks=(Look("", "answer", ("header:retry-after",)),))
    after = saw(ok({}), looks=(Look("", "answer", (), {"header:retry-after": "absent"}),))
    (change,) = upgrade(before, after).changes
    assert (change.kind, change.was, change.now) == (
        Kind.OTHERWISE,
        "answer/header:retry-after: as stated",
        "answer/header:retry-after: absent",
    )


def test_what_has_no_verdict_is_not_compared() -> None:
    unjudged = saw(REFUSED, outcome=Outcome.INCONCLUSIVE, reason=Reason("control-failed"))
    made = upgrade(saw(ok({})), unjudged)
    assert made.changes == ()
    assert made.blind
    (unseen,) = made.unseen
    assert (unseen.run, unseen.reason, unseen.records) == ("live pa:2026-10-21", "control-failed", (A,))
    assert "exit 10" in as_text(made, ["", ""])


def test_what_neither_run_was_to_ask_is_no_gap() -> None:
    skipped = result(B, Outcome.NOT_PROBED, reason=Reason("cost-not-allowed"))
    made = Upgrade((run(run="old"), [saw(ok({})), skipped]), (run(run="new"), [saw(ok({})), skipped]))
    assert not made.blind
    assert made.unseen == ()
    assert as_text(made, ["", ""]).endswith("1 record compared: nothing is otherwise.")


def test_an_exchange_that_was_not_judged_is_no_evidence() -> None:
    aside = Attempt("2026-11-21T04:05:00Z", 1, (exchange("setup", response=REFUSED), exchange(response=ok({}))))
    assert upgrade(saw(ok({})), saw(ok({}), attempts=(aside,))).changes == ()


@pytest.mark.parametrize(
    ("first", "second", "backwards"),
    [
        ({"revisions": {"pa": "2023-06-01"}}, {"revisions": {"pa": "2026-10-21"}}, False),
        ({"revisions": {"pa": "2026-10-21"}}, {"revisions": {"pa": "2023-06-01"}}, True),
        ({"revisions": {"pa": "2030-01-01"}}, {"revisions": {"pa": "2023-06-01"}}, False),
        ({"today": "2026-11-20"}, {"today": "2026-11-21"}, False),
        ({"today": "2026-11-21"}, {"today": "2026-11-20"}, True),
    ],
)
def test_the_way_back_is_told_as_that(first: dict[str, Any], second: dict[str, Any], backwards: bool) -> None:
    made = Upgrade((run(run="a", **first), [saw(ok({}))]), (run(run="b", **second), [saw(ok({}))]))
    assert as_json(made, ["", ""])["backwards"] is backwards
    assert ("the way back" in as_text(made, ["", ""])) is backwards


def test_of_runs_with_no_record_in_common_nothing_is_said_to_be_as_before() -> None:
    made = upgrade(saw(ok({}), A), saw(ok({}), B))
    assert made.blind
    assert as_text(made, ["", ""]).splitlines()[-1] == (
        "Nothing could be compared: on no record both runs have a verdict (exit 10)."
    )


def test_both_forms_tell_all_of_it_and_where_it_is_shown() -> None:
    made = upgrade(saw(ok({"a": 1})), saw(REFUSED))
    text = as_text(made, ["old/report.html", "new/report.html"])
    assert "PA 2023-06-01 -> 2026-10-21" in text
    assert "Accepted before, fails now (1)" in text
    assert f"{A}  answer" in text
    assert "new/report.html" in text
    data = json.loads(json.dumps(as_json(made, ["old/report.html", "new/report.html"])))
    assert data["revisions"] == [{"provider": "pa", "before": "2023-06-01", "after": "2026-10-21"}]
    (change,) = data["changes"]
    assert change["kind"] == "fails_now"
    assert change["evidence"] == {"before": f"old/report.html#{A}", "after": f"new/report.html#{A}"}


def test_nothing_observed_moves_the_terminal() -> None:
    assert "\x1b" not in as_text(upgrade(saw(ok({})), saw(answer(400, "x", "\x1b[2J"))), ["", ""])
