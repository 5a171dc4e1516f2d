"""How the documents name an error: type, code and category, even if its surface does not carry them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Record


@dataclass(frozen=True, slots=True)
class Classification:
    """The names of an error (1:2.2); empty where the documents give none."""

    type: str = ""
    code: str = ""
    category: str = ""

    @property
    def is_permission(self) -> bool:
        """Whether the account may not do what it asked for."""
        return self.category in ("permission", "auth")

    @property
    def is_of_the_key(self) -> bool:
        """Whether the key is not valid."""
        return self.category == "authentication"


def classification(record: Record) -> Classification:
    """Return the names of an error record."""
    return Classification(*(record.data.get(field) or "" for field in ("type", "code", "category")))


def own_row(record: Record) -> str:
    """Return the row that an error record was transcribed from: the first that it cites.

    Two records with the same row describe the same fault.
    """
    return str(record.data.get("source") or record.address).partition("; ")[0]
