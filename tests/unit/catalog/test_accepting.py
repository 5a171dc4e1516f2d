"""Accepting a whole cause: every record that it made drift, on the same terms, and nothing beside it."""

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
OTHER = "pa/errors/general/another"
SHARED = make_drift(assertion="answer/status")
OWN = make_drift(
    "header-missing",
    Aspect.HEADER,
    location="retry-after",
    documented="present",
    observed=None,
    assertion="answer/header:retry-after",
)
FIRST = make_result(Outcome.DRIFTED, findings=(SHARED,))
SECOND = replace(FIRST, record=OTHER, findings=(SHARED, OWN))

Accept = Callable[..., tuple[int, str, str]]


@pytest.fixture
def accept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Accept:
    """`accept …` beside a night in which two records drift from one cause, and one of them from another, too."""
    use_as_checkout(tmp_path, monkeypatch)
    write_catalog(tmp_path / "records")
    write_run(tmp_path / "night", make_run(), [FIRST, SECOND])

    def typed(*arguments: str) -> tuple[int, str, str]:
        beside = (
            "--run",
            "night",
            "--accepted-differences",
            "l.json",
            "--today",
            TODAY.isoformat(),
            "--reason",
            "known",
        )
        status = main(["accept", *arguments, *beside])
        told = capsys.readouterr()
        return status, told.out, told.err

    return typed


def id_of(*results: Result) -> str:
    return max(find_causes(results), key=lambda each: len(each.records)).id


def entries(tmp_path: Path) -> dict[str, dict[str, Any]]:
    return {each["address"]: each for each in json.loads((tmp_path / "l.json").read_text())}


def test_a_cause_is_accepted_of_all_its_records_and_of_nothing_else(accept: Accept, tmp_path: Path) -> None:
    status, out, err = accept("--cause", id_of(FIRST, SECOND), "--ticket", "https://tickets.example/41")
    assert (status, err) == (0, "")
    assert out.startswith("l.json accepts it of 2 records on live until ")
    written = entries(tmp_path)
    assert written.keys() == {ERROR_ADDRESS, OTHER}
    assert {tuple(each["assertions"]) for each in written.values()} == {("answer/status",)}
    accepted = find_entry(load_entries(tmp_path / "l.json"), OTHER, "live")
    verdict = judge_acceptance(accepted, Outcome.DRIFTED, SECOND.findings, TODAY)
    assert verdict is not None
    assert verdict.state is AcceptanceState.NEW_ASPECTS
    assert verdict.reason == "known (https://tickets.example/41)"


def test_a_second_cause_joins_what_was_accepted_before(accept: Accept, tmp_path: Path) -> None:
    accept("--cause", id_of(FIRST, SECOND))
    only = next(
        cause.id for cause in find_causes([SECOND]) if cause.assertions == (f"{OTHER}#answer/header:retry-after",)
    )
    assert accept("--cause", only)[0] == 0
    assert entries(tmp_path)[OTHER]["assertions"] == ["answer/header:retry-after", "answer/status"]
    assert entries(tmp_path)[ERROR_ADDRESS]["assertions"] == ["answer/status"]
    assert accept("--cause", only)[1].startswith("l.json already accepted it of 1 record")


def test_like_a_record_accepts_every_cause_of_its_drift(accept: Accept, tmp_path: Path) -> None:
    assert accept("--like", OTHER)[0] == 0
    assert entries(tmp_path)[OTHER]["assertions"] == ["answer/header:retry-after", "answer/status"]
    assert entries(tmp_path)[ERROR_ADDRESS]["assertions"] == ["answer/status"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "it is not clear what to accept; name a record, or --cause ID, or --like ADDRESS"),
        ((OTHER, "--cause", "pa-00000000"), "it is not clear what to accept"),
        (("--cause", "pa-00000000"), "has no cause 'pa-00000000'"),
        (("--like", "pa/errors/general/quiet"), "saw no drift of pa/errors/general/quiet"),
        (("--like", f"{OTHER}s"), f"saw no drift of {OTHER}s; did you mean {OTHER}"),
        (("--like", OTHER, "--assertions", "answer/status"), "--assertions is about one record"),
        (("--cause", "pa-00000000", "--target", "elsewhere"), "asked target live, not elsewhere"),
    ],
)
def test_what_cannot_be_accepted_is_one_line(
    accept: Accept, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    status, out, err = accept(*arguments)
    assert (status, out) == (4, "")
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "l.json").exists()
