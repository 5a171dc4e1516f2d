"""Has the C library give large blocks back: a run of large answers else keeps most of what it ever held at once."""

from __future__ import annotations

import ctypes
from contextlib import suppress

LARGE = 256 * 1024
"""Bytes; a block of so many is mapped by itself, and gone when it is freed."""

# malloc.h of glibc
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def give_back() -> None:
    """From now on, in this process. Does nothing where the C library is not glibc.

    Left to itself, glibc raises the size from which a block is mapped to that of the largest one freed: after the first
    body of 4 MB all others lie in its heap, between small things that keep the heap from shrinking.
    """
    with suppress(OSError, AttributeError, TypeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_MMAP_THRESHOLD, LARGE)
        libc.mallopt(_TRIM_THRESHOLD, LARGE)
