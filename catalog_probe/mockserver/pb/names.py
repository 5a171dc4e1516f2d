"""Names on PB's wire: header names, from the neutral stand-ins or their real prefixes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULTS: Mapping[str, Any] = {"header_prefix": "x-pb-", "key_header": "x-pb-api-key"}
"""The documents name `X-PB-Service-Tier` and no header for the key; a `--prefixes` file may replace both."""


@dataclass(frozen=True)
class Names:
    """What things are called on the wire (2:8.3)."""

    header_prefix: str
    key_header: str

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Names:
        """The names that `settings` make."""
        return cls(settings["header_prefix"], settings["key_header"])

    def header(self, stem: str) -> str:
        """The header called `X-PB-<stem>` in the documents."""
        return self.header_prefix + stem

    def upload_header(self, stem: str) -> str:
        """A header of an upload; it begins as the header of the key does."""
        return f"{self.key_header.removesuffix('api-key')}upload-{stem}"
