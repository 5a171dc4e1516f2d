"""A record, its address and its tags: the words every other module speaks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = Any
"""A JSON value. The records are data that people edit, so their shape is held by the schemas, not by Python types."""

PROVIDERS = ("pa", "pb", "pc", "pd")
KINDS = ("endpoints", "errors", "rate_limits")
RATE_LIMIT_FAMILY = "limits"
"""A provider has one file of rate limits, so the family of such a record is always this."""

_ADDRESS = re.compile(rf"({'|'.join(PROVIDERS)})/({'|'.join(KINDS)})/([a-z0-9_]+)/([a-z0-9_.-]+)")


class Tag(StrEnum):
    """The status tags of a catalog record (1:2.1)."""

    DOCUMENTED = "DOCUMENTED"
    LIVE_VERIFIED = "LIVE_VERIFIED"
    LIVE_DISCOVERED = "LIVE_DISCOVERED"
    LEGACY = "LEGACY"
    UNVERIFIED = "UNVERIFIED"
    BETA = "BETA"
    ACCOUNT_RESTRICTED = "ACCOUNT_RESTRICTED"


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """Where a record lives: `pa/errors/compliance/chat_not_found`. It never changes once published."""

    provider: str
    kind: str
    family: str
    slug: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an address.

        Raises:
            ValueError: with one line saying what an address looks like.
        """
        match = _ADDRESS.fullmatch(text)
        if match is None:
            raise ValueError(
                f"{text!r} is no address: it should read <provider>/<kind>/<family>/<slug>, "
                "for instance pa/errors/general/rate_limit_error"
            )
        return cls(*match.groups())

    def __str__(self) -> str:
        return f"{self.provider}/{self.kind}/{self.family}/{self.slug}"


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of the catalog: its address and the JSON object that people review."""

    address: Address
    data: Mapping[str, Json]

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
        """What a person calls it: its name, else method and path, else its slug."""
        data = self.data
        if data.get("name"):
            return str(data["name"])
        if "method" in data:
            return f"{data['method']} {data['path']}"
        return self.address.slug.replace("_", " ")

    @property
    def sources(self) -> tuple[str, ...]:
        """Where the documents state it, each as `2:7.3#row`."""
        if "source" in self.data:
            return tuple(part.strip() for part in str(self.data["source"]).split(";"))
        items = self.data.get("sources", ())
        return tuple(item if isinstance(item, str) else str(item["url"]) for item in items)
