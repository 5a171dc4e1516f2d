"""How a run ends that somebody else ends: by a signal, or by the death of the process that records."""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType

import pytest

LOOKS_S = 0.5
"""How often a worker looks whether the process that records is still there."""


def report_when_told_to_end() -> None:
    """Let SIGTERM and SIGHUP end the session as Ctrl-C does: with a report of what was seen. A second one kills.

    What somebody else handles or ignores, as `nohup` does, stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def forget() -> None:
    """Leave the signals as they were before."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is _end:
            signal.signal(number, signal.SIG_DFL)


def end_with_the_controller() -> None:
    """End this worker when its parent is gone: nobody would record what it goes on to send."""
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True, name="watching the controller").start()


def _end(number: int, _: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    pytest.exit(f"ended by {signal.Signals(number).name}", returncode=128 + number)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOKS_S)
    os._exit(1)
