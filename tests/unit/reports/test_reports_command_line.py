"""`python -m reports`: what it prints, and one clear line for each mistake."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from catalog.model import Outcome, Reason
from catalog.model.look import Look
from catalog.model.standpoint import StandsFor
from reports.__main__ import main
from reports.across.commands import MATRIX, UPGRADE
from tests.harness.checkouts import as_checkout
from tests.unit.reports import sample
from tests.unit.reports.making import finding, result, run

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

EXAMPLES = re.findall(r"^  (python -m reports .*?)(?:  .*)?$", f"{MATRIX}{UPGRADE}", re.M)

SEEN = (Look("", "answer", ("status",)),)
A, B, C = "pa/errors/general/a", "pa/errors/general/b", "pa/errors/general/c"
DRIFT: dict[str, Any] = {"outcome": Outcome.DRIFTED, "findings": (finding(),)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty checkout with one run, which is also the latest."""
    as_checkout(tmp_path, monkeypatch)
    made = sample.write(tmp_path / "reports" / "out" / "r1", run(run="r1"), [result(A), result(B, **DRIFT)])
    (tmp_path / "reports" / "out" / "latest").symlink_to("r1")
    return made


@pytest.mark.parametrize("name", ["latest", "r1", "reports/out/r1", "reports/out/r1/results.jsonl"])
def test_a_run_is_named_in_many_ways(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", name]) == 0
    assert (folder / "report.html").is_file()
    assert capsys.readouterr().out.endswith("report.html\n")


@pytest.mark.usefixtures("folder")
def test_shards_are_merged_where_one_says(tmp_path: Path) -> None:
    sample.write(tmp_path / "r2", run(run="r2", started_at="2026-11-21T05:00:00Z"), [result(C)])
    assert main(["build", "r1", "r2", "--out", "all"]) == 0
    assert (tmp_path / "all" / "junit.xml").is_file()


def test_of_merged_shards_it_says_which_are_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 2, 4):
        described = run(run=f"r{number}", started_at=f"2026-11-21T0{number}:00:00Z", policy={"shard": f"{number}/4"})
        sample.write(tmp_path / described.run, described, [result(C)])
    folders = [str(tmp_path / f"r{number}") for number in (1, 2, 4)]
    assert main(["build", *folders, "--out", str(tmp_path / "all")]) == 0
    said = "shard 3/4 is missing: the verdict speaks of the others alone"
    assert capsys.readouterr().out.splitlines()[:-1] == [said]
    assert "in shard 1/4 + 2/4 + 4/4 alone, without 3/4" in (tmp_path / "all" / "summary.md").read_text()


@pytest.mark.usefixtures("folder")
def test_show_ends_with_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--quiet"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("PA drifts: 1 new cause behind 1 record. 1 of 2 verified")


@pytest.mark.usefixtures("folder")
def test_diff_tells_what_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], snapshot: SnapshotAssertion
) -> None:
    after = [result(A, **DRIFT), result(B, Outcome.INCONCLUSIVE, reason=Reason("read-timeout", "30 s")), result(C)]
    sample.write(tmp_path / "r2", run(run="r2"), after)
    assert main(["diff", "r1", "r2"]) == 1
    assert capsys.readouterr().out == snapshot


@pytest.mark.usefixtures("folder")
def test_diff_of_a_run_with_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "r1", "latest"]) == 0
    assert "No record changed." in capsys.readouterr().out


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
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["build", "nope"],
            "no run 'nope'; give a run's folder, its results.jsonl, or a name under reports/out, such as r1",
        ),
        (["build", "r1", "r1"], "2 runs make one report; say where with --out DIR"),
        (["build", "r1", "--out", "reports/out/r1"], "name another folder"),
        (["build", "reports"], "reports/results.jsonl: No such file or directory; name a run's folder"),
        (["build", "broken"], "broken/results.jsonl: the first line should describe the run"),
        (["open", "r1"], "report.html: is not there; make it with `python -m reports build r1`"),
        (["history", "list", "--target", "mock"], "reports/history/mock.jsonl: no run is remembered"),
        (["matrix", "r1", "latest"], "run 'r1' is given 2 times; give each run once"),
        (["matrix", "nope"], "no run 'nope'"),
        (["matrix"], "the following arguments are required: RUN"),
        (["matrix", "r1", "--query", "seq(conforms"], "'seq(conforms' is not whole; write seq(conforms drifted)"),
        (["matrix", "r1", "--query", "any(nope)"], "any(…): no outcome is called 'nope'"),
        (["matrix", "r1", "--rows", "family"], "invalid choice: 'family'"),
        (["diff", "r1"], "the following arguments are required: RUN_B; see `python -m reports diff --help`"),
        (["nonsense"], "invalid choice: 'nonsense'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_a_mistake_is_one_line(
    tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "results.jsonl").write_text("")
    status = main(arguments)
    out, error = capsys.readouterr()
    assert status == 4
    assert out == ""
    assert said in error
    assert error.count("\n") == 1


