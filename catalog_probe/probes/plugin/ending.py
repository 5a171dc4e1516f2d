"""Ends a run from outside: by a signal, or when the controller dies."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from types import FrameType

import pytest

_Handler = Callable[[int, FrameType | None], object]

# Seconds between two checks of a worker whether the controller is alive.
POLL_S = 0.5

# Seconds after which a signal is sent again that came where it could not be handled.
RESEND_S = 0.001

# How often it is sent again at most: a run must end.
MAX_RESENDS = 1_000


def handle_signals() -> None:
    """Let SIGTERM and SIGHUP end the session with a report, as Ctrl-C does.

    A second signal kills.

    A signal that somebody else handles or ignores, as `nohup` does, is left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number, (default, handler) in _HANDLERS.items():
        if signal.getsignal(number) is default:
            signal.signal(number, handler)


def restore_signals() -> None:
    """Undo `handle_signals`."""
    for number, (default, handler) in _HANDLERS.items():
        if signal.getsignal(number) is handler:
            signal.signal(number, default)


def exit_with_parent() -> None:
    """End this worker when its parent dies: nobody would record its results."""
    threading.Thread(target=_watch_parent, args=(os.getppid(),), daemon=True, name="watching the controller").start()


def _interrupt_at_line(handler: _Handler) -> _Handler:
    """Wrap a handler so that it only runs between lines of source.

    Elsewhere the signal is sent again a moment later.

    Python makes instructions that belong to no line, and pytest breaks over an exception raised in one of them. The
    signal is sent by a timer, because sending it from here would interrupt this function in the same place.
    """
    resends = iter(range(MAX_RESENDS))

    def handle(number: int, frame: FrameType | None) -> None:
        is_outside_line = any(caller.f_lineno is None for caller in _stack(frame))
        if is_outside_line and next(resends, None) is not None:
            threading.Timer(RESEND_S, signal.pthread_kill, (threading.get_ident(), number)).start()
        else:
            handler(number, frame)

    return handle


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _end_session(number: int, _: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    pytest.exit(f"ended by {signal.Signals(number).name}", returncode=128 + number)


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL_S)
    os._exit(1)


_end_at_line = _interrupt_at_line(_end_session)

# The default handler of each signal, and the one of a run.
_HANDLERS: Mapping[signal.Signals, tuple[_Handler | signal.Handlers, _Handler]] = {
    signal.SIGTERM: (signal.SIG_DFL, _end_at_line),
    signal.SIGHUP: (signal.SIG_DFL, _end_at_line),
    signal.SIGINT: (signal.default_int_handler, _interrupt_at_line(signal.default_int_handler)),
}
