"""Which of a record's other endpoints a night looks at, so that all come round in four weeks. Pure.

DESIGN.md, Rotation: a live night looks at the first endpoint of each record, at cells that differ, and at those whose
crc32 of record and endpoint is, modulo 28, the day's ordinal. Which day is whose does not depend on what else there is.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.catalog.observed.cells import differing_endpoints

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Record

ROUND = 28
"""Days in which every endpoint of every record comes round."""


class Depth(StrEnum):
    """How many of a record's endpoints are looked at: the first, also tonight's share of the others, or all."""

    QUICK = "quick"
    ROTATE = "rotate"
    FULL = "full"


def usual_depth(*, live: bool) -> Depth:
    """What is looked at where nobody says how much."""
    return Depth.ROTATE if live else Depth.FULL


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a run of this depth draws on this day."""

    depth: Depth
    day: date

    def draws(self, record: Record, endpoint: str) -> bool:
        """Whether the run looks at this endpoint of the record, which is not its first."""
        if self.depth is not Depth.ROTATE:
            return self.depth is Depth.FULL
        return comes_round(str(record.address), endpoint, self.day) or endpoint in differing_endpoints(record)


ALL = Drawing(Depth.FULL, date.min)
"""Every endpoint of every record, on any day."""


def comes_round(address: str, endpoint: str, day: date) -> bool:
    """Whether it is the day of this record and this endpoint, each by its address."""
    return zlib.crc32(f"{address}{endpoint}".encode()) % ROUND == day.toordinal() % ROUND
