"""Several runs beside each other: shares, labels, what differs, and the three forms in which it is told."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog.evidence.results_file import EvidenceError
from catalog.model import Outcome, Reason, Severity
from catalog.model.errors import CatalogError
from catalog.model.look import Look
from catalog.model.standpoint import StandsFor
from catalog.reading.assertions import assertions
from reports.across import page, table
from reports.across.as_json import as_json
from reports.across.comparison import Comparison
from reports.across.seen import Share
from reports.across.table import Rows
from tests.unit.reports.making import finding, result, run

if TYPE_CHECKING:
    from catalog.evidence.results import Result
    from catalog.model import Record
    from catalog.model.assertion import Assertion
    from catalog.reading.expectations import Lookup

A, B = "pa/errors/general/invalid_request", "pa/errors/general/not_found"
OTHER = "pd/errors/inference/not_found"
ON = "pa/endpoints/messages/create_message"


def looked(*as_stated: str, endpoint: str = ON, **otherwise: str) -> Look:
    return Look(endpoint, "answer", as_stated, {key.replace("_", ":", 1): value for key, value in otherwise.items()})


def conforming(address: str = A, *looks: Look) -> Result:
    return result(address, looks=looks or (looked("status", "type"),))


def drifting(address: str = A, observed: int = 422) -> Result:
    told = finding(observed=observed, assertion="answer/status", message=f"status: documented 400, observed {observed}")
    return result(address, Outcome.DRIFTED, findings=(told,), looks=(looked("type", status=str(observed)),))


def beside(*runs: Sequence[Result], **changes: Any) -> Comparison:
    return Comparison([(run(run=f"r{at}", target=f"t{at}", **changes), each) for at, each in enumerate(runs)])


def shares(comparison: Comparison) -> list[list[tuple[int, int]]]:
    return [
        [(cell.share.as_documented, cell.share.looked_at) for cell in family.cells] for family in comparison.families
    ]


def test_a_share_is_of_what_was_looked_at() -> None:
    made = beside([conforming(A), conforming(B)], [conforming(A), drifting(B)])
    assert shares(made) == [[(4, 4), (3, 4)]]
    assert [cell.share.percent for cell in made.families[0].cells] == [100, 75]


def test_a_share_is_counted_endpoint_by_endpoint() -> None:
    made = beside([conforming(A, looked("status"), looked("status", endpoint="pa/endpoints/x/y"))])
    assert shares(made) == [[(2, 2)]]


@pytest.mark.parametrize("outcome", [each for each in Outcome if not each.conclusive])
def test_what_has_no_verdict_is_no_evidence(outcome: Outcome) -> None:
    unjudged = result(A, outcome, reason=Reason("control-failed"), looks=(looked("status", type="x"),))
    made = beside([conforming()], [unjudged])
    assert shares(made) == [[(2, 2), (0, 0)]]
    assert made.families[0].cells[1].share.percent is None
    assert not made.rows[0].differs, "one run did not look: that is no difference"
    assert "not looked at: control-failed" in table.render(made, made.rows, Rows.ASSERTIONS)


def test_what_is_assumed_is_in_no_share() -> None:
    otherwise = finding(code="status-differs", severity=Severity.SHOULD, assertion="answer/status")
    settled = result(A, findings=(otherwise,), looks=(looked("type", status="201"),))
    made = beside([settled])
    assert shares(made) == [[(1, 1)]]
    assert made.rows[0].assumed("answer/status")
    assert not made.rows[0].assumed("answer/type")


def test_nothing_less_than_all_is_a_hundred() -> None:
    assert Share(999, 1000).percent == 99
    assert Share(0, 0).percent is None
    assert Share(5, 5).percent == 100


def test_a_record_that_a_run_did_not_have_is_absent() -> None:
    made = beside([conforming(A)], [conforming(A), conforming(OTHER)])
    assert [str(row.address) for row in made.found("any(absent)")] == [OTHER]
    assert "absent" in table.render(made, made.rows, Rows.FAMILIES)
    assert not made.differing


def test_two_drifts_of_another_kind_differ() -> None:
    assert beside([drifting(observed=422)], [drifting(observed=403)]).differing
    assert not beside([drifting()], [drifting()]).differing


def test_assertions_on_which_runs_do_not_agree_come_first() -> None:
    made = beside([conforming(A, looked("body", "status", "type"))], [drifting(A)])
    assert next(iter(made.rows[0].assertions)) == "answer/status"
    told = table.render(made, made.rows, Rows.ASSERTIONS).splitlines()
    assert next(each for each in told if "answer/status" in each).split() == [
        "!",
        "answer/status",
        "as",
        "stated",
        "422",
    ]


def test_an_assertion_that_differs_in_part_says_on_how_many_endpoints() -> None:
    looks = (looked("status"), looked(endpoint="pa/endpoints/x/y", status="403"))
    partly = result(A, Outcome.DRIFTED, findings=(finding(assertion="answer/status"),), looks=looks)
    assert "403 on 1 of 2" in table.render(beside([partly]), beside([partly]).rows, Rows.ASSERTIONS)


@pytest.mark.parametrize(
    ("runs", "labels"),
    [
        ([{"target": "live"}, {"target": "gateway"}], ["live", "gateway"]),
        ([{"region": "eu"}, {"region": "us"}], ["live eu", "live us"]),
        ([{"revisions": {"pb": "v1"}}, {"revisions": {"pb": "v1beta"}}], ["live pb:v1", "live pb:v1beta"]),
        ([{"today": "2026-11-20"}, {"today": "2026-11-21"}], ["live 2026-11-20", "live 2026-11-21"]),
        ([{}, {}], ["r0", "r1"]),
        ([{}], ["live"]),
    ],
)
def test_a_column_is_called_by_what_tells_it_from_the_others(runs: list[dict[str, Any]], labels: list[str]) -> None:
    made = Comparison([(run(run=f"r{at}", **changes), []) for at, changes in enumerate(runs)])
    assert [each.label for each in made.columns] == labels


def test_a_run_beside_itself_is_refused() -> None:
    with pytest.raises(EvidenceError, match="run 'r1' is given 2 times; give each run once"):
        Comparison([(run(run="r1"), []), (run(run="r1"), [])])


def test_queries_ask_what_a_run_stands_for_its_target_region_and_revision() -> None:
    gateway = run(run="R2", target="proxy", stands_for=StandsFor.GATEWAY, region="eu", revisions={"pa": "2026-10-21"})
    made = Comparison([(run(run="r1"), [conforming()]), (gateway, [drifting()])])
    for inside in ("for:gateway", "target:proxy", "region:eu", "revision:2026-*", "run:r2", "observed:422"):
        assert made.found(f"any(drifted {inside})"), inside
        assert not made.found(f"any(conforms {inside})"), inside
    assert made.found("any(conforms for:provider) any(drifted for:gateway)")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("target:t2", "target:t2 names nothing; they are t0, t1"),
        ("any(drifted run:yesterday)", "run:yesterday names nothing; they are r0, r1"),
        ("provider:pb", "provider:pb names nothing; there is only pa"),
        ("region:eu", "region:eu names nothing; there is none"),
    ],
)
def test_what_none_of_the_runs_is_called_is_a_slip_and_no_answer(query: str, said: str) -> None:
    made = beside([conforming()], [drifting()])
    with pytest.raises(CatalogError, match=f"^{re.escape(said)}"):
        made.found(query)
    assert made.found("any(drifted target:t1)") == made.rows
    assert made.found("any(for:gateway)") == (), "there is none, and it is no slip to ask"


def test_a_run_of_old_stands_for_what_live_says() -> None:
    assert run(live=True).standpoint is StandsFor.PROVIDER
    assert run(live=False).standpoint is StandsFor.MOCK
    assert not run(live=True, stands_for=StandsFor.GATEWAY).speaks_of_providers


def test_json_has_columns_families_records_and_assertions() -> None:
    made = beside([conforming()], [drifting()])
    told = json.loads(json.dumps(as_json(made, made.rows, ["a/report.html", ""])))
    assert [each["label"] for each in told["runs"]] == ["t0", "t1"]
    assert told["families"][0]["cells"][1]["share"] == {"as_documented": 1, "looked_at": 2, "percent": 50}
    (record,) = told["records"]
    assert record["differs"] is True
    assert record["cells"][0]["evidence"] == f"a/report.html#{A}"
    assert record["cells"][1]["differs"][0]["observed"] == "422"
    assert record["assertions"][0] == {
        "assertion": "answer/status",
        "basis": "documented",
        "agree": False,
        "cells": [{"as_stated": 1, "otherwise": {}}, {"as_stated": 0, "otherwise": {"422": 1}}],
    }


def test_nothing_observed_gets_out_of_the_page() -> None:
    hostile = "</script><script>alert(1)</script>\x1b[2J"
    told = finding(message=hostile, observed=hostile, assertion="answer/status")
    bad = result(A, Outcome.DRIFTED, findings=(told,), looks=(Look(ON, "answer", (), {"status": hostile}),))
    made = beside([bad], [conforming()])
    drawn = page.render(made, ["", ""])
    assert "<script>alert" not in drawn
    assert "\x1b" not in drawn
    assert "\x1b" not in table.render(made, made.rows, Rows.ASSERTIONS)


def test_runs_that_probed_the_same_record_share_what_it_states(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def counted(record: Record, lookup: Lookup) -> tuple[Assertion, ...]:
        taken.append(str(record.address))
        return assertions(record, lookup)

    monkeypatch.setattr("reports.across.seen.assertions", counted)
    edited = replace(conforming(), probed={**conforming().probed, "http_status": 418})
    made = beside([conforming()], [conforming()], [edited], [conforming()])
    assert shares(made) == [[(2, 2)] * 4]
    assert taken == [A, A]
    first, second, third, last = (cell.result.probed for cell in made.rows[0].cells if cell is not None)
    assert first is second is last
    assert third["http_status"] == 418


def test_the_page_is_the_same_for_the_same_runs() -> None:
    assert page.render(beside([conforming()], [drifting()]), ["", ""]) == page.render(
        beside([conforming()], [drifting()]), ["", ""]
    )
