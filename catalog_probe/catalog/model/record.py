"""Records of the catalog: their permanent addresses and their tags."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.text.json_values import Json


KINDS = ("endpoints", "errors", "rate_limits")

HARNESS_KIND = "harness"
"""The kind of results about the run itself (`pa/harness/self_test/inference`). No record has it."""

RATE_LIMIT_FAMILY = "limits"
"""The family of every rate-limit record: a provider has one file of them."""

# Matches any provider: which providers exist is known to their manifests only.
_ADDRESS = re.compile(rf"([a-z][a-z0-9]*)/({'|'.join((*KINDS, HARNESS_KIND))})/([a-z0-9_]+)/([a-z0-9_.-]+)")


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """The name of a record: `pa/errors/compliance/chat_not_found`. It never changes once published."""

    provider: str
    kind: str
    family: str
    slug: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse an address.

        Raises:
            ValueError: with one line that says how an address is written.
        """
        match = _ADDRESS.fullmatch(text)
        if match is None:
            raise ValueError(
                f"{text!r} is no address: it should read <provider>/<kind>/<family>/<slug>, "
                f"of the kinds {', '.join(KINDS)}, for instance pa/errors/general/rate_limit"
            )
        return cls(*match.groups())

    def __str__(self) -> str:
        return f"{self.provider}/{self.kind}/{self.family}/{self.slug}"


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
