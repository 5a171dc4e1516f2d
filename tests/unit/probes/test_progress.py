"""How far a run is: the line in a terminal, the plain lines elsewhere."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.plugin.progress import PLAIN_EVERY_S, Progress, provider_line, status_line
from catalog_probe.probes.running.engine import LaneState
from tests.unit.reports.factories import make_finding, make_result

if TYPE_CHECKING:
    from catalog_probe.probes.plugin.collection.items import Prober

TOTALS = {"pa": 3, "pb": 2}
A = "pa/errors/general/a"


class Screen:
    """What a terminal reporter would have written; `isatty` as given."""

    verbosity = 0
    showfspath = True

    def __init__(self, *, isatty: bool) -> None:
        self.isatty = isatty
        self.lines: list[str] = []

    def rewrite(self, line: str) -> None:
        self.lines.append(f"\r{line.rstrip()}")

    def write_line(self, line: str) -> None:
        self.lines.append(line)

    def ensure_newline(self) -> None: ...

    def flush(self) -> None: ...


class Lanes:
    """Stands in for the prober of a process whose lanes wait."""

    def __init__(self, *lanes: LaneState) -> None:
        self._lanes = [*lanes]

    def list_lanes(self) -> list[LaneState]:
        return self._lanes

    def wait(self, address: str, on_tick: Any) -> None:
        assert address
        for _ in range(3):
            on_tick()


ITEM = cast("pytest.Item", SimpleNamespace(callspec=SimpleNamespace(params={"result": A})))
"""The test item of a record."""


def progress(screen: Screen, *lanes: LaneState, at: list[float] | None = None) -> Progress:
    moments = iter(at) if at else None
    clock = (lambda: next(moments)) if moments else (lambda: 0.0)
    return Progress(cast("pytest.TerminalReporter", screen), TOTALS, cast("Prober", Lanes(*lanes)), clock)


@pytest.fixture(autouse=True)
def terminal_of_60_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")


def test_the_line_says_what_is_done_what_differs_and_what_is_left_of_each_lane() -> None:
    counts = {"pa": Counter({Outcome.CONFORMS: 1, Outcome.DRIFTED: 1}), "pb": Counter({Outcome.FLAKY: 1})}
    lanes = [
        LaneState("pb:inference", 1),
        LaneState("pa:inference", 4),
        LaneState("pa:admin", 2, 11.6),
    ]
    assert status_line(counts, TOTALS, lanes) == (
        "3 of 5 done, 1 drifted, 1 flaky; pa:admin 12 s as asked, pa:inference 4 left, pb:inference 1 left"
    )


def test_of_workers_it_is_known_what_is_left() -> None:
    counts = {"pa": Counter({Outcome.CONFORMS: 1}), "pb": Counter({Outcome.CONFORMS: 2})}
    assert status_line(counts, TOTALS, []) == "3 of 5 done; pa 2 left"


def test_a_terminal_has_one_line_no_longer_than_it_is_wide() -> None:
    screen = Screen(isatty=True)
    lanes = [LaneState(f"pa:role_{number}", 2) for number in range(9)]
    progress_plugin = progress(screen, *lanes, at=[0.0, 1.0, 1.0, 1.05, 2.0, 2.0])
    progress_plugin.pytest_runtest_protocol(ITEM)
    assert len(screen.lines) == 2, "not drawn again within a tenth of a second"
    assert all(line.startswith("\r0 of 5 done; pa:role_0 2 left, ") and len(line) <= 60 for line in screen.lines)
    assert not screen.showfspath


def test_ci_gets_a_plain_line_now_and_then_and_one_for_each_provider() -> None:
    screen = Screen(isatty=False)
    at = [0.0, 1.0, PLAIN_EVERY_S + 1, PLAIN_EVERY_S + 1, PLAIN_EVERY_S + 2, 99.0]
    progress_plugin = progress(screen, LaneState("pa:inference", 5), at=at)
    progress_plugin.pytest_runtest_protocol(ITEM)
    assert screen.lines == ["0 of 5 done; pa:inference 5 left"]
    progress_plugin.add(make_result("pb/errors/general/a"))
    progress_plugin.add(make_result("pb/errors/general/b", Outcome.DRIFTED, findings=(make_finding(),)))
    assert screen.lines[1:] == ["PB  2 done  1 conforms  1 drifted"]
    assert screen.showfspath


@pytest.mark.parametrize("variable", [{"CI": "true"}, {"TERM": "dumb"}])
def test_nothing_is_drawn_over_where_it_would_be_kept(
    monkeypatch: pytest.MonkeyPatch, variable: dict[str, str]
) -> None:
    for name, value in variable.items():
        monkeypatch.setenv(name, value)
    screen = Screen(isatty=True)
    progress(screen).add(make_result(A))
    assert screen.lines == []


def test_the_letters_of_pytest_stand_where_no_line_counts() -> None:
    report = cast("pytest.TestReport", SimpleNamespace(nodeid=f"probes/test_errors.py::test_error[{A}]"))
    for isatty, letter in ((True, ""), (False, ".")):
        hook = progress(Screen(isatty=isatty)).pytest_report_teststatus(report)
        next(hook)
        with pytest.raises(StopIteration) as ended:
            hook.send(("passed", ".", "PASSED"))
        assert ended.value.value[:2] == ("passed", letter)


def test_a_provider_line_counts_what_came_of_its_records() -> None:
    assert provider_line("pa", Counter({Outcome.CONFORMS: 2, Outcome.NOT_PROBED: 1})) == (
        "PA  3 done  2 conforms  1 not probed"
    )
