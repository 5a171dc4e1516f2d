"""The page of a large run is made by another process, or, whatever becomes of that one, by the run itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from catalog.evidence.results_file import read_run
from probes.suite.embedded_mock import needed
from reports import build, page_process
from reports.page_process import Beside
from tests.harness.command import DEADLINE_S, pytest_probes
from tests.unit.reports import sample


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that is slow the page is waited for as any process is."""
    monkeypatch.setattr(page_process, "DEADLINE_S", DEADLINE_S)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run's folder with results and no views."""
    return sample.write(tmp_path / "run", *sample.some())


@pytest.fixture
def page(tmp_path: Path, folder: Path) -> bytes:
    """What the page of these results is."""
    other = sample.write(tmp_path / "other", *sample.some())
    build.build(other)
    return (other / build.PAGE).read_bytes()


def started(folder: Path) -> Beside:
    made = Beside(folder)
    made.start(needed(os.environ))
    return made


def process(made: Beside) -> subprocess.Popen[bytes]:
    assert made._process is not None
    return made._process


def views_made(folder: Path, made: Beside) -> None:
    build.write_views(folder, *read_run(folder / "results.jsonl"), made.is_made)


def left(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


ALL = {"results.jsonl", "report.html", "summary.md", "junit.xml"}


def test_the_page_is_the_same_and_nothing_is_said(folder: Path, page: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    made = started(folder)
    made.begin()
    assert made.is_made()
    assert (folder / build.PAGE).read_bytes() == page
    assert left(folder) == {"results.jsonl", "report.html"}
    assert capfd.readouterr() == ("", "")


def test_without_a_word_it_ends_and_makes_nothing(folder: Path) -> None:
    made = started(folder)
    made.close()
    assert not made.is_made()
    assert left(folder) == {"results.jsonl"}


def test_one_that_is_not_started_makes_nothing(folder: Path, page: bytes) -> None:
    made = Beside(folder)
    made.begin()
    views_made(folder, made)
    assert (folder / build.PAGE).read_bytes() == page


def test_one_that_cannot_be_started_makes_nothing(folder: Path, page: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(folder / "no-python"))
    made = started(folder)
    made.begin()
    views_made(folder, made)
    assert (folder / build.PAGE).read_bytes() == page


def test_after_one_that_was_killed_the_run_makes_the_page_itself(folder: Path, page: bytes) -> None:
    made = started(folder)
    build.fresh(folder / build.PAGE, process(made).pid).write_text("half a page")
    process(made).kill()
    made.begin()
    views_made(folder, made)
    assert (folder / build.PAGE).read_bytes() == page
    assert left(folder) == ALL


def test_one_that_hangs_is_ended(folder: Path, page: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_process, "DEADLINE_S", 0.1)
    made = started(folder)
    process(made).send_signal(signal.SIGSTOP)
    made.begin()
    views_made(folder, made)
    assert (folder / build.PAGE).read_bytes() == page
    assert left(folder) == ALL
    assert process(made).returncode == -signal.SIGKILL


def test_what_cannot_be_told_is_said_by_the_run(folder: Path) -> None:
    """The other process fails without a word, and who asked finds the same."""
    run, results = read_run(folder / "results.jsonl")
    (folder / "results.jsonl").write_text("no line of a run\n")
    (folder / build.PAGE).mkdir()
    made = started(folder)
    made.begin()
    with pytest.raises(OSError, match=build.PAGE):
        build.write_views(folder, run, results, made.is_made)
    assert left(folder) == ALL


@pytest.mark.parametrize(
    ("records", "cores", "worth"),
    [(page_process.RECORDS, 2, True), (page_process.RECORDS - 1, 2, False), (10_000, 1, False)],
)
def test_a_small_run_and_a_machine_with_one_core_do_without(
    records: int, cores: int, worth: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    assert page_process.is_worth_it(records) is worth


SPY = '''
"""Notes the processes that a run starts, and whether it loads what only a page needs."""

import json, os, sys

started = []
keep = lambda event, arguments: started.append([arguments[1], sorted(arguments[3] or os.environ)])
sys.addaudithook(lambda event, arguments: keep(event, arguments) if event == "subprocess.Popen" else None)
os.sched_getaffinity = lambda _: {0, 1}


def pytest_addoption():
    from reports import page_process
    page_process.RECORDS, page_process.DEADLINE_S = 2, 600


def pytest_unconfigure():
    with open(os.environ["SPIED"], "w") as file:
        json.dump([started, "jinja2" in sys.modules], file)
'''


def test_a_run_has_its_page_made_beside_and_gives_no_key_away(tmp_path: Path) -> None:
    (tmp_path / "spy.py").write_text(SPY)
    spied = tmp_path / "spied.json"
    environ = {"PYTHONPATH": str(tmp_path), "SPIED": str(spied), "OPENAI_API_KEY": "sk-of-somebody-else"}
    environ["PYTHONHASHSEED"] = "random"  # a process of its own: what it imports is looked at
    run = pytest_probes(tmp_path / "out", "-p", "spy", "--provider", "pa", "-k", "429", environ=environ)
    assert run.status == 0, run.said
    processes, is_jinja_loaded = json.loads(spied.read_text())
    (ours,) = ((command, names) for command, names in processes if page_process.__name__ in command)
    assert "OPENAI_API_KEY" not in ours[1]
    assert not is_jinja_loaded
    page = (run.folder / build.PAGE).read_bytes()
    build.build(run.folder)
    assert (run.folder / build.PAGE).read_bytes() == page
