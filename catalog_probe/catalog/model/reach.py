"""Reach: who can observe a record or an assertion."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Reach(StrEnum):
    """Who can observe something, in the order of what it takes."""

    ONE_KEY = "one key"
    """Anyone with an inference key, for free."""
    MORE = "more"
    """It takes other keys, values or addresses, or the permission to spend."""
    TRAFFIC = "traffic only"
    """No request can cause it; recorded traffic may show it."""
    MOCK = "mock only"
    """It takes a state that no documented request creates; only our mock can be put into it."""
    OFF_WIRE = "off the wire"
    """It never travels over the network."""

    @property
    def is_checked(self) -> bool:
        """Whether a client's own requests can check it. On our mock alone, two of our own transcriptions agree."""
        return self in (Reach.ONE_KEY, Reach.MORE)


def format_reach_counts(counts: Mapping[Reach, int]) -> str:
    """Format the counts in the order of `Reach`: `3 one key, 1 more`."""
    return ", ".join(f"{counts[reach]} {reach}" for reach in Reach if counts.get(reach))
