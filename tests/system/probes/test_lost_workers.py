"""Runs whose workers are killed name what is missing and are never green."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.completeness import is_unreported
from catalog_probe.catalog.model import Outcome
from tests.harness.command import CommandResult, probe_here, pytest_probes

if TYPE_CHECKING:
    from pathlib import Path

KILLING_PLUGIN = """
import os, signal

done = 0

def pytest_runtest_teardown(item):
    global done
    done += 1
    if "PYTEST_XDIST_WORKER" in os.environ and done == {after} and {again}:
        os.kill(os.getpid(), signal.SIGKILL)
"""
"""Kill a worker in the middle of its items, as the system does for lack of memory."""

SELECTED = ("--provider", "pa", "--kind", "endpoints", "-k", "get_")
"""Only reads, because what a dead worker deleted on the mock is gone for its successor."""


def run_killed(folder: Path, *arguments: str, after: int, again: str = "True") -> CommandResult:
    """Run with workers that are killed at their `after`-th item."""
    (folder / "killed.py").write_text(KILLING_PLUGIN.format(after=after, again=again))
    environ = {"PYTHONPATH": str(folder)}
    return pytest_probes(folder / "out", "-p", "killed", "-p", "no:randomly", *SELECTED, *arguments, environ=environ)


@pytest.mark.parametrize(
    "options", [("-n", "2", "--max-worker-restart", "2"), ("-n", "1", "--max-worker-restart", "0")]
)
def test_a_run_that_lost_its_workers_is_not_green(tmp_path: Path, options: tuple[str, ...]) -> None:
    ran = run_killed(tmp_path, *options, after=2)
    assert ran.status == 3, ran.all_output
    # A worker reports all that it knows, so what it lost depends on how far its probes were when it died.
    lost = [result for result in ran.results.values() if is_unreported(result)]
    assert len(lost) < len(ran.results)
    results = list(ran.results.values())
    assert {result.record for result in results} == set(ran.run.selected)
    assert {result.outcome for result in results if result not in lost} == {Outcome.CONFORMS}
    assert "No drift;" not in ran.output
    assert (f"not-reported ({len(lost)})" in ran.output) == bool(lost)
    assert (f"`not-reported` ({len(lost)})" in (ran.folder / "summary.md").read_text(encoding="utf-8")) == bool(lost)
    assert (ran.folder / "junit.xml").read_text(encoding="utf-8").count('type="not-reported"') == len(lost)


def test_a_replaced_worker_is_reported_and_loses_no_verdict(tmp_path: Path) -> None:
    once = "os.environ['PYTEST_XDIST_WORKER'] == 'gw0'"
    ran = run_killed(tmp_path, "-n", "1", "--max-worker-restart", "1", after=3, again=once)
    assert ran.status == 3, ran.all_output
    assert "worker-lost: worker gw0" in ran.output
    results = list(ran.results.values())
    assert not any(map(is_unreported, results))
    assert {result.record for result in results} == set(ran.run.selected)
    assert {result.outcome for result in results} == {Outcome.CONFORMS}


LAST_WORDS = """
import os, signal
import pytest

def end():
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw0":
        os.kill(os.getpid(), signal.SIGKILL)

@pytest.hookimpl({when}=True)
def {hook}({argument}):
    end()
"""
"""Kill the first worker at one hook."""

KILL = """
import os, signal

def kill(gateway):
    channel = gateway.remote_exec("import os; channel.send(os.getpid())")
    os.kill(channel.receive(), signal.SIGKILL)
    gateway.join()
"""
"""The controller kills a worker and continues once it has noticed."""

AFTERWARDS = f"""{KILL}
def pytest_testnodedown(node, error):
    if node.gateway.id == "gw0":
        node.channel.waitclose()
        kill(node.gateway)
"""
"""Kill the first worker while it waits for the others."""

AT_THE_START = f"""{KILL}
def pytest_configure(config):
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw0":
        os.kill(os.getpid(), signal.SIGKILL)

def pytest_xdist_newgateway(gateway):
    if gateway.id == "{{name}}":
        kill(gateway)
"""
"""Kill the first worker before collection, and another before its first item."""


def run_with_plugin(plugin: str, folder: Path, *arguments: str) -> CommandResult:
    (folder / "killing.py").write_text(plugin)
    chosen = ("-p", "killing", "-p", "no:randomly", *SELECTED, *arguments)
    return pytest_probes(folder / "out", *chosen, environ={"PYTHONPATH": str(folder)})


def lost_worker_lines(ran: CommandResult) -> list[str]:
    return [line for line in ran.output.splitlines() if line.startswith("worker-lost: ")]


@pytest.mark.parametrize(
    ("hook", "argument", "when"),
    [
        ("pytest_configure", "config", "tryfirst"),
        ("pytest_collection_finish", "session", "trylast"),
        ("pytest_sessionfinish", "session", "tryfirst"),
    ],
)
def test_a_worker_is_reported_lost_wherever_it_ends(hook: str, argument: str, when: str, tmp_path: Path) -> None:
    ran = run_with_plugin(LAST_WORDS.format(hook=hook, argument=argument, when=when), tmp_path, "-n", "1")
    assert ran.status == 3, ran.all_output
    assert len(lost_worker_lines(ran)) == 1
    assert "worker gw0" in lost_worker_lines(ran)[0]
    assert "Traceback" not in ran.all_output
    assert set(ran.results) == set(ran.run.selected)
    lost = [result for result in ran.results.values() if result.outcome is not Outcome.CONFORMS]
    # What it was about to send is not sent twice: xdist takes the first item of a dead worker for what killed it.
    assert [result for result in lost if not is_unreported(result)] == []
    assert len(lost) <= (hook == "pytest_collection_finish")


def test_a_worker_that_ends_while_waiting_is_reported_lost(tmp_path: Path) -> None:
    ran = run_with_plugin(AFTERWARDS, tmp_path, "-n", "2")
    assert ran.status == 3, ran.all_output
    assert len(lost_worker_lines(ran)) == 1
    assert lost_worker_lines(ran)[0].startswith("worker-lost: worker gw0: after its last item: ")
    assert {result.outcome for result in ran.results.values()} == {Outcome.CONFORMS}


@pytest.mark.parametrize(
    ("name", "message"), [("gw1", "a worker ended as it started"), ("gw2", "xdist could not go on without it")]
)
def test_a_worker_that_ends_at_its_start_is_reported_in_one_line(name: str, message: str, tmp_path: Path) -> None:
    """The second of two, and the one that takes the place of the first."""
    ran = run_with_plugin(AT_THE_START.format(name=name), tmp_path, "-n", "2")
    assert ran.status == 3, ran.all_output
    assert "Traceback" not in ran.all_output
    assert any(
        line.startswith(("worker-lost: ", "Exit: worker-lost: ")) and message in line
        for line in ran.all_output.splitlines()
    )


def test_selected_records_are_those_of_the_command_line(tmp_path: Path) -> None:
    paths = ("probes/test_endpoints.py::test_endpoint[pa/endpoints/models/list_models]", "probes/test_errors.py")
    ran = probe_here(tmp_path / "out", "--provider", "pa", "-k", "list_models or unknown_model", paths=paths)
    assert ran.status == 0, ran.all_output
    assert ran.run.selected == ("pa/endpoints/models/list_models", "pa/errors/general/unknown_model")
    assert ran.run.expected == ("pa",)
    assert set(ran.results) == set(ran.run.selected)
