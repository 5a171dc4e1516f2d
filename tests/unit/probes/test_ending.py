"""Ending a run by a signal, at a line that pytest can report."""

from __future__ import annotations

import signal
from types import FunctionType
from typing import TYPE_CHECKING

import pytest

from catalog_probe.probes.plugin import processes
from tests.harness.processes import wait_for_signal

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def signal_handling() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    processes.handle_signals()
    yield
    processes.restore_signals()
    for number, handler in before.items():
        signal.signal(number, handler)


def raise_in_no_line(number: signal.Signals, deferred: list[bool]) -> None:
    """Raise a signal; the caller strips the line table of this code."""
    signal.raise_signal(number)
    deferred.append(True)


def end_outside_of_lines(number: signal.Signals, deferred: list[bool]) -> None:
    FunctionType(raise_in_no_line.__code__.replace(co_linetable=b""), globals())(number, deferred)
    wait_for_signal()


@pytest.mark.usefixtures("signal_handling")
def test_run_ends_at_a_line_of_the_source(subtests: pytest.Subtests) -> None:
    cases: list[tuple[signal.Signals, type[BaseException]]] = [
        (signal.SIGTERM, pytest.exit.Exception),
        (signal.SIGHUP, pytest.exit.Exception),
        (signal.SIGINT, KeyboardInterrupt),
    ]
    for number, ends in cases:
        with subtests.test(number=number):
            deferred: list[bool] = []
            with pytest.raises(ends) as error:
                end_outside_of_lines(number, deferred)
            assert deferred, "what stands in no line is not interrupted"
            assert "end_outside_of_lines" in str(error.getrepr(funcargs=True))


@pytest.mark.usefixtures("signal_handling")
def test_second_signal_kills_and_foreign_handlers_stay() -> None:
    with pytest.raises(pytest.exit.Exception, match="ended by SIGTERM") as error:
        signal.raise_signal(signal.SIGTERM)
    assert error.value.returncode == pytest.ExitCode.INTERRUPTED, "so that pytest prints the summary"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    processes.handle_signals()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    processes.restore_signals()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
