"""Accepted differences: what they cover, when they are stale, how they are read, and how a cause is accepted."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.files.schemas import find_complaints, schemas
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import AcceptanceState, Aspect, Finding, Outcome, Severity
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.writeback import accepted_differences
from catalog_probe.catalog.writeback.accepted_differences import (
    AcceptedDifference,
    find_entry,
    judge_acceptance,
    load_entries,
)
from catalog_probe.cli.catalog_commands import main
from tests.harness.checkouts import use_as_checkout
from tests.unit.catalog.catalog_factories import (
    ERROR_ADDRESS,
    make_drift,
    make_result,
    make_run,
    write_catalog,
    write_run,
)

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Json

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
        assert (acceptance.state if acceptance else None) == state, (outcome, aspects, today)
        assert acceptance is None or (acceptance.reason, acceptance.review_by) == ("known since May", "2026-12-31"), (
            outcome,
            aspects,
            today,
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


SCHEMA = schemas()["urn:catalog:accepted_differences"]
WRITTEN_ENTRY: dict[str, Json] = {
    "address": "pa/errors/general/rate_limit_error",
    "target": "live",
    "assertions": ["answer/status", "answer/header:retry-after"],
    "reason": "known since May",
    "first_seen": "2026-05-01",
    "review_by": "2026-12-31",
}

ODD_VALUES: tuple[Json, ...] = (
    None,
    True,
    0,
    1.5,
    10**400,
    "",
    "words",
    "status",
    "status\n",
    "header:",
    "header:a\nb",
    "colour:x",
    "*/*",
    "answer/status:",
    "answer/body:/a\n",
    "2026-02-30",
    "20260501",
    "2026-W01-1",
    "2026-05-01\n",
    "٢٠٢٦-05-01",
    "pa/errors/general/x\n",
    "pa/error/general/x",
    [],
    [[]],
    ["status", 3],
    ["answer/status", "x"],
    {},
    {"a": 1},
)
FIELDS = (*WRITTEN_ENTRY, "ticket", "adress", "x\ny")


def make_changed_entries(field: str, value: Json, *, remove: bool, in_list: bool) -> list[Json]:
    entry = copy.deepcopy(WRITTEN_ENTRY)
    if remove:
        entry.pop(field, None)
    elif in_list and isinstance(entry.get(field), list):
        entry[field][0] = value
    else:
        entry[field] = value
    return [copy.deepcopy(WRITTEN_ENTRY), entry]


CHANGES = st.builds(
    lambda field, value, remove, in_list: make_changed_entries(field, value, remove=remove, in_list=in_list),
    st.sampled_from(FIELDS),
    st.sampled_from(ODD_VALUES) | st.text(max_size=12),
    st.booleans(),
    st.booleans(),
)


def find_refusal(tmp_path: Path, content: Json) -> str | None:
    """What a reader says to it, or None if it follows the schema."""
    path = tmp_path / "divergences.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    try:
        accepted_differences.load_entries(path)
    except CatalogError as error:
        return str(error)
    return None


def test_a_changed_entry_is_read_or_refused_in_one_line_with_its_location(tmp_path: Path) -> None:
    wrong = []
    for field, odd in product(FIELDS, ODD_VALUES):
        content = make_changed_entries(field, odd, remove=False, in_list=False)
        refusal = find_refusal(tmp_path, content)
        if refusal is None or "twice" in refusal or "is not JSON" in refusal:
            is_right = find_complaints(content, SCHEMA) == []
        else:
            is_right = "divergences.json:$[1]" in refusal and len(refusal.splitlines()) == 1
        wrong += [] if is_right else [(field, odd, refusal)]
    assert wrong == []


def test_a_value_too_deep_to_print_has_a_complaint() -> None:
    value: list[Json] = []
    for _ in range(sys.getrecursionlimit() * 100):
        value = [value]
    [complaint] = find_complaints(value, {"type": "string"})
    assert complaint.message.startswith(("is nested too deep", "is [[["))  # how deep is too deep, each Python says


def test_a_deep_file_is_refused_in_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for depth in [50, 300, 900, 5000, 100_000]:
        with subtests.test(repr(depth)):
            path = tmp_path / "divergences.json"
            path.write_text("[" * depth + "]" * depth)
            with pytest.raises(CatalogError) as caught:
                accepted_differences.load_entries(path)
            assert len(str(caught.value).splitlines()) == 1


def test_an_unknown_field_is_refused_with_the_nearest_field(tmp_path: Path) -> None:
    content: list[dict[str, Any]] = [{**WRITTEN_ENTRY, "reviewby": "2026-12-31"}]
    refusal = find_refusal(tmp_path, content) or ""
    assert refusal.endswith("divergences.json:$[0]: 'reviewby' is no field here; did you mean review_by?")


OTHER_ADDRESS = "pa/errors/general/another"
STATUS_DRIFT = make_drift(assertion="answer/status")
HEADER_DRIFT = make_drift(
    "header-missing",
    Aspect.HEADER,
    location="retry-after",
    documented="present",
    observed=None,
    assertion="answer/header:retry-after",
)
FIRST = make_result(Outcome.DRIFTED, findings=(STATUS_DRIFT,))
SECOND = replace(FIRST, record=OTHER_ADDRESS, findings=(STATUS_DRIFT, HEADER_DRIFT))

Accept = Callable[..., tuple[int, str, str]]


@pytest.fixture
def accept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Accept:
    """`accept …` beside a night in which two records drift from one cause, and one of them from another, too."""
    use_as_checkout(tmp_path, monkeypatch)
    write_catalog(tmp_path / "records")
    write_run(tmp_path / "night", make_run(), [FIRST, SECOND])

    def run_accept(*arguments: str) -> tuple[int, str, str]:
        shared_arguments = (
            "--run",
            "night",
            "--accepted-differences",
            "l.json",
            "--today",
            TODAY.isoformat(),
            "--reason",
            "known",
        )
        status = main(["accept", *arguments, *shared_arguments])
        output = capsys.readouterr()
        return status, output.out, output.err

    return run_accept


def find_cause_id(*results: Result) -> str:
    return max(find_causes(results), key=lambda cause: len(cause.records)).id


def read_entries(tmp_path: Path) -> dict[str, dict[str, Any]]:
    return {entry["address"]: entry for entry in json.loads((tmp_path / "l.json").read_text())}


def test_accepting_a_cause_accepts_it_of_all_its_records_only(accept: Accept, tmp_path: Path) -> None:
    status, out, err = accept("--cause", find_cause_id(FIRST, SECOND), "--ticket", "https://tickets.example/41")
    assert (status, err) == (0, "")
    assert out.startswith("l.json accepts it of 2 records on live until ")
    written = read_entries(tmp_path)
    assert written.keys() == {ERROR_ADDRESS, OTHER_ADDRESS}
    assert {tuple(entry["assertions"]) for entry in written.values()} == {("answer/status",)}
    accepted = find_entry(load_entries(tmp_path / "l.json"), OTHER_ADDRESS, "live")
    verdict = judge_acceptance(accepted, Outcome.DRIFTED, SECOND.findings, TODAY)
    assert verdict is not None
    assert verdict.state is AcceptanceState.NEW_ASPECTS
    assert verdict.reason == "known (https://tickets.example/41)"


def test_a_second_cause_is_added_to_the_accepted_assertions(accept: Accept, tmp_path: Path) -> None:
    accept("--cause", find_cause_id(FIRST, SECOND))
    header_cause = next(cause.id for cause in find_causes([SECOND]) if cause.difference.subject == "header retry-after")
    assert accept("--cause", header_cause)[0] == 0
    assert read_entries(tmp_path)[OTHER_ADDRESS]["assertions"] == ["answer/header:retry-after", "answer/status"]
    assert read_entries(tmp_path)[ERROR_ADDRESS]["assertions"] == ["answer/status"]
    assert accept("--cause", header_cause)[1].startswith("l.json already accepted it of 1 record")


def test_like_a_record_accepts_every_cause_of_its_drift(accept: Accept, tmp_path: Path) -> None:
    assert accept("--like", OTHER_ADDRESS)[0] == 0
    assert read_entries(tmp_path)[OTHER_ADDRESS]["assertions"] == ["answer/header:retry-after", "answer/status"]
    assert read_entries(tmp_path)[ERROR_ADDRESS]["assertions"] == ["answer/status"]


def test_an_unusable_argument_is_one_line(accept: Accept, tmp_path: Path) -> None:
    cases: list[tuple[tuple[str, ...], str]] = [
        ((), "it is not clear what to accept; name a record, or --cause ID, or --like ADDRESS"),
        ((OTHER_ADDRESS, "--cause", "pa-00000000"), "it is not clear what to accept"),
        (("--cause", "pa-00000000"), "has no cause 'pa-00000000'"),
        (("--like", "pa/errors/general/quiet"), "saw no drift of pa/errors/general/quiet"),
        (("--like", f"{OTHER_ADDRESS}s"), f"saw no drift of {OTHER_ADDRESS}s; did you mean {OTHER_ADDRESS}"),
        (("--like", OTHER_ADDRESS, "--assertions", "answer/status"), "--assertions is about one record"),
        (("--cause", "pa-00000000", "--target", "elsewhere"), "asked target live, not elsewhere"),
    ]
    for arguments, message in cases:
        status, out, err = accept(*arguments)
        assert (status, out) == (4, ""), arguments
        assert message in err, arguments
        assert err.count("\n") == 1, arguments
        assert not (tmp_path / "l.json").exists(), arguments
