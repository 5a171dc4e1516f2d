"""Errors that a person can mend, and the exit status of every command."""

from __future__ import annotations

import difflib
import os
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

from catalog_probe.catalog.text.readable_text import sanitize_line

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


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


MAX_MESSAGE_LENGTH = 1_000  # characters; a message may quote input of any length


class UserError(Exception):
    """An error that a person can mend: what is wrong, what to do, and where, if it is in a file.

    Its text is one line, `file:location: what; mend`. The base class of our errors.
    """

    status: ClassVar[Exit] = Exit.USAGE
    """The exit status of a command that ends with this error."""

    def __init__(self, what: str, mend: str = "", *, file: Path | None = None, location: str = "") -> None:
        super().__init__(what)
        self.what, self.mend, self.file, self.location = what, mend, file, location

    def __str__(self) -> str:
        location = ":".join(filter(None, (display_path(self.file) if self.file else "", self.location)))
        message = "; ".join(filter(None, (self.what, self.mend)))
        return sanitize_line(f"{location}: {message}" if location else message, MAX_MESSAGE_LENGTH)


class CatalogError(UserError):
    """An error in the files of a catalog."""


def display_path(path: Path) -> str:
    """Return a path relative to the working directory if it is inside, else unchanged."""
    try:
        relative_path = os.path.relpath(path)
    except ValueError:  # another drive on Windows
        return str(path)
    return str(path) if relative_path.startswith("..") else relative_path


def suggest_similar(word: str, candidates: Iterable[str]) -> str:
    """Return `did you mean x?`, or an empty string if no candidate is similar."""
    cutoff = 0.85 if "/" in word else 0.7  # addresses share long beginnings, so they must be more alike
    matches = difflib.get_close_matches(word, list(candidates), n=2, cutoff=cutoff)
    return f"did you mean {' or '.join(matches)}?" if matches else ""
