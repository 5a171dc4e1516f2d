"""Which of a record's other endpoints a night asks, so that all are asked once in four weeks. Pure.

A live night asks the first endpoint of each record, endpoints that differed before, and those that are due: crc32 of
record and endpoint, modulo 28, is the day's ordinal modulo 28. So no endpoint's day depends on what else exists.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.catalog.observed import differing_endpoints

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Record

ROUND_DAYS = 28  # in which every endpoint of every record is asked once


class Depth(StrEnum):
    """Which of a record's endpoints are asked: the first, also a share of the others each night, or all."""

    QUICK = "quick"
    ROTATE = "rotate"
    FULL = "full"


def default_depth(*, live: bool) -> Depth:
    return Depth.ROTATE if live else Depth.FULL


@dataclass(frozen=True, slots=True)
class Rotation:
    """Which endpoints a run of this depth asks on this day."""

    depth: Depth
    day: date

    def includes(self, record: Record, endpoint: str) -> bool:
        """Whether the run asks this endpoint of a record; it is not the record's first."""
        if self.depth is not Depth.ROTATE:
            return self.depth is Depth.FULL
        return is_due(str(record.address), endpoint, self.day) or endpoint in differing_endpoints(record)


ALL_ENDPOINTS = Rotation(Depth.FULL, date.min)


def is_due(address: str, endpoint: str, day: date) -> bool:
    """Whether it is the day of this record and this endpoint, each by its address."""
    return zlib.crc32(f"{address}{endpoint}".encode()) % ROUND_DAYS == day.toordinal() % ROUND_DAYS
