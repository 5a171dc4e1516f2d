"""What we print to: what an encoding lacks is escaped, a closed stream takes all, and a full one is let go."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO


def speak_plainly() -> None:
    """From here on whatever is printed can be: what an encoding lacks is escaped, and a closed stream takes all."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:  # what is opened now has its number, which the next file would have had
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - until the process ends
        elif mode == "w" and isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def let_go(stream: TextIO) -> None:
    """Send nowhere what is printed to a stream from here on, and what waits: else the interpreter complains at exit."""
    with suppress(OSError, ValueError):  # of what has no number nothing waits
        number = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
        stream.flush()


class Unfailing(io.TextIOBase):
    """A stream to which everything can be printed, though it takes no more: `trouble` is then why."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.trouble: OSError | None = None

    def write(self, text: str, /) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            self._let_go(error)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._let_go(error)

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _let_go(self, error: OSError) -> None:
        self.trouble = self.trouble or error
        let_go(self._stream)
