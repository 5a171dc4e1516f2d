"""How the documents name an error: its type, code and category, whether or not the wire carries them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Record


@dataclass(frozen=True, slots=True)
class Classification:
    """The names of a row (1:2.2); nothing where the documents give none."""

    type: str = ""
    code: str = ""
    category: str = ""

    @property
    def is_permission(self) -> bool:
        """Whether it says that this account may not do what it asked for."""
        return self.category in ("permission", "auth")

    @property
    def is_of_the_key(self) -> bool:
        """Whether it says that the key is no good."""
        return self.category == "authentication"


def classification(record: Record) -> Classification:
    """How an error record is named."""
    return Classification(*(record.data.get(field) or "" for field in ("type", "code", "category")))


def own_row(record: Record) -> str:
    """The row that an error record was transcribed from: the first that it cites; those after it say of it in passing.

    Two records of one row tell of one fault.
    """
    return str(record.data.get("source") or record.address).partition("; ")[0]
