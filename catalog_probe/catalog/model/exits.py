"""The exit statuses of every command, and which of several is reported."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The exit statuses, on which CI branches. A run never ends with pytest's own 2 or 6."""

    FINE = 0
    DRIFT = 1
    PROBLEMS = 1
    """The same status, for commands that report other problems than drift."""
    HARNESS_ERROR = 3
    USAGE = 4
    NOTHING_SELECTED = 5
    BLIND = 10


INTERRUPTED = 130  # 128 + SIGINT, as shells report it; an interrupted run of probes is BLIND instead

_PRECEDENCE = (Exit.USAGE, Exit.HARNESS_ERROR, Exit.BLIND, Exit.DRIFT, Exit.NOTHING_SELECTED, Exit.FINE)


def select_exit(statuses: set[Exit]) -> Exit:
    """Return the one of several statuses that is reported."""
    return next(status for status in _PRECEDENCE if status in statuses)
