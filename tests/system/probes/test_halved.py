"""A mock run of which a second process asks half: what it sees is the same, and whatever becomes of either is told."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog.model import Outcome
from catalog.model.codes import ReasonCode
from catalog.model.exits import Exit
from tests.harness.command import DEADLINE_S, Ran, pytest_probes
from tests.harness.halving import BREAKS
from tests.harness.processes import children, gone, until
from tests.harness.unfinished import reported, started

if TYPE_CHECKING:
    from catalog.evidence.results import Result

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process is copied")

HALVED = ("-p", "tests.harness.halving")
FEW = ("--provider", "pa", "--kind", "endpoints", "-k", "get_")
"""Of three keys; of two each process has more than a second one has seen when it breaks."""


def halved(folder: Path, *arguments: str, breaks: str = "") -> Ran:
    environ = {BREAKS: breaks} if breaks else {}
    return pytest_probes(folder / "out", *HALVED, "-p", "no:randomly", *FEW, *arguments, environ=environ)


def by_the_second(result: Result) -> bool:
    """Whether the second process asked for it: its use of the mock has a name of its own."""
    sent = [each.request.headers.get("x-mock-session", "") for attempt in result.attempts for each in attempt.exchanges]
    return any("/second/" in each for each in sent)


def seen(ran: Ran) -> list[tuple[object, ...]]:
    return [
        (each.record, each.outcome, each.reason, each.findings, each.looks, len(each.attempts)) for each in ran.lines
    ]


def test_two_processes_see_what_one_does(tmp_path: Path) -> None:
    alone = pytest_probes(tmp_path / "alone" / "out", "-p", "no:randomly", *FEW)
    assert not any(map(by_the_second, alone.lines))
    for number, arguments in enumerate([(), ("-s", "--pdb", "--maxfail", "2")]):
        ran = halved(tmp_path / str(number), *arguments)
        assert (ran.status, ran.errors) == (0, alone.errors), ran.said
        assert seen(ran) == seen(alone)
        assert 0 < sum(map(by_the_second, ran.lines)) < len(ran.lines)


@pytest.mark.parametrize(
    ("breaks", "how"),
    [("killed", "was ended by SIGKILL"), ("error", "ended with 1"), ("stopped", "said nothing for 0.5 s")],
)
def test_what_a_lost_process_did_not_say_is_asked_again(tmp_path: Path, breaks: str, how: str) -> None:
    ran = halved(tmp_path, breaks=breaks)
    assert ran.status == 3, ran.said
    assert "worker-lost: the process that asked" in ran.output
    assert how in ran.output
    assert "Traceback" not in ran.said
    results = list(ran.results.values())
    assert {each.record for each in results} == set(ran.run.selected or ())
    assert {each.outcome for each in results} == {Outcome.CONFORMS}
    by_the_lost = sum(map(by_the_second, results))
    assert by_the_lost < len(results) / 2
    assert by_the_lost > 0 or breaks == "stopped", "what is stopped may be given up before it said anything"


def test_where_there_can_be_no_second_one_asks_all(tmp_path: Path) -> None:
    ran = halved(tmp_path, breaks="never")
    assert ran.status == 0, ran.said
    assert not any(map(by_the_second, ran.lines))


def command_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def only_copy(pid: int) -> list[int] | None:
    """The copy of a process, once there is no other: all that it starts is one, until it becomes what it is to be."""
    copies = [each for each in children(pid) if command_of(each) == command_of(pid)]
    return copies if len(copies) == 1 else None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_second_ends_with_the_first(tmp_path: Path, number: signal.Signals) -> None:
    process = started(tmp_path, *HALVED, environ={BREAKS: "waiting"})  # else it may have said all by then
    path = until(lambda: reported(process, tmp_path))
    (second,) = until(lambda: only_copy(process.pid))
    below = children(process.pid)
    if number != signal.SIGKILL:  # a terminal tells all of them
        os.kill(second, number)
    process.send_signal(number)
    output, _ = process.communicate(timeout=DEADLINE_S)
    until(lambda: gone(below))
    if number == signal.SIGKILL:
        return
    assert process.returncode == Exit.BLIND, output
    assert "Traceback" not in output
    assert "worker-lost" not in output
    assert output.count(" passed") == 1
    lines = Ran(process.returncode, output, "", path.parent.parent).lines
    assert any(line.reason and line.reason.code == ReasonCode.LANE_STOPPED for line in lines)
