"""By whom a record, or one statement of it, can be observed."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Reach(StrEnum):
    """By whom something can be observed; the fewest needs first."""

    ONE_KEY = "one key"
    """The plain inference key alone, free."""
    MORE = "more"
    """Other keys, values or addresses, or costs that somebody allows."""
    TRAFFIC = "traffic only"
    """Nobody can bring it about by asking; recorded traffic may show it."""
    MOCK = "mock only"
    """It takes a state that no documented request makes: our own mock alone shows it at will."""
    OFF_WIRE = "off the wire"
    """No exchange shows it."""

    @property
    def is_checked(self) -> bool:
        """Whether a client's own requests can check it; the rest is rehearsed on our mock at best."""
        return self in (Reach.ONE_KEY, Reach.MORE)


def words_by_reach(counts: Mapping[Reach, int]) -> str:
    """How many of each reach, those with the fewest needs first."""
    return ", ".join(f"{counts[reach]} {reach}" for reach in Reach if counts.get(reach))