def another(tmp_path: Path, name: str, **changes: Any) -> None:
    sample.write(tmp_path / "reports" / "out" / name, run(run=name, **changes), [result(A, **DRIFT), result(B)])


@pytest.mark.usefixtures("folder")
def test_a_matrix_sets_runs_beside_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    another(tmp_path, "r2", target="proxy", stands_for=StandsFor.GATEWAY)
    assert main(["build", "r1"]) == 0
    capsys.readouterr()
    assert main(["matrix", "r1", "r2"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "2 runs differ on 2 of 2 records."
    assert told[2].split() == ["live", "proxy"]
    assert told[3].split() == ["provider", "gateway"]
    assert told[-1].endswith("reports/out/matrix.html")
    drawn = Path(told[-1]).read_text(encoding="utf-8")
    assert '"r1/report.html"' in drawn, "a run's report is linked where it is"
    assert "r2/report.html" not in drawn, "and is not where nobody made it"


@pytest.mark.usefixtures("folder")
def test_a_matrix_answers_queries_over_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    another(tmp_path, "r2")
    assert main(["matrix", "r1", "r2", "--query", "seq(conforms drifted)", "--json"]) == 0
    assert [each["address"] for each in json.loads(capsys.readouterr().out)["records"]] == [A]
    assert main(["matrix", "r1", "r2", "--query", "none(conforms)"]) == 5
    assert "no record fits none(conforms)" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_over_several_runs_runs(tmp_path: Path, example: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("r2", "r3"):
        another(tmp_path, name)
    names = iter(["r1", "r2", "r3"])
    words = [next(names) if word.startswith("RUN") else word for word in shlex.split(example)[3:]]
    assert main(words) in (0, 1, 5), capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_an_upgrade_exits_by_what_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample.write(tmp_path / "reports" / "out" / "same", run(run="same"), [result(A), result(B, **DRIFT)])
    assert main(["upgrade", "r1", "same"]) == 0
    assert "2 records compared: nothing is otherwise." in capsys.readouterr().out
    looks = (Look("", "answer", (), {"status": "422"}),)
    drifted = [result(A, **DRIFT, looks=looks), result(B, **DRIFT)]
    sample.write(tmp_path / "reports" / "out" / "other", run(run="other"), drifted)
    sample.write(tmp_path / "reports" / "out" / "seen", run(run="seen"), [result(A, looks=SEEN), result(B, **DRIFT)])
    assert main(["upgrade", "seen", "other", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["changes"][0]["record"] == A
    lost = [result(A, Outcome.INCONCLUSIVE, reason=Reason("control-failed")), result(B, **DRIFT)]
    sample.write(tmp_path / "reports" / "out" / "lost", run(run="lost"), lost)
    assert main(["upgrade", "r1", "lost"]) == 10
    assert main(["upgrade", "r1", "latest"]) == 4


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "python -m reports build latest" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command", ["build", "show", "diff", "open", "matrix", "upgrade", "feed", "news", "history append", "history list"]
)
def test_the_help_of_a_command_says_what_it_does_and_what_each_word_is(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main([*command.split(), "--help"]) == 0
    usage, *paragraphs = capsys.readouterr().out.strip().split("\n\n")
    assert usage.startswith(f"usage: python -m reports {command}")
    words = [each for paragraph in paragraphs for each in paragraph.splitlines() if each.startswith("  RUN")]
    assert [each for each in words if len(each.split()) < 2] == []
    assert any(not each.startswith(("positional", "options", "  ")) for each in paragraphs)
    assert f"python -m reports {command}" in "".join(paragraphs), "an example"
