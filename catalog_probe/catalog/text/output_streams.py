"""Standard streams that survive a missing encoding, a closed descriptor and a full disk."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO


def make_output_failsafe() -> None:
    """Let every later `print` succeed: escape what the encoding lacks, and replace closed standard streams."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            # Closed by the parent. The null device takes its descriptor; else the next file that we open would get it,
            # and whatever is printed would end up in that file.
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - until the process ends
        elif mode == "w" and isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def discard_output(stream: TextIO) -> None:
    """Point a stream at the null device, with what it has buffered; else the interpreter complains at exit."""
    with suppress(OSError, ValueError):  # a stream without a descriptor has nothing buffered
        descriptor = stream.fileno()
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, descriptor)
        os.close(null_device)
        stream.flush()


class FailsafeStream(io.TextIOBase):
    """A stream whose writes never fail. `first_error` is why output has been discarded since, or None."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.first_error: OSError | None = None

    def write(self, text: str, /) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            self._discard_output(error)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._discard_output(error)

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _discard_output(self, error: OSError) -> None:
        self.first_error = self.first_error or error
        discard_output(self._stream)
