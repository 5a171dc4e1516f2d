"""Who answered: the provider itself, somebody who answers alike, or nobody knows. By headers: bodies are imitated."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.reading.headers import header_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Record

OTHER_HOSTS = provider_folders.SHIPPED.path / "other_hosts.toml"

_PREFIX = r"(?:x-)?(?!x-)[a-z0-9]+-"
"""Where the provider's name stands in a header: a stand-in in the documents, the real one on the wire."""


class Origin(StrEnum):
    """What the headers say of who answered."""

    PROVIDER = "provider"
    """A header that only the provider sends."""
    ANOTHER = "another"
    """A header of another host, and none of the provider's."""
    THROUGH = "through"
    """Headers of both: another host passed the provider's answer on."""
    UNTOLD = "untold"
    """Headers that any host might send."""
    UNKNOWN = "unknown"
    """No headers are known."""


@dataclass(frozen=True, slots=True)
class OriginHeaders:
    """The response headers that carry a provider's name, or that no other host is known to send."""

    own: re.Pattern[str]

    @classmethod
    def from_records(cls, provider: str, records: Iterable[Record]) -> Self:
        about = manifest(provider)
        prefix = about.stand_ins.header_prefix
        named = {name for record in records for name in header_names(record)} | set(about.account_headers)
        carrying = sorted(name for name in named if prefix and name.startswith(prefix))
        own = [_PREFIX + re.escape(name.removeprefix(prefix)) for name in carrying]
        own += map(re.escape, about.origin)
        return cls(re.compile("|".join(own) or "(?!)"))

    def origin(self, headers: Mapping[str, str] | None) -> tuple[Origin, str]:
        """Who answered, and the header or the kind of host that tells."""
        if not headers:
            return Origin.UNKNOWN, ""
        mine = next(filter(self.own.fullmatch, headers), "")
        other = next(filter(None, map(_host_that_sends, headers)), "")
        if mine and other:
            return Origin.THROUGH, other
        if mine:
            return Origin.PROVIDER, mine
        return (Origin.ANOTHER, other) if other else (Origin.UNTOLD, "")


@cache
def _other_hosts() -> Mapping[str, tuple[str, ...]]:
    read: Mapping[str, list[str]] = tomllib.loads(OTHER_HOSTS.read_text(encoding="utf-8"))
    return {host: tuple(patterns) for host, patterns in read.items()}


@lru_cache(maxsize=1024)
def _host_that_sends(name: str) -> str:
    hosts = (host for host, patterns in _other_hosts().items() if any(fnmatchcase(name, each) for each in patterns))
    return next(hosts, "")
