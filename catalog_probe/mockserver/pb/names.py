"""Names of PB's headers, with the documents' stand-ins or real prefixes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULTS: Mapping[str, Any] = {"header_prefix": "x-pb-", "key_header": "x-pb-api-key"}
"""The documents name `X-PB-Service-Tier` and no header for the key; a `--prefixes` file may replace both."""


@dataclass(frozen=True)
class Names:
    """The prefix of PB's headers, and the header of its key (2:8.3)."""

    header_prefix: str
    key_header: str

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Names:
        """Read the names from the settings."""
        return cls(settings["header_prefix"], settings["key_header"])

    def header(self, stem: str) -> str:
        """Return the name of the header that the documents call `X-PB-<stem>`."""
        return self.header_prefix + stem

    def upload_header(self, stem: str) -> str:
        """Return the name of an upload header, which has the prefix of the key header."""
        return f"{self.key_header.removesuffix('api-key')}upload-{stem}"
