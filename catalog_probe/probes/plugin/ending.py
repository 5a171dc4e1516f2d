"""How a run ends that somebody else ends: by a signal, or by the death of the process that records."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from types import FrameType

import pytest

_Handler = Callable[[int, FrameType | None], object]

LOOKS_S = 0.5
"""How often a worker looks whether the process that records is still there."""

AGAIN_S = 0.001
"""After how long a signal comes again that came where it could not be told of."""

MOST_TIMES = 1_000
"""How often it does: a run must end."""


def report_when_told_to_end() -> None:
    """Let SIGTERM and SIGHUP end the session as Ctrl-C does: with a report of what was seen. A second one kills.

    What somebody else handles or ignores, as `nohup` does, stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number, (usual, ours) in _HANDLERS.items():
        if signal.getsignal(number) is usual:
            signal.signal(number, ours)


def forget() -> None:
    """Leave the signals as they were before."""
    for number, (usual, ours) in _HANDLERS.items():
        if signal.getsignal(number) is ours:
            signal.signal(number, usual)


def end_with_the_controller() -> None:
    """End this worker when its parent is gone: nobody would record what it goes on to send."""
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True, name="watching the controller").start()


def _at_a_line(handle: _Handler) -> _Handler:
    """Let a signal interrupt only what stands in a line of the source; else it comes again in a moment.

    Python makes instructions that stand in no line, and pytest breaks over an exception raised in one of them. To send
    the signal anew from here would be to interrupt this very function, and with it what it has interrupted.
    """

    left = iter(range(MOST_TIMES))

    def handled(number: int, frame: FrameType | None) -> None:
        if any(each.f_lineno is None for each in _stack(frame)) and next(left, None) is not None:
            threading.Timer(AGAIN_S, signal.pthread_kill, (threading.get_ident(), number)).start()
        else:
            handle(number, frame)

    return handled


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _end(number: int, _: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    pytest.exit(f"ended by {signal.Signals(number).name}", returncode=128 + number)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOKS_S)
    os._exit(1)


_told_to_end = _at_a_line(_end)

_HANDLERS: Mapping[signal.Signals, tuple[_Handler | signal.Handlers, _Handler]] = {
    signal.SIGTERM: (signal.SIG_DFL, _told_to_end),
    signal.SIGHUP: (signal.SIG_DFL, _told_to_end),
    signal.SIGINT: (signal.default_int_handler, _at_a_line(signal.default_int_handler)),
}
"""How each is handled where nobody has chosen otherwise, and how a run handles it."""
