"""Runs `pytest probes` in a terminal of some width."""

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
    """Return the exit status and all that was written; overwritten text is still there, followed by a `\\r`."""
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "probes", "--out", str(out), *arguments]
    command += ["-o", f"cache_dir={out.parent / 'pytest-cache'}"]
    terminal, child_side = pty.openpty()
    fcntl.ioctl(child_side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    variables = {"TERM": "xterm", "CI": "", "NO_COLOR": "1", **NO_TEST_PLUGINS, **(environ or {})}
    env = {name: value for name, value in child_environ(variables).items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(command, cwd=CHECKOUT, env=env, stdin=child_side, stdout=child_side, stderr=child_side)
    os.close(child_side)
    written = bytearray()
    try:
        while chunk := _read(terminal):
            written += chunk
        return process.wait(DEADLINE_S), written.decode()
    finally:
        process.kill()
        os.close(terminal)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux reports that the last process has closed the terminal
        return b""
