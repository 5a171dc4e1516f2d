"""The history file: sorted, small, and unreadable lines are named."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.evidence.results_file import EvidenceError
from catalog_probe.reports.history.history_file import (
    MAX_DAMAGE_NOTES,
    append_to_history,
    load_history,
    load_shown_history,
)
from tests.unit.reports.factories import make_finding, make_result, make_run

if TYPE_CHECKING:
    from pathlib import Path

A = "pa/errors/general/a"
DRIFT = {"since": "2026-11-01", "differs": ["answer/status 422"], "causes": ["pa-00000000"]}


def test_a_line_that_a_kill_cut_short_does_not_swallow_the_next(tmp_path: Path) -> None:
    append_to_history(tmp_path, make_run(run="r1"), [make_result(A)])
    path = tmp_path / "live.jsonl"
    path.write_bytes(path.read_bytes() + b'{"run":"r2","tar')
    assert [line["run"] for line in load_history(tmp_path, "live")] == ["r1"]
    append_to_history(tmp_path, make_run(run="r3", started_at="2026-11-22T00:00:00Z"), [make_result(A)])
    assert [line["run"] for line in load_history(tmp_path, "live")] == ["r1", "r3"]
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    append_to_history(tmp_path, make_run(run="r4", started_at="2026-11-23T00:00:00Z"), [make_result(A)])
    assert [line["run"] for line in load_history(tmp_path, "live")] == ["r1", "r3", "r4"], "one without an end is whole"


def test_lines_are_sorted_by_run(tmp_path: Path) -> None:
    for name, started in (("b", "2026-11-22"), ("a", "2026-11-22"), ("c", "2026-11-21")):
        append_to_history(tmp_path, make_run(run=name, started_at=f"{started}T00:00:00Z"), [make_result(A)])
    assert [line["run"] for line in load_history(tmp_path, "live")] == ["c", "a", "b"]
    assert all(line["addresses"] == [A] for line in load_history(tmp_path, "live"))


def test_lines_whose_addresses_only_a_damaged_line_spelt_out_are_read_again_after_the_next_run(tmp_path: Path) -> None:
    for name in ("r1", "r2"):
        append_to_history(tmp_path, make_run(run=name), [make_result(A)])
    path = tmp_path / "live.jsonl"
    path.write_text("{}\n" + path.read_text().splitlines(keepends=True)[1])
    damaged: list[str] = []
    assert load_history(tmp_path, "live", damage_notes=damaged) == []
    assert [re.sub(r"\A.*live\.jsonl:", "", line) for line in damaged] == [
        "1: not a history line that can be read (no address_set); it is skipped",
        "2: not a history line that can be read (no other line spells out its addresses); it is skipped",
    ]
    append_to_history(tmp_path, make_run(run="r3"), [make_result(A)])
    assert [line["run"] for line in load_history(tmp_path, "live")] == ["r2", "r3"]


def test_a_line_is_ascii_and_no_wider_than_it_need_be(tmp_path: Path) -> None:
    append_to_history(
        tmp_path,
        make_run(versions={"x": "y"}),
        [make_result(A, findings=(make_finding("undocumented-header", location="é"),))],
    )
    raw = (tmp_path / "live.jsonl").read_bytes()
    assert raw.isascii()
    assert raw.endswith(b"}\n")
    assert b", " not in raw.replace(b"[", b"").split(b'"discovered"')[0]
    assert json.loads(raw)["discovered"] == ["pa undocumented-header é"]


def test_a_damaged_line_is_named_kept_and_skipped(tmp_path: Path) -> None:
    """Its neighbours are read, and a run is added: else one line would blind every night after it."""
    cases: list[tuple[Any, str]] = [
        ('{"run": "r", "address_set": "c", "started_at": "s"}', "no outcomes"),
        *(
            (field, f"no {field}")
            for field in ("schema_version", "run", "target", "started_at", "today", "address_set", "outcomes")
        ),
        ("[1]", "no address_set"),
        ("not json", "broken JSON"),
        (b"\xff\xfe", "it is not UTF-8"),
        ({"outcomes": 7}, "/outcomes: should be of type string"),
        ({"outcomes": "cc"}, "2 outcomes of 1 addresses"),
        ({"outcomes": "z"}, "an outcome that this version does not know"),
        ({"today": "2026-02-30"}, "/today: should be a day of the calendar"),
        ({"drifts": {A: {**DRIFT, "on": 3}}}, f"/drifts/{A}/on: should be of type array"),
        ({"drifts": {A: {"since": "2026-11-01"}}}, f"/drifts/{A}/differs: is missing"),
        ({"drifts": {A: {**DRIFT, "codes": []}}}, f"/drifts/{A}/codes: "),
        ({"schema_version": 2}, "/schema_version: should be no more than 1"),
    ]
    for damage, problem in cases:
        path = tmp_path / "live.jsonl"
        path.unlink(missing_ok=True)
        for name, started in (("r1", "2026-11-19"), ("r2", "2026-11-20")):
            append_to_history(tmp_path, make_run(run=name, started_at=f"{started}T00:00:00Z"), [make_result(A)])
        first, second = path.read_bytes().splitlines(keepends=True)
        sound = load_history(tmp_path, "live")[0]
        if isinstance(damage, dict):
            damage = json.dumps({**sound, "run": "bad", **damage})
        elif damage in sound:
            damage = json.dumps({name: sound[name] for name in sound if name != damage})
        raw = (damage if isinstance(damage, bytes) else damage.encode()) + b"\n"
        path.write_bytes(first + raw + second)
        damaged: list[str] = []
        assert append_to_history(tmp_path, make_run(run="r3"), [make_result(A)], damaged), damage
        [damaged_line] = damaged
        assert "live.jsonl:2: " in damaged_line, damage
        assert problem in damaged_line, damage
        assert "it is skipped" in damaged_line, damage
        assert [line["run"] for line in load_history(tmp_path, "live")] == ["r1", "r2", "r3"], damage
        assert path.read_bytes().startswith(first + raw + second), damage


def test_of_many_damaged_lines_some_are_named_and_all_are_counted(tmp_path: Path) -> None:
    (tmp_path / "live.jsonl").write_text("{}\n" * 4000)
    damaged: list[str] = []
    assert load_shown_history(tmp_path, "live", damage_notes=damaged) == (None, ())
    assert damaged[MAX_DAMAGE_NOTES:] == ["3990 more damaged lines of the history are skipped"]


def test_an_unreadable_history_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "live.jsonl").mkdir()
    with pytest.raises(EvidenceError, match=r"live\.jsonl: cannot be read \(Is a directory\); check the path"):
        load_history(tmp_path, "live")


def test_a_link_in_place_of_a_history_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("")
    (tmp_path / "live.jsonl").symlink_to(elsewhere)
    with pytest.raises(EvidenceError, match="it is a link, and a link is not followed"):
        append_to_history(tmp_path, make_run(), [make_result(A)])
    assert elsewhere.read_text() == ""
