"""A row of whole numbers that is added to another, number by number."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self


@dataclass(slots=True)
class Tally:
    """What a table counts; each kind of table names its own numbers."""

    def add(self, other: Self) -> None:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))
