"""Accepted differences: what they cover, when they are stale, how they are written."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Severity
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.writeback import accepted_differences
from catalog_probe.catalog.writeback.accepted_differences import AcceptedDifference, judge_acceptance
from tests.unit.catalog.catalog_factories import ERROR_ADDRESS, make_drift, write_catalog

if TYPE_CHECKING:
    from pathlib import Path

TODAY = date(2026, 11, 20)
ENTRY = AcceptedDifference(
    ERROR_ADDRESS, "live", ("answer/header:retry-after", "answer/status"), "known since May", "2026-05-01", "2026-12-31"
)


def drifts(*aspects: str) -> list[Finding]:
    """A drift of each aspect, as entries name it, under the label `answer`."""
    parts = [aspect.partition(":") for aspect in aspects]
    return [
        replace(
            make_drift(aspect=Aspect(aspect), location=place),
            label="answer",
            assertion=f"answer/{aspect}{colon}{place}",
        )
        for aspect, colon, place in parts
    ]


def test_acceptance_state_of_each_outcome() -> None:
    cases: list[tuple[Outcome, list[str], date, str | None]] = [
        (Outcome.DRIFTED, ["status"], TODAY, "accounted"),
        (Outcome.DRIFTED, ["status", "header:retry-after"], TODAY, "accounted"),
        (Outcome.DRIFTED, ["status", "type"], TODAY, "new_aspects"),
        (Outcome.DRIFTED, ["header:request-id"], TODAY, "new_aspects"),
        (Outcome.CONFORMS, [], TODAY, "stale"),
        (Outcome.DRIFTED, ["status"], date(2026, 12, 31), "accounted"),
        (Outcome.DRIFTED, ["status"], date(2027, 1, 1), "stale"),
        (Outcome.INCONCLUSIVE, [], date(2027, 1, 1), "stale"),
        (Outcome.INCONCLUSIVE, [], TODAY, None),
        (Outcome.FLAKY, ["status"], TODAY, None),
        (Outcome.RESTRICTED, [], TODAY, None),
    ]
    for outcome, aspects, today, state in cases:
        acceptance = judge_acceptance(ENTRY, outcome, drifts(*aspects), today)
        assert (acceptance.state if acceptance else None) == state, outcome
        assert acceptance is None or (acceptance.reason, acceptance.review_by) == ("known since May", "2026-12-31"), (
            outcome
        )


def test_nothing_is_accepted_without_an_entry() -> None:
    assert judge_acceptance(None, Outcome.DRIFTED, drifts("status"), TODAY) is None


def test_an_entry_accepts_only_the_assertions_that_it_names() -> None:
    """Two labels differ in the same aspect: who accepted one has not accepted the other."""
    status_entry = replace(ENTRY, assertions=("answer/status",))
    (accepted,) = drifts("status")
    other_label = replace(accepted, label="limited", assertion="limited/status")
    assert status_entry.assertions_text == "answer/status"
    for findings, state, detail in (
        ([accepted], "accounted", "accepted until 2026-12-31"),
        ([accepted, other_label], "new_aspects", "not accepted: limited/status"),
        (drifts("header:retry-after"), "new_aspects", "not accepted: answer/header:retry-after"),
    ):
        acceptance = judge_acceptance(status_entry, Outcome.DRIFTED, findings, TODAY)
        assert acceptance is not None
        assert (acceptance.state, acceptance.detail) == (state, detail)


def test_a_mismatched_assumption_needs_no_acceptance() -> None:
    assumed = [replace(finding, severity=Severity.SHOULD) for finding in drifts("type")]
    acceptance = judge_acceptance(ENTRY, Outcome.DRIFTED, [*assumed, *drifts("status")], TODAY)
    assert acceptance is not None
    assert acceptance.state == "accounted"


def test_an_entry_for_the_message_accepts_a_forbidden_fault_free_request() -> None:
    message = replace(ENTRY, assertions=("answer/message",))
    standing = judge_acceptance(message, Outcome.INCONCLUSIVE, [], TODAY, "twin-not-allowed")
    assert standing is not None
    assert standing.state == "accounted"
    assert judge_acceptance(message, Outcome.INCONCLUSIVE, [], TODAY, "gateway-page") is None
    assert judge_acceptance(ENTRY, Outcome.INCONCLUSIVE, [], TODAY, "twin-not-allowed") is None


def test_an_accepted_assertion_that_no_longer_drifts_is_named() -> None:
    three = replace(ENTRY, assertions=("answer/status", "answer/type", "answer/header:retry-after"))
    assert three.assertions_text == "answer/status, answer/type, answer/header:retry-after"
    one_left = [*drifts("status"), *(replace(finding, severity=Severity.SHOULD) for finding in drifts("type"))]
    for findings, detail in (
        (drifts("status", "type", "header:retry-after"), "accepted until 2026-12-31"),
        (drifts("status", "type"), "accepted until 2026-12-31; answer/header:retry-after does not drift any more"),
        (
            one_left,
            "accepted until 2026-12-31; answer/type, answer/header:retry-after do not drift any more",
        ),
    ):
        standing = judge_acceptance(three, Outcome.DRIFTED, findings, TODAY)
        assert standing is not None
        assert standing.detail == detail


def test_a_mismatched_assumption_is_no_drifted_aspect() -> None:
    assumed = [replace(finding, severity=Severity.SHOULD) for finding in drifts("type")]
    assert accepted_differences.drifted_assertions([*assumed, *drifts("status")]) == ("answer/status",)


def test_an_entry_applies_to_its_target_only() -> None:
    assert accepted_differences.find_entry([ENTRY], ERROR_ADDRESS, "live") is ENTRY
    assert accepted_differences.find_entry([ENTRY], ERROR_ADDRESS, "mock") is None


def test_an_acceptance_is_kept_in_a_result_by_its_names() -> None:
    standing = judge_acceptance(ENTRY, Outcome.DRIFTED, drifts("status", "header:retry-after"), TODAY)
    assert standing is not None
    assert standing.to_json() == {
        "state": "accounted",
        "reason": ENTRY.reason_with_ticket,
        "detail": "accepted until 2026-12-31",
        "review_by": "2026-12-31",
    }


def test_accepting_writes_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "divergences.json"
    assert accepted_differences.load_entries(path) == ()
    assert accepted_differences.accept(ENTRY, path)
    assert not accepted_differences.accept(ENTRY, path)
    later = AcceptedDifference(ERROR_ADDRESS, "live", ("answer/status",), "still so", "2026-11-20", "2027-02-01")
    other_target_entry = AcceptedDifference(
        ERROR_ADDRESS, "eu", ("answer/status",), "also there", "2026-11-20", "2027-02-01"
    )
    accepted_differences.accept(later, path)
    accepted_differences.accept(other_target_entry, path)

    eu, live = accepted_differences.load_entries(path)
    assert eu == other_target_entry
    assert (live.reason, live.first_seen) == ("still so", "2026-05-01")
    assert path.read_text().endswith("\n")


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "divergences.json"
    with pytest.raises(CatalogError, match="review_by"):
        accepted_differences.accept(replace(ENTRY, review_by="soon"), path)
    assert not path.exists()


def test_problems_of_entries_are_listed(tmp_path: Path) -> None:
    catalog = Catalog.load(write_catalog(tmp_path))
    unknown = AcceptedDifference(
        "pa/errors/general/rate_limit_eror", "live", ("answer/status",), "r", "2026-05-01", "2026-12-31"
    )

    assert accepted_differences.find_problems([ENTRY], catalog, TODAY) == []
    assert "did you mean" in str(accepted_differences.find_problems([unknown], catalog, TODAY)[0])
    unknown_provider = replace(unknown, address="pd/endpoints/nothing/like_any_other")
    assert str(accepted_differences.find_problems([unknown_provider], catalog, TODAY)[0]).endswith(
        "no record has this address; remove the entry"
    )
    assert accepted_differences.find_problems([ENTRY], catalog, date(2026, 12, 31)) == [], (
        "on its last day it still stands"
    )
    [due] = accepted_differences.find_problems([ENTRY], catalog, date(2027, 1, 1))
    overdue_message = "was to be reviewed by 2026-12-31; renew it with `catalog-probe catalog accept`, or remove it"
    assert str(due).endswith(overdue_message)
    assert due.file == accepted_differences.find_file(ERROR_ADDRESS)
    [elsewhere] = accepted_differences.find_problems([ENTRY], catalog, date(2027, 1, 1), tmp_path / "own.json")
    assert elsewhere.file == tmp_path / "own.json"


GOOD = {
    "address": ERROR_ADDRESS,
    "target": "live",
    "assertions": ["answer/status"],
    "reason": "r",
    "first_seen": "2026-05-01",
    "review_by": "2026-12-31",
}


def test_a_broken_file_is_a_problem(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any] | list[Any], str]] = [
        ({}, "$: is {}; write a list"),
        ([5], "$[0]: is 5; write an object"),
        ([{**GOOD, "adress": "x"}], "did you mean address?"),
        ([{**GOOD, "reason": ""}], '$[0].reason: "" is too short'),
        ([{**GOOD, "review_by": "soon"}], '$[0].review_by: "soon" is no date; write YYYY-MM-DD'),
        ([{**GOOD, "aspects": ["status"]}], "$[0]: 'aspects' is no field here"),
        ([{name: GOOD[name] for name in GOOD if name != "assertions"}], "$[0]: 'assertions' is missing"),
        ([{**GOOD, "assertions": "answer/status"}], '$[0].assertions: is "answer/status"; write a list'),
        ([{**GOOD, "assertions": ["status"]}], '$[0].assertions[0]: "status" has the wrong form'),
        ([{**GOOD, "assertion": ["answer/status"]}], "did you mean assertions?"),
        ([{**GOOD, "target": 5}], "$[0].target: is 5; write a string"),
        ([{**GOOD, "address": "x"}], '$[0].address: "x" has the wrong form'),
        ([GOOD, GOOD], "stands twice"),
    ]
    for content, message in cases:
        with subtests.test(repr(content)):
            path = tmp_path / "divergences.json"
            path.write_text(json.dumps(content))
            with pytest.raises(CatalogError) as caught:
                accepted_differences.load_entries(path)
            assert message in str(caught.value)
