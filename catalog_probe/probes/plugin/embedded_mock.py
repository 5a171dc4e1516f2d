"""Runs mocks, ours or a home's, as processes of their own: they never share the probes' mistakes or their memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.files.manifest import manifest, manifest_file, provider_folder
from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.catalog.model.errors import UserError, display_path
from catalog_probe.catalog.model.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

READY_S = 60.0

PYTHON = "{python}"
"""In the command of a manifest, the interpreter that probes."""

_NEEDED = frozenset({"PATH", "HOME", "LANG", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "VIRTUAL_ENV", "LD_LIBRARY_PATH"})
_NEEDED_PREFIXES = ("PYTHON", "LC_", "COV_", "COVERAGE_")
"""What an interpreter needs of the environment, and what follows its coverage; keys are none of it."""


class MockError(UserError):
    """The mock did not start: one line with its own last words."""

    status = Exit.HARNESS_ERROR


class NoMockError(MockError):
    """There is no mock to start, or its manifest names none that can be run."""

    status = Exit.USAGE


def needed(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that a process of ours gets. A target may name any other as a secret, so no other is passed on."""
    return {name: value for name, value in environ.items() if name in _NEEDED or name.startswith(_NEEDED_PREFIXES)}


class EmbeddedMock:
    """The mocks of some providers, on free ports. They are started at once, and waited for when asked where they are.

    Those whose manifest names a command have a mock of their own; `catalog-probe mock` serves the others.
    """

    def __init__(self, providers: Iterable[str] = ()) -> None:
        """Start them with these providers only, or with all that `catalog-probe mock` has.

        Raises:
            NoMockError: the command of one cannot be run, or there is none.
        """
        wanted = tuple(providers)
        own = {name: manifest(name).mock for name in wanted if manifest(name).mock}
        ours = [name for name in wanted if name not in own]
        for name in ours:
            if provider_folder(name) != SHIPPED:
                mend = f"name how it is started under `mock` in {display_path(manifest_file(name))}, or name a --target"
                raise NoMockError(f"{name} has no mock", mend)
        self._own: dict[str, _Served] = {}
        self._ours: _Served | None = None
        try:
            for name, command in own.items():
                words = [sys.executable if word == PYTHON else word for word in command]
                self._own[name] = _Served(words, f"the mock of {name}", provider_folder(name).path)
            if ours or not wanted:
                command = (sys.executable, "-m", "catalog_probe.mockserver", "--port", "0", "--stdin-lifeline")
                self._ours = _Served([*command, *(["--only", ",".join(ours)] if ours else [])], "the embedded mock")
        except MockError:
            self.stop()
            raise

    def addresses(self) -> Mapping[str, Mapping[str, str]]:
        """Where each provider is served, as a target names its addresses.

        Raises:
            MockError: a mock died or said nothing in time.
        """
        found: dict[str, Mapping[str, str]] = {} if self._ours is None else dict(self._ours.ready()["providers"])
        return {**found, **{name: mock.ready() for name, mock in self._own.items()}}

    def stop(self) -> None:
        """End the processes."""
        for mock in (*self._own.values(), *([self._ours] if self._ours is not None else [])):
            mock.stop()


class _Served:
    """One process that says in a line of JSON where it listens, once it does."""

    def __init__(self, command: Sequence[str], name: str, folder: Path | None = None) -> None:
        self._name = name
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe that nobody reads would stop the mock when full
        try:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**needed(os.environ), "PYTHONUNBUFFERED": "1"},
            )
        except OSError as error:
            self._errors.close()
            mend = "mend `mock.command` in its manifest"
            raise NoMockError(f"{name} cannot be run: {command[0]}: {error.strerror}", mend) from None
        self._ready: dict[str, Any] | None = None

    def ready(self) -> dict[str, Any]:
        """What it said when it was ready."""
        if self._ready is None:
            self._ready = self._read_ready_line()
        return self._ready

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
            watchdog.join()
        try:
            ready = json.loads(line)
        except ValueError:
            raise MockError(f"{self._name} did not start: {self._last_words()}") from None
        if not isinstance(ready, dict):
            raise MockError(f"{self._name} said {line[:80]!r}", 'its first line should be {"base_url": "http://…"}')
        return ready

    def _last_words(self) -> str:
        self._process.kill()
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing; try its command by hand"
