"""Writes Python as a command that can be executed."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_script(path: Path, options: str, text: str) -> None:
    """A command that this Python runs with these options.

    A shell begins it, to which the second line is a command and to Python a string: what stands behind `#!` may have no
    spaces, and not be long.
    """
    begin = f'exec {shlex.quote(sys.executable)} {options} "$0" "$@"'
    path.write_text(f"#!/bin/sh\n''':'\n{begin}\n'''\n{text}", encoding="utf-8")
    path.chmod(0o700)
