"""Names on PA's wire, and the versions and betas that it accepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

DEFAULTS: Mapping[str, Any] = {
    "header_prefix": "pa-",
    "id_prefix": "pa_",
    "key_header": "x-api-key",
    "versions": ["2023-06-01", "2026-10-21"],
    "legacy_versions": ["2023-01-01"],
    "betas": [
        "code-execution-2025-08-25",
        "context-1m-2025-08-07",
        "fast-mode-2026-02-01",
        "files-api-2025-04-14",
        "interleaved-thinking-2025-05-14",
        "managed-agents-2026-04-01",
        "message-batches-2024-09-24",
        "server-side-fallback-2026-06-01",
        "web-fetch-2025-09-10",
    ],
}

DOCUMENTED_BETAS = frozenset(DEFAULTS["betas"])


@dataclass(frozen=True)
class Names:
    """Names on the wire (1:5.1, 2:8.2, 2:9)."""

    header_prefix: str
    id_prefix: str
    key_header: str
    versions: Collection[str]
    legacy_versions: Collection[str]
    betas: Collection[str]

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Names:
        """Read them from the provider's settings."""
        return cls(**{name: settings[name] for name in DEFAULTS})

    def header(self, stem: str) -> str:
        """Return the name of the header that the documents call `pa-<stem>`."""
        return self.header_prefix + stem
