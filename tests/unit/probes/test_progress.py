"""The progress of a run: one line in a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.plugin.progress import PLAIN_EVERY_S, Progress, provider_line, status_line
from catalog_probe.probes.running.engine import LaneState
from tests.unit.reports.factories import make_finding, make_result

if TYPE_CHECKING:
    from catalog_probe.probes.plugin.items import Prober

TOTALS = {"pa": 3, "pb": 2}
ADDRESS = "pa/errors/general/a"


class Screen:
    """Records what a terminal reporter writes."""

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
    """A prober whose lanes wait."""

    def __init__(self, *lanes: LaneState) -> None:
        self._lanes = [*lanes]

    def list_lanes(self) -> list[LaneState]:
        return self._lanes

    def count_requests(self) -> tuple[int, int]:
        return 0, 0

    def wait(self) -> None:
        for _ in range(3):
            self.on_tick()

    def on_tick(self) -> None: ...


def make_progress(screen: Screen, prober: Lanes | None = None, moments: list[float] | None = None) -> Progress:
    times = iter(moments) if moments else None
    clock = (lambda: next(times)) if times else (lambda: 0.0)
    return Progress(cast("pytest.TerminalReporter", screen), TOTALS, cast("Prober", prober or Lanes()), clock)


@pytest.fixture(autouse=True)
def terminal_of_60_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")


def test_status_line_with_lanes() -> None:
    counts = {"pa": Counter({Outcome.CONFORMS: 1, Outcome.DRIFTED: 1}), "pb": Counter({Outcome.FLAKY: 1})}
    lanes = [
        LaneState("pb:inference", 1),
        LaneState("pa:inference", 4),
        LaneState("pa:admin", 2, 11.6),
    ]
    assert status_line(counts, TOTALS, lanes) == (
        "3 of 5 done, 1 drifted, 1 flaky; pa:admin 12 s as asked, pa:inference 4 left, pb:inference 1 left"
    )


def test_status_line_counts_requests() -> None:
    counts = {"pa": Counter({Outcome.CONFORMS: 1}), "pb": Counter[Outcome]()}
    lanes = [LaneState("pa:inference", 2)]
    assert status_line(counts, TOTALS, lanes, (68, 83)) == "68 of about 83 sent, 1 of 5 done; pa:inference 2 left"


def test_status_line_without_lanes() -> None:
    counts = {"pa": Counter({Outcome.CONFORMS: 1}), "pb": Counter({Outcome.CONFORMS: 2})}
    assert status_line(counts, TOTALS, []) == "3 of 5 done; pa 2 left"


def test_terminal_line_fits_the_width() -> None:
    screen = Screen(isatty=True)
    lanes = [LaneState(f"pa:role_{number}", 2) for number in range(9)]
    prober = Lanes(*lanes)
    make_progress(screen, prober, moments=[0.0, 1.0, 1.0, 1.05, 2.0, 2.0])
    prober.wait()
    assert len(screen.lines) == 2, "not drawn again within a tenth of a second"
    assert all(line.startswith("\r0 of 5 done; pa:role_0 2 left, ") and len(line) <= 60 for line in screen.lines)
    assert not screen.showfspath


def test_ci_gets_plain_lines() -> None:
    screen = Screen(isatty=False)
    moments = [0.0, 1.0, PLAIN_EVERY_S + 1, PLAIN_EVERY_S + 1, PLAIN_EVERY_S + 2, 99.0]
    prober = Lanes(LaneState("pa:inference", 5))
    progress_plugin = make_progress(screen, prober, moments=moments)
    prober.wait()
    assert screen.lines == ["0 of 5 done; pa:inference 5 left"]
    progress_plugin.add(make_result("pb/errors/general/a"))
    progress_plugin.add(make_result("pb/errors/general/b", Outcome.DRIFTED, findings=(make_finding(),)))
    assert screen.lines[1:] == ["PB  2 done  1 conforms  1 drifted"]
    assert screen.showfspath


@pytest.mark.parametrize("variable", [{"CI": "true"}, {"TERM": "dumb"}])
def test_no_terminal_line_in_ci_or_dumb_terminal(monkeypatch: pytest.MonkeyPatch, variable: dict[str, str]) -> None:
    for name, value in variable.items():
        monkeypatch.setenv(name, value)
    screen = Screen(isatty=True)
    make_progress(screen).add(make_result(ADDRESS))
    assert screen.lines == []


def test_pytest_letters_are_shown_only_without_a_terminal_line() -> None:
    report = cast("pytest.TestReport", SimpleNamespace(nodeid=f"probes/test_errors.py::test_error[{ADDRESS}]"))
    for isatty, letter in ((True, ""), (False, ".")):
        hook = make_progress(Screen(isatty=isatty)).pytest_report_teststatus(report)
        next(hook)
        with pytest.raises(StopIteration) as ended:
            hook.send(("passed", ".", "PASSED"))
        assert ended.value.value[:2] == ("passed", letter)


def test_provider_line_counts_outcomes() -> None:
    assert provider_line("pa", Counter({Outcome.CONFORMS: 2, Outcome.NOT_PROBED: 1})) == (
        "PA  3 done  2 conforms  1 not probed"
    )
