"""A run that is told to end does so where pytest can tell of it."""

from __future__ import annotations

import signal
from types import FunctionType
from typing import TYPE_CHECKING

import pytest

from catalog_probe.probes.plugin import ending
from tests.harness.processes import wait_for_signal

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def handled() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ending.handle_signals()
    yield
    ending.restore_signals()
    for number, handler in before.items():
        signal.signal(number, handler)


def nowhere(number: signal.Signals, deferred: list[bool]) -> None:
    """What no instruction of stands in a line, once that is taken from it."""
    signal.raise_signal(number)
    deferred.append(True)


def told_to_end(number: signal.Signals, deferred: list[bool]) -> None:
    FunctionType(nowhere.__code__.replace(co_linetable=b""), globals())(number, deferred)
    wait_for_signal()


@pytest.mark.usefixtures("handled")
@pytest.mark.parametrize(
    ("number", "ends"),
    [
        (signal.SIGTERM, pytest.exit.Exception),
        (signal.SIGHUP, pytest.exit.Exception),
        (signal.SIGINT, KeyboardInterrupt),
    ],
)
def test_it_ends_at_a_line_of_the_source(number: signal.Signals, ends: type[BaseException]) -> None:
    deferred: list[bool] = []
    with pytest.raises(ends) as told:
        told_to_end(number, deferred)
    assert deferred, "what stands in no line is not interrupted"
    assert "told_to_end" in str(told.getrepr(funcargs=True))


@pytest.mark.usefixtures("handled")
def test_a_second_signal_kills_and_what_another_handles_stays() -> None:
    with pytest.raises(pytest.exit.Exception, match="ended by SIGTERM") as told:
        signal.raise_signal(signal.SIGTERM)
    assert told.value.returncode == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    ending.handle_signals()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    ending.restore_signals()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
