"""Lets a run go on after its stdout fails, and reports that at the end."""

from __future__ import annotations

import sys
from typing import TextIO, cast

import pytest

from catalog_probe.catalog.model.errors import Exit, select_exit
from catalog_probe.catalog.text.output_streams import FailsafeStream
from catalog_probe.catalog.text.readable_text import sanitize_line


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
