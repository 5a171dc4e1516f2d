"""The exit statuses of every command, and which of several is reported (DESIGN.md, contract 2)."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What CI branches on. No run ends with pytest's own 2 or 6."""

    FINE = 0
    DRIFT = 1
    PROBLEMS = 1
    """The same status, of a command that looks for something else than drift and found it."""
    HARNESS_ERROR = 3
    USAGE = 4
    NOTHING_SELECTED = 5
    BLIND = 10


INTERRUPTED = 130
"""What a shell says of a command that Ctrl-C ended; an interrupted run of probes is blind."""

_PRECEDENCE = (Exit.USAGE, Exit.HARNESS_ERROR, Exit.BLIND, Exit.DRIFT, Exit.NOTHING_SELECTED, Exit.FINE)


def highest(statuses: set[Exit]) -> Exit:
    """The one of several statuses that is reported."""
    return next(status for status in _PRECEDENCE if status in statuses)
