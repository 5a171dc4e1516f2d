"""How a process that probes holds memory: large blocks are given back, and garbage is looked for seldom."""

from __future__ import annotations

import gc
from contextlib import suppress

LARGE = 256 * 1024
"""Bytes; a block of so many is mapped by itself, and gone when it is freed."""

# malloc.h of glibc
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def give_back() -> None:
    """Have the C library give large blocks back, from now on. Does nothing where it is not glibc.

    A run of large answers else keeps most of what it ever held at once.

    Left to itself, glibc raises the size from which a block is mapped to that of the largest one freed: after the first
    body of 4 MB all others lie in its heap, between small things that keep the heap from shrinking.
    """
    import ctypes

    with suppress(OSError, AttributeError, TypeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(_MMAP_THRESHOLD, LARGE)
        libc.mallopt(_TRIM_THRESHOLD, LARGE)


GARBAGE_EVERY = 20_000
"""After how many new objects Python looks for circles: looking at every 700 is a twentieth of what a run costs."""


def collect_later() -> None:
    """Look for no circles for now: what a process makes until it probes, it keeps to its end."""
    gc.disable()


def is_put_off() -> bool:
    """Whether nobody looks for circles for now."""
    return not gc.isenabled()


def collect_seldom() -> None:
    """Look for circles seldom, and never among what there is by now: modules, records and items stay to the end."""
    gc.freeze()
    gc.set_threshold(GARBAGE_EVERY)
    gc.enable()


def let_go() -> None:
    """Look for circles now: of a run that is over they hold much, and what comes next needs the room."""
    gc.collect()
