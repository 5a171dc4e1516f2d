"""Names on PC's wire: header names from the neutral stand-ins or their real prefix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULTS: Mapping[str, Any] = {"header_prefix": "PC-"}
"""The stand-in of the documents; a `--prefixes` file may replace it (see `core/prefixes.py`)."""


@dataclass(frozen=True)
class Names:
    """What things are called on the wire (1:5.3)."""

    header_prefix: str

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Names:
        """The names that `settings` make."""
        return cls(header_prefix=settings["header_prefix"])

    def header(self, stem: str) -> str:
        """The header called `PC-<stem>` in the documents."""
        return self.header_prefix + stem
