"""A run goes on where its stdout takes no more, for what it sees is in its folder; at the end that is told."""

from __future__ import annotations

import sys
from typing import TextIO, cast

import pytest

from catalog_probe.catalog.model.exits import Exit, select_exit
from catalog_probe.catalog.text.output_streams import FailsafeStream
from catalog_probe.catalog.text.sanitizing import sanitize_line


class Speaker:
    """The plugin object by which pytest prints to a stream that never fails, from here to the end of the session."""

    def __init__(self) -> None:
        self.mend = "print it elsewhere"
        self._before = sys.stdout
        self._said = FailsafeStream(sys.stdout)
        sys.stdout = cast("TextIO", self._said)
        self._session: pytest.Session | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    def end(self) -> None:
        """Tell that stdout took no more, but for a reader who had enough: no night is green that was not heard."""
        self._said.flush()
        sys.stdout = self._before
        trouble = self._said.first_error
        if trouble is None or isinstance(trouble, BrokenPipeError):
            return
        last = FailsafeStream(sys.stderr)
        last.write(f"catalog-probe: stdout: {sanitize_line(str(trouble.strerror or trouble))}; {self.mend}\n")
        last.flush()
        if self._session is not None and self._session.exitstatus in tuple(Exit):
            self._session.exitstatus = select_exit({Exit(self._session.exitstatus), Exit.HARNESS_ERROR})
