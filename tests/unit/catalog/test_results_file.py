"""results.jsonl after a kill at any moment: every complete line is read."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.results_file import RESULTS_FILE, EvidenceError, ResultsWriter, read_run
from catalog_probe.catalog.model import Attempt, Outcome
from catalog_probe.reports import build
from tests.unit.reports.factories import make_answer, make_exchange, make_finding, make_result, make_run

if TYPE_CHECKING:
    from pathlib import Path

RUN = make_run()
RESULTS_OF_A_RUN = (
    make_result("pa/errors/general/overloaded"),
    make_result(
        "pa/errors/general/api_error",
        attempts=[
            Attempt("2026-11-21T04:05:00Z", 40.0, (make_exchange(response=make_answer(500, "api_error", "é \ud83d")),))
        ],
    ),
    make_result("pd/errors/rate_limit/key_cap", Outcome.DRIFTED, findings=[make_finding("header-missing")]),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "results.jsonl"
    with ResultsWriter(path, RUN) as writer:
        for result in RESULTS_OF_A_RUN:
            writer.append(result.to_json())
    return path


def test_written_results_are_read_back(path: Path) -> None:
    assert read_run(path) == (RUN, [Result.from_json(result.to_json()) for result in RESULTS_OF_A_RUN])


def test_a_writer_replaces_the_file_and_makes_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / RESULTS_FILE
    for results in (RESULTS_OF_A_RUN, RESULTS_OF_A_RUN[:1]):
        with ResultsWriter(path, RUN) as writer:
            for result in results:
                writer.append(result.to_json())
        assert len(read_run(path)[1]) == len(results)
    assert path.name == "results.jsonl"
    assert not path.stat().st_mode & 0o111
    first, *result_lines = path.read_text(encoding="utf-8").splitlines()
    assert first == json.dumps(RUN.to_json(), ensure_ascii=False, separators=(",", ":"))
    assert len(result_lines) == 1


def test_a_file_is_closed_once_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed, close = list[int](), os.close

    def record_close(descriptor: int) -> None:
        closed.append(descriptor)
        close(descriptor)

    monkeypatch.setattr(os, "close", record_close)
    with ResultsWriter(tmp_path / RESULTS_FILE, RUN):
        assert closed == []
    assert len(closed) == 1


def test_only_the_lines_of_another_process_are_held_to_the_schema(path: Path) -> None:
    path.write_text(path.read_text().replace('"lane":""', '"lane":7'))
    with pytest.raises(EvidenceError, match="/lane: should be of type string"):
        read_run(path)
    lanes: list[object] = [result.lane for result in read_run(path, is_ours=True)[1]]
    assert 7 in lanes


def test_every_complete_line_of_a_cut_file_is_read(path: Path) -> None:
    """Cut at each end of a line, and within the lines; `test_json_lines` cuts at every byte."""
    raw = path.read_bytes()
    (_, all_results), lines = read_run(path), raw.splitlines(keepends=True)
    ends = [sum(map(len, lines[:count])) for count in range(1, len(lines) + 1)]
    sizes = {0, *range(1, len(raw), 151), *(end + offset for end in ends for offset in (-2, -1, 0, 1))}
    for size in sorted(sizes & {*range(len(raw) + 1)}, reverse=True):
        os.truncate(path, size)
        # A line that lost only its line break has lost nothing.
        complete = sum(size >= end - 1 for end in ends)
        if complete == 0:
            with pytest.raises(EvidenceError, match="the first line should describe the run"):
                read_run(path)
        else:
            assert read_run(path) == (RUN, all_results[: complete - 1]), size


@pytest.mark.parametrize("lost", [1, 40])
def test_a_report_is_built_from_a_cut_file(path: Path, lost: int) -> None:
    path.write_bytes(path.read_bytes()[:-lost])
    build.build(path.parent)
    page = (path.parent / "report.html").read_text(encoding="utf-8")
    assert str(RESULTS_OF_A_RUN[0].record) in page


def test_an_unreadable_file_is_an_error_of_one_line(path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"No such file or directory; name a run's folder or its results\.jsonl$"):
        read_run(path.with_name("none"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join((*lines[:2], b"{\n", *lines[2:])))
    with pytest.raises(EvidenceError, match=rf"{path.name}:3: "):
        read_run(path)


def test_a_link_in_place_of_results_is_not_followed(path: Path) -> None:
    link, before = path.with_name("other.jsonl"), path.read_bytes()
    link.symlink_to(path)
    with pytest.raises(EvidenceError, match="it is a link, and a link is not followed"):
        read_run(link)
    with pytest.raises(OSError, match="it is a link"):
        ResultsWriter(link, RUN)
    assert path.read_bytes() == before
