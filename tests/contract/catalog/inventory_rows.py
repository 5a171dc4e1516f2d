"""The rows of the documents, transcribed by hand into `tests/contract/catalog/inventory/*.tsv`, as typed values.

Records and inventory are two readings of the same documents; tests hold them against each other.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

INVENTORY = Path(__file__).parent / "inventory"
FACTS = Path(__file__).parents[3] / "catalog" / "facts"
PROVIDERS = ("pa", "pb", "pc", "pd")


@dataclass(frozen=True, slots=True)
class Row:
    """One row, or one cause within a row, of a document. The fields are the columns, as written there."""

    section: str
    row: str
    kind: str
    status: str
    type: str
    code: str
    param: str
    retryable: str
    condition: str

    @property
    def citation(self) -> str:
        """How a record cites this row: `<document>:<section>#<row>`."""
        return f"{self.section}#{self.row}"


COLUMNS = tuple(field.name for field in fields(Row))


def citable(provider: str) -> Mapping[str, str]:
    """What each row says that a record may cite: those of `catalog/facts`, which hold 1:1 and 1:2 too, row by row."""
    said: dict[str, list[str]] = {}
    with (FACTS / f"{provider}.tsv").open(encoding="utf-8", newline="") as file:
        for fact in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            said.setdefault(f"{fact['section']}#{fact['row']}", []).append(fact["statement"])
    return {citation: "; ".join(statements) for citation, statements in said.items()}


def lines(provider: str) -> list[list[str]]:
    """The cells of a provider's file, header first. Quotes are letters like any other."""
    with (INVENTORY / f"{provider}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def rows(provider: str) -> list[Row]:
    """The rows of a provider, in the order of the documents."""
    header, *body = lines(provider)
    if tuple(header) != COLUMNS:
        raise ValueError(f"{provider}.tsv: columns {header}, expected {list(COLUMNS)}")
    return [Row(*cells) for cells in body]
