"""Accepting a cause: every record that drifted because of it, and no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.model import AcceptanceState, Aspect, Outcome
from catalog_probe.catalog.writeback.accepted_differences import find_entry, judge_acceptance, load_entries
from catalog_probe.cli.catalog_commands.group import main
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

TODAY = date(2026, 11, 20)
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
    header_cause = next(cause.id for cause in find_causes([SECOND]) if cause.what == "header retry-after")
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
