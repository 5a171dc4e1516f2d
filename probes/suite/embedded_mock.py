"""Runs the mock as a process of its own, so that it can never share the probes' mistakes or their memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from catalog.model.errors import Mendable
from catalog.model.exits import Exit

READY_S = 20.0

_NEEDED = frozenset({"PATH", "HOME", "LANG", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "VIRTUAL_ENV", "LD_LIBRARY_PATH"})
_NEEDED_PREFIXES = ("PYTHON", "LC_", "COV_", "COVERAGE_")
"""What an interpreter needs of the environment, and what follows its coverage; keys are none of it."""


class MockError(Mendable):
    """The mock did not start: one line with its own last words."""

    status = Exit.HARNESS_ERROR


def _needed(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that the mock gets. A target may name any other as a secret, so no other is passed on."""
    return {name: value for name, value in environ.items() if name in _NEEDED or name.startswith(_NEEDED_PREFIXES)}


class EmbeddedMock:
    """The mock on a free port. It is started at once and waited for only when its addresses are asked for."""

    def __init__(self, providers: Iterable[str] = ()) -> None:
        """Start it with these providers only, or with all."""
        only = ",".join(providers)
        command = [sys.executable, "-m", "mockserver", "--port", "0", "--stdin-lifeline"]
        command += ["--only", only] if only else []
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe that nobody reads would stop the mock when full
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**_needed(os.environ), "PYTHONUNBUFFERED": "1"},
        )
        self._ready: dict[str, Any] | None = None

    def addresses(self) -> Mapping[str, Mapping[str, str]]:
        """Where each provider is served, as a target names its addresses.

        Raises:
            MockError: the mock died or said nothing in time.
        """
        if self._ready is None:
            self._ready = self._read_ready_line()
        providers: Mapping[str, Mapping[str, str]] = self._ready["providers"]
        return providers

    def stop(self) -> None:
        """End the process; closing its standard input is its sign to go."""
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                stream.close()
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read_ready_line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        watchdog = threading.Timer(READY_S, self._process.kill)
        watchdog.start()
        try:
            line = self._process.stdout.readline()
        finally:
            watchdog.cancel()
        try:
            ready: dict[str, Any] = json.loads(line)
        except ValueError:
            raise MockError(f"the embedded mock did not start: {self._last_words()}") from None
        return ready

    def _last_words(self) -> str:
        self._process.kill()
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing; try `python -m mockserver`"
