"""Processes of a run: what a worker is told, and how each of them ends."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from types import FrameType
from typing import Any, TextIO, cast

import pytest

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.errors import Exit, select_exit
from catalog_probe.catalog.text.output_streams import FailsafeStream
from catalog_probe.catalog.text.readable_text import sanitize_line
from catalog_probe.installation import describe_missing_library

# The key of our entry in the `workerinput` of xdist.
WORKER_INPUT = "catalog_probe"

# Keys of the plain form. The API keys are passed here, because anybody who may read a process reads its environment.
KEYS = "keys"
LOCAL = "local"

Addresses = Mapping[str, Mapping[str, str]]
"""Where the mock serves each provider, as a target names its addresses."""

Values = Mapping[str, Mapping[str, str]]
"""The values that look-ups found, by provider and name."""

Unanswered = Mapping[str, Mapping[str, Reason]]
"""Why values could not be looked up, by provider and name."""


@dataclass(frozen=True, slots=True)
class WorkerInput:
    """The run and what it knows; what takes time is a function."""

    run: str
    addresses: Callable[[], Addresses]
    history: tuple[Mapping[str, Any], ...] = ()
    """The rows of earlier runs."""
    values: Callable[[], Values] = dict
    unanswered: Callable[[], Unanswered] = dict
    whole_groups: bool = True
    """Whether this process gets every item of a group, so that all prefetched results are asked for."""

    def to_worker(self, *, whole_groups: bool, keys: Mapping[str, str], local: bool) -> dict[str, Any]:
        """Return plain values that xdist can send to another process.

        `keys` are by the variables that the target names; `local` says whether the worker is a child of this process.
        """
        return {
            "run": self.run,
            "addresses": {provider: dict(addresses) for provider, addresses in self.addresses().items()},
            "history": list(self.history),
            KEYS: dict(keys),
            LOCAL: local,
            "values": {provider: dict(values) for provider, values in self.values().items()},
            "unanswered": {
                provider: {name: asdict(reason) | {"code": str(reason.code)} for name, reason in reasons.items()}
                for provider, reasons in self.unanswered().items()
            },
            "whole_groups": whole_groups,
        }

    @classmethod
    def from_controller(cls, plain: Mapping[str, Any]) -> WorkerInput:
        """Read what `to_worker` returned."""
        addresses: Addresses = plain["addresses"]
        values: Values = plain["values"]
        unanswered: Unanswered = {
            provider: {name: Reason(**reason) for name, reason in reasons.items()}
            for provider, reasons in plain["unanswered"].items()
        }
        return cls(
            plain["run"],
            lambda: addresses,
            tuple(plain["history"]),
            lambda: values,
            lambda: unanswered,
            plain["whole_groups"],
        )


@contextmanager
def report_missing_libraries() -> Iterator[None]:
    """Turn the failed import of a library inside the block into a usage error.

    Raises:
        UsageError: a library is not installed. A missing module of our own stays an import error.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        description = describe_missing_library(error)
        if not description:
            raise
        raise pytest.UsageError(description) from None


class StdoutGuard:
    """The plugin object that replaces stdout by a stream that never fails."""

    def __init__(self) -> None:
        self.advice = "print it elsewhere"
        self._original = sys.stdout
        self._stream = FailsafeStream(sys.stdout)
        sys.stdout = cast("TextIO", self._stream)
        self._session: pytest.Session | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    def end(self) -> None:
        """Restore stdout.

        If it failed, say so on stderr and change a green exit status: nobody has read the result.

        A closed pipe is no failure: its reader has seen enough.
        """
        self._stream.flush()
        sys.stdout = self._original
        trouble = self._stream.first_error
        if trouble is None or isinstance(trouble, BrokenPipeError):
            return
        stderr = FailsafeStream(sys.stderr)
        stderr.write(f"catalog-probe: stdout: {sanitize_line(str(trouble.strerror or trouble))}; {self.advice}\n")
        stderr.flush()
        if self._session is not None and self._session.exitstatus in tuple(Exit):
            self._session.exitstatus = select_exit({Exit(self._session.exitstatus), Exit.HARNESS_ERROR})


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
    pytest.exit(f"ended by {signal.Signals(number).name}", returncode=pytest.ExitCode.INTERRUPTED)


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
