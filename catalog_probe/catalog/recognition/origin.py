"""Origin of an answer, by its headers: the provider, another host, or unknown. Bodies are imitated."""

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
"""The provider's name in a header: a stand-in in the documents, the real name on the wire."""


class Origin(StrEnum):
    """Who answered, according to the headers."""

    PROVIDER = "provider"
    """A header that only the provider sends."""
    OTHER_HOST = "another"
    """A header of another host, and none of the provider's."""
    FORWARDED = "through"
    """Headers of both: another host forwarded the provider's answer."""
    NEUTRAL = "untold"
    """Headers that any host might send."""
    UNKNOWN = "unknown"
    """No headers are known."""


@dataclass(frozen=True, slots=True)
class OriginHeaders:
    """Response headers that only one provider sends: they carry its name, or no other host is known to send them."""

    own: re.Pattern[str]

    @classmethod
    def from_records(cls, provider: str, records: Iterable[Record]) -> Self:
        provider_manifest = manifest(provider)
        prefix = provider_manifest.stand_ins.header_prefix
        names = {name for record in records for name in header_names(record)} | set(provider_manifest.account_headers)
        carrying = sorted(name for name in names if prefix and name.startswith(prefix))
        own = [_PREFIX + re.escape(name.removeprefix(prefix)) for name in carrying]
        own += map(re.escape, provider_manifest.origin)
        return cls(re.compile("|".join(own) or "(?!)"))

    def find_origin(self, headers: Mapping[str, str] | None) -> tuple[Origin, str]:
        """Return who answered, and the header or kind of host that shows it."""
        if not headers:
            return Origin.UNKNOWN, ""
        own_header = next(filter(self.own.fullmatch, headers), "")
        other_host = next(filter(None, map(_find_host, headers)), "")
        if own_header and other_host:
            return Origin.FORWARDED, other_host
        if own_header:
            return Origin.PROVIDER, own_header
        return (Origin.OTHER_HOST, other_host) if other_host else (Origin.NEUTRAL, "")


@cache
def _other_hosts() -> Mapping[str, tuple[str, ...]]:
    patterns_by_host: Mapping[str, list[str]] = tomllib.loads(OTHER_HOSTS.read_text(encoding="utf-8"))
    return {host: tuple(patterns) for host, patterns in patterns_by_host.items()}


@lru_cache(maxsize=1024)
def _find_host(name: str) -> str:
    """Return the kind of host that sends this header; empty if none is known."""
    for host, patterns in _other_hosts().items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return host
    return ""
