"""Views are built from results.jsonl alone: the same bytes each time, whole or not at all."""

from __future__ import annotations

import errno
import io
import os
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.evidence.merge import merge_runs
from catalog_probe.catalog.evidence.results import Run
from catalog_probe.catalog.evidence.results_file import EvidenceError, read_run
from catalog_probe.catalog.model import Outcome
from catalog_probe.reports import build
from catalog_probe.reports.build import write_views
from tests.harness.sample_report import EXAMPLE
from tests.unit.catalog.catalog_factories import write_run
from tests.unit.reports import sample
from tests.unit.reports.factories import make_finding, make_result, make_run

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Json

A, B = "pa/errors/general/a", "pa/errors/general/b"
VIEWS = ("report.html", "summary.md", "junit.xml")


def test_the_order_of_results_does_not_matter(tmp_path: Path) -> None:
    run, results = sample.make_smaller_run()
    in_order = write_run(tmp_path / "one", run, results)
    shuffled = write_run(tmp_path / "two", run, random.Random(1).sample(results, len(results)))
    build.build(in_order)
    build.build(shuffled)
    for name in VIEWS:
        assert (in_order / name).read_bytes() == (shuffled / name).read_bytes()


def test_a_view_that_cannot_be_made_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_run(tmp_path, make_run(), [make_result(A)])
    build.build(folder)
    before = (folder / "summary.md").read_bytes()

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="No space"):
        build.build(folder)
    assert (folder / "summary.md").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == sorted([*VIEWS, "results.jsonl"])


def test_a_view_is_not_written_through_a_link(tmp_path: Path) -> None:
    folder, elsewhere = write_run(tmp_path / "run", make_run(), [make_result(A)]), tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    (folder / "summary.md").symlink_to(elsewhere)
    (folder / f".summary.md.{os.getpid()}").symlink_to(elsewhere)  # where the view is written before it is whole
    build.build(folder)
    assert elsewhere.read_text() == "mine"
    assert not (folder / "summary.md").is_symlink()


def test_an_empty_run_has_views_too(tmp_path: Path) -> None:
    build.build(write_run(tmp_path, make_run(), []))
    assert "Nothing was probed" in (tmp_path / "summary.md").read_text()


def shards() -> list[tuple[Run, list[Result]]]:
    drifted = make_result(A, Outcome.DRIFTED, findings=(make_finding(),))
    return [
        (make_run(run="r1", started_at="2026-11-21T01:00:00Z", providers=("pa",)), [drifted, make_result(B)]),
        (make_run(run="r2", started_at="2026-11-21T02:00:00Z", providers=("pb",)), [make_result("pb/errors/http/c")]),
        (
            make_run(run="r3", started_at="2026-11-21T03:00:00Z", providers=("pa",)),
            [make_result(A, Outcome.INCONCLUSIVE)],
        ),
    ]


def test_shards_are_one_run_in_any_order() -> None:
    forward, backward = merge_runs(shards()), merge_runs(shards()[::-1])
    assert forward == backward
    run, results = forward
    assert (run.run, run.providers) == ("r1+2", ("pa", "pb"))
    assert [result.record for result in results] == [A, B, "pb/errors/http/c"]
    assert results[0].outcome is Outcome.DRIFTED, "what was seen outweighs what was not"


def test_merged_shards_are_a_run_of_their_own(tmp_path: Path) -> None:
    folders = [write_run(tmp_path / run.run, run, results) for run, results in shards()]
    build.build_merged(folders, tmp_path / "all")
    before = (tmp_path / "all" / "report.html").read_bytes()
    assert len(read_run(tmp_path / "all" / "results.jsonl")[1]) == 3
    build.build(tmp_path / "all")
    assert (tmp_path / "all" / "report.html").read_bytes() == before


def test_traffic_counts_of_shards_are_added() -> None:
    def make_traffic(reasons: dict[str, int], codes: list[str]) -> dict[str, Json]:
        return {"exchanges": 3, "judged": 1, "left_out": reasons, "unrecognised": [{"code": code} for code in codes]}

    runs = [
        make_run(traffic=make_traffic({"a": 1, "b": 1}, ["x"])),
        make_run(run="r2", traffic=make_traffic({"b": 2}, ["y"])),
    ]
    traffic = merge_runs([(run, []) for run in runs])[0].traffic
    assert traffic == {**make_traffic({"b": 3, "a": 1}, ["x", "y"]), "exchanges": 6, "judged": 2}
    assert merge_runs([(make_run(), []), (make_run(run="r2"), [])])[0].traffic is None


def test_a_merge_never_overwrites_its_evidence(tmp_path: Path) -> None:
    folder = write_run(tmp_path, make_run(), [make_result(A)])
    with pytest.raises(EvidenceError, match="name another folder"):
        build.build_merged([folder], Path(f"{folder}/../{folder.name}"))


class Full(io.FileIO):
    """A file on a disk that has room for ten more bytes."""

    def write(self, data: Any, /) -> int:
        """As the operating system does it: a part, and then no more."""
        super().write(bytes(data)[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_unwritten_view_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def open_full(path: Path, mode: str) -> Full:
        return Full(path, mode)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", open_full)
        with pytest.raises(OSError, match="No space left on device") as caught:
            write_views(tmp_path, Run("r", "mock", False, "2026-11-22T00:00:00Z", "2026-11-22"), [])
    assert caught.value.filename == str(tmp_path / "summary.md")
    assert list(tmp_path.iterdir()) == []


def test_the_example_report_is_made_of_its_results(tmp_path: Path) -> None:
    """If it differs, `python -m tests.harness.sample_report` makes the example anew."""
    shutil.copyfile(EXAMPLE / "results.jsonl", tmp_path / "results.jsonl")
    build.build(tmp_path)
    assert (tmp_path / "report.html").read_bytes() == (EXAMPLE / "report.html").read_bytes()
