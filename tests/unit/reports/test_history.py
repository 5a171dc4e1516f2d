"""One small line a run, and what the next run can tell from it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from catalog.evidence import past
from catalog.evidence.results_file import EvidenceError
from catalog.model import Outcome
from reports import history
from tests.unit.reports import sample
from tests.unit.reports.making import finding, result, run

A, B = "pa/errors/general/a", "pa/errors/general/b"


def test_a_line_tells_each_outcome_in_a_letter() -> None:
    line = history.row(run(), [result(B, Outcome.INCONCLUSIVE), result(A, Outcome.DRIFTED, findings=(finding(),))])
    assert (line["addresses"], line["outcomes"]) == ([A, B], "di")
    assert line["drifts"] == {A: {"since": "2026-11-21", "differs": ["answer/status 422"]}}


def test_what_was_appended_is_loaded(tmp_path: Path) -> None:
    described, results = run(), [result(A), result(B, Outcome.NOT_PROBED)]
    assert history.append(tmp_path, described, results)
    previous, shown = history.shown(tmp_path, "live")
    assert previous == described.run
    (row,) = past.rows(run(history=shown))
    assert row.outcomes == {A: Outcome.CONFORMS, B: Outcome.NOT_PROBED}
    assert row.today == date(2026, 11, 21)


def test_a_run_is_remembered_once(tmp_path: Path) -> None:
    assert history.append(tmp_path, run(), [result(A)])
    assert not history.append(tmp_path, run(), [result(A)])
    assert len(history.load(tmp_path, "live")) == 1


def test_the_addresses_are_spelt_out_once_a_cast(tmp_path: Path) -> None:
    for number in range(3):
        history.append(tmp_path, run(run=f"r{number}", started_at=f"2026-11-2{number}T00:00:00Z"), [result(A)])
    history.append(tmp_path, run(run="r3", started_at="2026-11-23T00:00:00Z"), [result(A), result(B)])
    text = (tmp_path / "live.jsonl").read_text()
    assert text.count('"addresses"') == 2
    _, shown = history.shown(tmp_path, "live")
    assert sum("addresses" in line for line in shown) == 2
    assert [len(row.outcomes) for row in past.rows(run(history=shown))] == [1, 1, 1, 2]


def test_a_hundred_runs_of_the_whole_catalog_are_small(tmp_path: Path) -> None:
    _, results = sample.full()
    for number in range(100):
        history.append(
            tmp_path, run(run=f"r{number:03}", started_at=f"2026-11-21T00:{number // 60:02}:{number % 60:02}Z"), results
        )
    assert (tmp_path / "live.jsonl").stat().st_size < 300_000
    assert len(history.load(tmp_path, "live", last=40)) == 40
    assert len(history.shown(tmp_path, "live")[1]) == history.SHOWN


def test_targets_have_histories_of_their_own(tmp_path: Path) -> None:
    history.append(tmp_path, run(target="live"), [result(A)])
    history.append(tmp_path, run(target="../evil/target", run="x"), [result(A)])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evil-target.jsonl", "live.jsonl"]
    assert history.shown(tmp_path, "mock") == (None, ())


def test_a_drift_keeps_the_day_it_began_beyond_the_rows_shown(tmp_path: Path) -> None:
    for day in range(1, 5):
        earlier = tuple(history.load(tmp_path, "live", last=1))
        drifted = [result(A, Outcome.DRIFTED, findings=(finding(),))]
        described = run(run=f"r{day}", started_at=f"2026-11-0{day}T00:00:00Z", today=f"2026-11-0{day}", history=earlier)
        history.append(tmp_path, described, drifted)
    assert history.load(tmp_path, "live")[-1]["drifts"][A]["since"] == "2026-11-01"


def test_a_line_that_a_kill_cut_short_does_not_swallow_the_next(tmp_path: Path) -> None:
    history.append(tmp_path, run(run="r1"), [result(A)])
    path = tmp_path / "live.jsonl"
    path.write_bytes(path.read_bytes() + b'{"run":"r2","tar')
    assert [line["run"] for line in history.load(tmp_path, "live")] == ["r1"]
    history.append(tmp_path, run(run="r3", started_at="2026-11-22T00:00:00Z"), [result(A)])
    assert [line["run"] for line in history.load(tmp_path, "live")] == ["r1", "r3"]


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "live.jsonl").write_text("{}\n")
    with pytest.raises(EvidenceError, match=r"live\.jsonl:1: not a history line"):
        history.load(tmp_path, "live")


def test_a_broken_row_in_a_results_file_is_named() -> None:
    with pytest.raises(EvidenceError, match="history: not a history row"):
        past.rows(run(history=({"run": "r", "cast": "c", "outcomes": "c"},)))


def test_a_run_sees_only_what_began_before_it(tmp_path: Path) -> None:
    for number in range(3):
        history.append(tmp_path, run(run=f"r{number}", started_at=f"2026-11-2{number}T00:00:00Z"), [result(A)])
    previous, lines = history.shown(tmp_path, "live", before="2026-11-22T00:00:00Z")
    assert (previous, [line["run"] for line in lines]) == ("r1", ["r0", "r1"])


def test_a_history_begins_in_a_folder_that_is_made_for_it(tmp_path: Path) -> None:
    assert history.append(tmp_path / "not" / "there", run(), [result(A)]) is True
    assert history.append(tmp_path / "not" / "there", run(), [result(A)]) is False


def test_a_line_is_on_the_disk_when_it_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is flushed late is lost with the machine, and its place is missing in every later strip."""
    held: list[int] = []
    monkeypatch.setattr("os.fsync", lambda file: held.append((tmp_path / "live.jsonl").stat().st_size))
    history.append(tmp_path, run(), [result(A)])
    assert held == [(tmp_path / "live.jsonl").stat().st_size]


def test_what_is_no_discovery_is_not_kept() -> None:
    assert history.discovered([result(A, findings=(finding("status-differs"),))]) == set()


def test_only_the_names_of_what_was_discovered_are_kept() -> None:
    seen = finding("undocumented-header", at="x-new", observed="volatile-1")
    code = finding("undocumented-code", at="type", observed="brand_new_error")
    assert history.discovered([result(A, findings=(seen, code))]) == {
        "pa undocumented-header x-new",
        "pa undocumented-code type brand_new_error",
    }
