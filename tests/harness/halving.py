"""As a plugin: two processes ask every mock run, however small it is; told so, the second one breaks, or never is."""

from __future__ import annotations

import errno
import os
import signal
from typing import TYPE_CHECKING

from probes.running.engine import Engine
from probes.suite import halved
from reports import page_process
from tests.harness.processes import idle

if TYPE_CHECKING:
    from catalog.evidence.results import Result

BREAKS = "CATALOG_PROBE_TESTS_SECOND"
"""The variable that says how: `killed`, `stopped`, `waiting`, `error` or `never`."""

PATIENCE_S = 0.5
"""So long the run waits for a second process that is stopped; on a busy machine that may be before it is."""

AFTER = 3
"""So many results of its own the second process has by then."""

RUN = os.getpid()

_result = Engine.result
_had: list[str] = []


def _breaking(engine: Engine, address: str) -> Result:
    if os.getpid() != RUN:
        if len(_had) == AFTER:
            if os.environ[BREAKS] == "error":
                raise MemoryError
            if os.environ[BREAKS] == "waiting":
                idle()
            os.kill(os.getpid(), signal.SIGSTOP if os.environ[BREAKS] == "stopped" else signal.SIGKILL)
        _had.append(address)
    return _result(engine, address)


def _no_process() -> int:
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def pytest_configure() -> None:
    """In the run that names this module as its plugin: who imports it for its names is left as it is."""
    page_process.is_worth_it = lambda records: records > 0
    breaks = os.environ.get(BREAKS)
    if breaks is not None:
        Engine.result = _breaking  # type: ignore[assignment,method-assign]
    if breaks == "never":
        os.fork = _no_process
    if breaks == "stopped":
        halved.PATIENCE_S = PATIENCE_S
