"""The process that serves the frozen commit's mock: `old_side.py` in the old checkout."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tests.verdicts.table import TableError

if TYPE_CHECKING:
    from types import TracebackType

PROGRAM = Path(__file__).with_name("old_side.py")


class OldProcess:
    """Asks `old_side.py` for one case after another; the process ends with the `with` block."""

    def __init__(self, checkout: Path, python: Path) -> None:
        self._checkout = checkout.absolute()
        self._python = python.absolute()  # not resolved: a link in an environment is what finds its packages

    def __enter__(self) -> Self:
        # The same hashes in every run: the order of a set must not move an answer.
        environment = {"PYTHONHASHSEED": "0", "PATH": "/usr/bin:/bin"}
        self._process = subprocess.Popen(
            [self._python, PROGRAM],
            cwd=self._checkout,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def serve(self, case: str, **options: str) -> dict[str, Any]:
        """Have a case served until the next call, and return what the old side says of it.

        Raises:
            TableError: the old side ended, or cannot serve the case.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"case": case, **options}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the empty line below tells the same
        line = self._process.stdout.readline()
        if not line:
            raise TableError(f"{case}: the old side in {self._checkout} ended; its last words are above")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise TableError(f"{case}: the old side cannot serve it: {reply['error']}")
        return reply
