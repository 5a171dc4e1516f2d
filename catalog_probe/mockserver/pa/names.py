"""Names on PA's wire: header names and accepted version values, from the neutral stand-ins or their real prefixes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

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
"""The stand-ins of the documents; a `--prefixes` file may replace them (see `core/prefixes.py`)."""

DOCUMENTED_BETAS = frozenset(DEFAULTS["betas"])


@dataclass(frozen=True)
class Names:
    """What things are called on the wire (1:5.1, 2:8.2, 2:9)."""

    header_prefix: str
    id_prefix: str
    key_header: str
    versions: frozenset[str]
    legacy_versions: frozenset[str]
    betas: frozenset[str]

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Names:
        """The names that `settings` make."""
        return cls(
            header_prefix=settings["header_prefix"],
            id_prefix=settings["id_prefix"],
            key_header=settings["key_header"],
            versions=frozenset(settings["versions"]),
            legacy_versions=frozenset(settings["legacy_versions"]),
            betas=frozenset(settings["betas"]),
        )

    def header(self, stem: str) -> str:
        """The header called `pa-<stem>` in the documents."""
        return self.header_prefix + stem
