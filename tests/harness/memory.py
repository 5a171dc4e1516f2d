"""Measures the peak memory that a function takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"
"""Resets the peak in Linux (proc_pid_clear_refs(5))."""


def measure_memory(function: Callable[[], object]) -> int:
    """Return the bytes by which this process grew at most while a function ran.

    Unlike tracemalloc this is free and counts libraries, too; unlike `getrusage` it ignores earlier peaks.
    """
    try:
        _CLEAR_REFS.write_text(_RESET_PEAK)
    except OSError:
        pytest.skip("only Linux tells how large this process is")
    before = _read_status("VmRSS")
    function()
    return _read_status("VmHWM") - before


def _read_status(name: str) -> int:
    (value_line,) = (line for line in _STATUS.read_text().splitlines() if line.startswith(f"{name}:"))
    return int(value_line.split()[1]) * 1024
