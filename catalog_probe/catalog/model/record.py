"""A record of the catalog and its tags."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model.address import Address
    from catalog_probe.catalog.text.json_value import Json

EVIDENCE_VERSION = 1  # of the format of a record's `evidence`; another version is refused


class Tag(StrEnum):
    """The status tags of a catalog record (1:2.1)."""

    DOCUMENTED = "DOCUMENTED"
    LIVE_VERIFIED = "LIVE_VERIFIED"
    LIVE_DISCOVERED = "LIVE_DISCOVERED"
    LEGACY = "LEGACY"
    UNVERIFIED = "UNVERIFIED"
    BETA = "BETA"
    ACCOUNT_RESTRICTED = "ACCOUNT_RESTRICTED"


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of the catalog: its address and its JSON object."""

    address: Address
    data: Mapping[str, Json]

    def __hash__(self) -> int:
        """Hash the address only, because JSON has no hash. Caches are keyed by records."""
        return hash(self.address)

    @property
    def provider(self) -> str:
        return self.address.provider

    @property
    def kind(self) -> str:
        return self.address.kind

    @property
    def surface(self) -> str | None:
        """The name of its envelope schema, or None for a rate-limit record."""
        return self.data.get("surface")

    @property
    def tags(self) -> frozenset[str]:
        return frozenset(self.data.get("status", ()))

    @property
    def title(self) -> str:
        """The name of the record, else its method and path, else its slug in words."""
        data = self.data
        if data.get("name"):
            return str(data["name"])
        if "method" in data:
            return f"{data['method']} {data['path']}"
        return self.address.slug.replace("_", " ")

    @property
    def sources(self) -> tuple[str, ...]:
        """The rows of the documents that state it, each as `2:7.3#row`."""
        if "source" in self.data:
            return tuple(part.strip() for part in str(self.data["source"]).split(";"))
        items = self.data.get("sources", ())
        return tuple(item if isinstance(item, str) else str(item["url"]) for item in items)
