"""A history's lines as they stand in its file: in order, small, and named where one cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from catalog.evidence.results_file import EvidenceError
from reports import history
from tests.unit.reports.making import finding, result, run

A = "pa/errors/general/a"


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


def test_lines_are_in_the_order_of_their_runs_whatever_order_they_were_written_in(tmp_path: Path) -> None:
    for name, started in (("b", "2026-11-22"), ("a", "2026-11-22"), ("c", "2026-11-21")):
        history.append(tmp_path, run(run=name, started_at=f"{started}T00:00:00Z"), [result(A)])
    assert [line["run"] for line in history.load(tmp_path, "live")] == ["c", "a", "b"]
    assert [line["run"] for line in history.load(tmp_path, "live", last=1)] == ["b"]
    assert all(line["addresses"] == [A] for line in history.load(tmp_path, "live"))


def test_a_line_whose_addresses_nobody_spelt_out_is_left_out(tmp_path: Path) -> None:
    """The run that spelt them out was removed: what the letters mean is not known any more."""
    history.append(tmp_path, run(run="r1"), [result(A)])
    history.append(tmp_path, run(run="r2"), [result(A)])
    path = tmp_path / "live.jsonl"
    path.write_text(path.read_text().splitlines(keepends=True)[1])
    assert history.load(tmp_path, "live") == []


def test_a_line_is_ascii_and_no_wider_than_it_need_be(tmp_path: Path) -> None:
    history.append(tmp_path, run(versions={"x": "y"}), [result(A, findings=(finding("undocumented-header", at="é"),))])
    raw = (tmp_path / "live.jsonl").read_bytes()
    assert raw.isascii()
    assert raw.endswith(b"}\n")
    assert b", " not in raw.replace(b"[", b"").split(b'"seen"')[0]
    assert json.loads(raw)["seen"] == ["pa undocumented-header é"]


@pytest.mark.parametrize("field", ["run", "target", "started_at", "today", "cast", "outcomes"])
def test_a_line_without_a_field_that_it_needs_is_named_by_it(tmp_path: Path, field: str) -> None:
    line = history.row(run(), [result(A)])
    (tmp_path / "live.jsonl").write_text(json.dumps({name: line[name] for name in line if name != field}) + "\n")
    with pytest.raises(EvidenceError, match=rf"live\.jsonl:1: not a history line \(no {field}\); remove it"):
        history.load(tmp_path, "live")


@pytest.mark.parametrize("text", ["[1]\n", "3\n", "not json\n"])
def test_a_line_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "live.jsonl").write_text(text)
    with pytest.raises(EvidenceError, match=r"live\.jsonl:1"):
        history.load(tmp_path, "live")


def test_the_first_field_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "live.jsonl").write_text('{"run": "r", "cast": "c", "started_at": "s"}\n')
    with pytest.raises(EvidenceError, match=r"no outcomes"):
        history.load(tmp_path, "live")


def test_a_history_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "live.jsonl").mkdir()
    with pytest.raises(EvidenceError, match=r"live\.jsonl: cannot be read \(Is a directory\); check the path"):
        history.load(tmp_path, "live")


def test_a_line_of_another_shape_is_told_before_a_run_begins(tmp_path: Path) -> None:
    history.append(tmp_path, run(), [result(A)])
    file = history.file_of(tmp_path, "live")
    [line] = map(json.loads, file.read_text().splitlines())
    file.write_text(json.dumps({**line, "outcomes": 7}) + "\n")
    with pytest.raises(EvidenceError, match=r"live.jsonl:1: not a history line \(/outcomes: .*\); remove it"):
        history.shown(tmp_path, "live")
