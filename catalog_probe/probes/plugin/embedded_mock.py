"""Runs mocks as processes, which share no mistake with the probes."""

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
from catalog_probe.catalog.model.errors import Exit, UserError, display_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

# Seconds that a mock may take to start.
READY_S = 60.0

# Stands for the interpreter that probes, in the command of a manifest.
PYTHON = "{python}"

# The variables that an interpreter needs, and those of coverage. A target may name any other variable as a secret.
_PASSED_ON = frozenset(
    {"PATH", "HOME", "LANG", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "VIRTUAL_ENV", "LD_LIBRARY_PATH"}
)
_PASSED_ON_PREFIXES = ("PYTHON", "LC_", "COV_", "COVERAGE_")


class MockError(UserError):
    """The mock did not start: one line with the last line that it printed."""

    status = Exit.HARNESS_ERROR


class NoMockError(MockError):
    """There is no mock to start, or the command in its manifest cannot be run."""

    status = Exit.USAGE


def select_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a child process gets: no secret is among them."""
    return {
        name: value for name, value in environ.items() if name in _PASSED_ON or name.startswith(_PASSED_ON_PREFIXES)
    }


class EmbeddedMock:
    """The mocks of some providers, on free ports; they start at once.

    Providers whose manifest names a command have a mock of their own; `catalog-probe mock` serves the others.
    """

    def __init__(self, providers: Iterable[str] = (), options: Sequence[str] = ("--port", "0")) -> None:
        """Start the mocks of these providers, or of all that `catalog-probe mock` has, which takes these options.

        Raises:
            NoMockError: the command of a mock cannot be run, or there is none.
        """
        names = tuple(providers)
        commands = {name: manifest(name).mock for name in names if manifest(name).mock}
        shipped = [name for name in names if name not in commands]
        for name in shipped:
            if provider_folder(name) != SHIPPED:
                mend = f"name how it is started under `mock` in {display_path(manifest_file(name))}, or name a --target"
                raise NoMockError(f"{name} has no mock", mend)
        self._own: dict[str, _MockProcess] = {}
        self._shipped: _MockProcess | None = None
        try:
            for name, command in commands.items():
                words = [sys.executable if word == PYTHON else word for word in command]
                self._own[name] = _MockProcess(words, f"the mock of {name}", provider_folder(name).path)
            if shipped or not names:
                command = (sys.executable, "-m", "catalog_probe.mockserver", "--stdin-lifeline", *options)
                selection = ["--only", ",".join(shipped)] if shipped else []
                self._shipped = _MockProcess([*command, *selection], "the embedded mock")
        except MockError:
            self.stop()
            raise

    def addresses(self) -> Mapping[str, Mapping[str, str]]:
        """Return where each provider is served, as a target names its addresses.

        Raises:
            MockError: a mock died or printed nothing in time.
        """
        addresses: dict[str, Mapping[str, str]] = {}
        if self._shipped is not None:
            addresses.update(self._shipped.read_ready_message()["providers"])
        addresses.update({name: mock.read_ready_message() for name, mock in self._own.items()})
        return addresses

    def stop(self) -> None:
        """End the processes."""
        for mock in (*self._own.values(), *([self._shipped] if self._shipped is not None else [])):
            mock.stop()


class _MockProcess:
    """One process that prints, when it is ready, where it listens: one line of JSON."""

    def __init__(self, command: Sequence[str], name: str, folder: Path | None = None) -> None:
        self._name = name
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - a full pipe that nobody reads would stop the mock
        try:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**select_environment(os.environ), "PYTHONUNBUFFERED": "1"},
            )
        except OSError as error:
            self._errors.close()
            mend = "mend `mock.command` in its manifest"
            raise NoMockError(f"{name} cannot be run: {command[0]}: {error.strerror}", mend) from None
        self._ready_message: dict[str, Any] | None = None

    def read_ready_message(self) -> dict[str, Any]:
        """Return what the process printed when it was ready; wait for it the first time."""
        if self._ready_message is None:
            self._ready_message = self._parse_ready_line(self._read_line())
        return self._ready_message

    def stop(self) -> None:
        """End the process. A closed standard input tells it to exit."""
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                stream.close()
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read_line(self) -> bytes:
        assert self._process.stdout is not None
        watchdog = threading.Timer(READY_S, self._process.kill)
        watchdog.start()
        try:
            return self._process.stdout.readline()
        finally:
            watchdog.cancel()
            watchdog.join()

    def _parse_ready_line(self, line: bytes) -> dict[str, Any]:
        try:
            message = json.loads(line)
        except ValueError:
            raise MockError(f"{self._name} did not start: {self._last_error_line()}") from None
        if not isinstance(message, dict):
            mend = 'its first line must be {"base_url": "http://…"}'
            raise MockError(f"{self._name} printed {line[:80]!r}", mend)
        return message

    def _last_error_line(self) -> str:
        self._process.kill()
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it printed nothing; run its command by hand"
