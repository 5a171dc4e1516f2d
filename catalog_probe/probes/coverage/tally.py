"""Rows of counts: added number by number, and printed as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Self, TypeVar


@dataclass(slots=True)
class Tally:
    """A row of counts; each kind of table names its own."""

    def add(self, other: Self) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


Row = TypeVar("Row", bound=Tally)


def format_tallies(
    table: Mapping[str, Row], row_type: type[Row], last_column: tuple[str, Callable[[Row], str]] | None = None
) -> list[str]:
    """Format rows as aligned lines; `last_column` is the heading and the text of one more column."""
    headings = {field.name: field.name.replace("_", " ") for field in fields(row_type)}
    name_width = max(map(len, [*table, "total"]))
    last_heading = [last_column[0]] if last_column is not None else []
    lines = [" ".join([" " * name_width, *headings.values(), *last_heading])]
    for name, row in table.items():
        numbers = [f"{getattr(row, field):>{len(heading)}}" for field, heading in headings.items()]
        last_text = [last_column[1](row)] if last_column is not None else []
        lines.append(" ".join([f"{name:<{name_width}}", *numbers, *last_text]))
    return lines
