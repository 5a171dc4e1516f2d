"""Counts the operations that looking for secrets takes, so that no answer can starve a run."""

from __future__ import annotations

from dataclasses import dataclass

OPERATIONS = 40_000_000
"""Operations that one answer may take: about a second. The largest body, of 4 MB, takes 8 million where it is plain."""

PER_STRING = 32
"""Operations that a string takes however short it is."""

PER_ESCAPE = 8
"""Operations that an escape takes beside those of its characters."""


class TooMuchWorkError(Exception):
    """An answer takes more operations than it may."""


@dataclass(slots=True)
class Work:
    """The operations that one answer has taken: each is one step (fold, unescape, search) over one character."""

    limit: int = OPERATIONS
    done: int = 0

    def spend(self, operations: int) -> None:
        """Count operations that are about to be done.

        Raises:
            TooMuchWorkError: they are more than are left.
        """
        self.done += operations
        if self.done > self.limit:
            raise TooMuchWorkError
