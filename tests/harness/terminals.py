"""Runs `pytest probes` in a terminal of so many columns, as a person sits before it."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

from tests.harness.command import CHECKOUT, DEADLINE_S, NO_TEST_PLUGINS, child_environ

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def run_in_terminal(
    out: Path, *arguments: str, columns: int = 80, environ: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """The exit status, and every character that was written; what was written over is still in it, after a `\\r`."""
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "probes", "--out", str(out), *arguments]
    command += ["-o", f"cache_dir={out.parent / 'pytest-cache'}"]
    mine, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    given = {"TERM": "xterm", "CI": "", "NO_COLOR": "1", **NO_TEST_PLUGINS, **(environ or {})}
    kept = {name: value for name, value in child_environ(given).items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(command, cwd=CHECKOUT, env=kept, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    written = bytearray()
    try:
        while some := _read(mine):
            written += some
        return process.wait(DEADLINE_S), written.decode()
    finally:
        process.kill()
        os.close(mine)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the last process has left the terminal
        return b""
