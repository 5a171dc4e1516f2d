"""`catalog-probe report`: its output, and one clear line for each mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.cli.report_commands import main
from tests.harness.checkouts import use_as_checkout
from tests.unit.catalog.catalog_factories import write_run
from tests.unit.reports.factories import make_finding, make_result, make_run

if TYPE_CHECKING:
    from pathlib import Path

A, B, C, D = (f"pa/errors/general/{name}" for name in "abcd")
TIMEOUT = Reason("read-timeout", "30 s")
DRIFT: dict[str, Any] = {"outcome": Outcome.DRIFTED, "findings": (make_finding(),)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty checkout with one run, which is also the latest."""
    use_as_checkout(tmp_path, monkeypatch)
    run_folder = write_run(
        tmp_path / "reports" / "out" / "r1", make_run(run="r1"), [make_result(A), make_result(B, **DRIFT)]
    )
    (tmp_path / "reports" / "out" / "latest").symlink_to("r1")
    return run_folder


def test_a_run_is_named_in_many_ways(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ["latest", "r1", "reports/out/r1", "reports/out/r1/results.jsonl"]:
        assert main(["build", name]) == 0
        assert (folder / "report.html").is_file(), name
        assert capsys.readouterr().out.endswith("report.html\n"), name
        (folder / "report.html").unlink()


@pytest.mark.usefixtures("folder")
def test_shards_are_merged_into_the_named_folder(tmp_path: Path) -> None:
    write_run(tmp_path / "r2", make_run(run="r2", started_at="2026-11-21T05:00:00Z"), [make_result(C)])
    assert main(["build", "r1", "r2", "--out", "all"]) == 0
    assert (tmp_path / "all" / "junit.xml").is_file()


def test_merging_names_missing_shards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 2, 4):
        described = make_run(
            run=f"r{number}", started_at=f"2026-11-21T0{number}:00:00Z", policy={"shard": f"{number}/4"}
        )
        write_run(tmp_path / described.run, described, [make_result(C)])
    folders = [str(tmp_path / f"r{number}") for number in (1, 2, 4)]
    assert main(["build", *folders, "--out", str(tmp_path / "all")]) == 0
    warning = "shard 3/4 is missing: the verdict speaks of the others alone"
    assert capsys.readouterr().out.splitlines()[:-1] == [warning]
    assert "in shard 1/4 + 2/4 + 4/4 alone, without 3/4" in (tmp_path / "all" / "summary.md").read_text()


@pytest.mark.usefixtures("folder")
def test_show_ends_with_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--quiet"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert words.endswith(
        "PA drifts: 1 new cause behind 1 record. 2 of 2 records that your keys reach were observed, "
        "oldest evidence today."
    )


@pytest.mark.usefixtures("folder")
def test_diff_names_the_outcomes_and_assertions_that_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An assertion that one of the runs did not observe is no difference; on several endpoints it is one."""
    matched = tuple(Observation(endpoint, "answer", ("status", "type")) for endpoint in ("e1", "e2"))
    before = [make_result(A, observations=matched), make_result(B, **DRIFT), make_result(D)]
    changed = tuple(Observation(endpoint, "answer", (), {"status": "422"}) for endpoint in ("e1", "e2"))
    after = [
        make_result(A, **DRIFT, observations=changed),
        make_result(B, Outcome.INCONCLUSIVE, reason=TIMEOUT),
        make_result(C),
    ]
    for name, results in (("before", before), ("after", after)):
        write_run(tmp_path / "reports" / "out" / name, make_run(run=name), results)
    assert main(["diff", "before", "after"]) == 1
    assert (
        capsys.readouterr().out
        == f"""\
before (live, 2026-11-21) -> after (live, 2026-11-21)

Other outcome (2)
  {A} conforms -> drifted: status: documented 400, observed 422
  {B} drifted -> inconclusive: read-timeout 30 s

Assertions with another observation (1)
  {A}#answer/status on 2 endpoints: matched -> 422

Only in the first (1)
  {D}

Only in the second (1)
  {C}
"""
    )


@pytest.mark.usefixtures("folder")
def test_a_run_does_not_differ_from_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "r1", "latest"]) == 0
    assert capsys.readouterr().out == "nothing differs\n"


@pytest.mark.usefixtures("folder")
def test_history_remembers_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "append", "latest"]) == 0
    assert main(["history", "append", "latest"]) == 0
    assert main(["history", "list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "reports/history/live.jsonl: r1 added",
        "reports/history/live.jsonl: r1 was there already",
        "2026-11-21  r1  1 conforms, 1 drifted",
    ]


@pytest.mark.usefixtures("folder")
def test_a_mistake_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases: list[tuple[list[str], str]] = [
        (
            ["build", "nope"],
            "no run 'nope'; give a run's folder, its results.jsonl, or a name under reports/out, such as r1",
        ),
        (["build", "r1", "r1"], "2 runs make one report; say where with --out DIR"),
        (["build", "r1", "--out", "reports/out/r1"], "name another folder"),
        (["build", "reports"], "reports/results.jsonl: No such file or directory; name a run's folder"),
        (["build", "broken"], "broken/results.jsonl: the first line should describe the run"),
        (["open", "r1"], "report.html: is not there; make it with `catalog-probe report build r1`"),
        (["history", "list", "--target", "mock"], "reports/history/mock.jsonl: the history has no run"),
        (["diff", "r1"], "the following arguments are required: RUN_B; see `catalog-probe report diff --help`"),
        (["nonsense"], "invalid choice: 'nonsense'"),
        ([], "the following arguments are required: COMMAND"),
    ]
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "results.jsonl").write_text("")
    for arguments, message in cases:
        status = main(arguments)
        out, error = capsys.readouterr()
        assert status == 4, arguments
        assert out == "", arguments
        assert message in error, arguments
        assert error.count("\n") == 1, arguments
