"""One call of PB, with its project and the names of headers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import calls
from catalog_probe.mockserver.pb.keys import UNIDENTIFIED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pb.keys import Project

DEFAULT_NAMES: Mapping[str, Any] = {"header_prefix": "x-pb-", "key_header": "x-pb-api-key"}
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


@dataclass(kw_only=True)
class Call(calls.Call):
    """One call of PB. When a handler runs, its project has been authenticated."""

    names: Names
    project: Project = UNIDENTIFIED

    @property
    def version(self) -> str:
        """API version in the path: `v1` or `v1beta` (2:9)."""
        path: str = self.request.scope["path"]
        return path.removeprefix(self.request.scope.get("root_path", "")).split("/")[1]
