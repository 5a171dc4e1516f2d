"""Whose answer is it: the provider behind a recorded address, and what it really calls things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.model import Address
from catalog_probe.catalog.reading.headers import header_names
from catalog_probe.catalog.recognition.origin import Origin, OriginHeaders
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.targets.target import is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Record
    from catalog_probe.probes.targets.target import Target
    from catalog_probe.probes.traffic.recording import RecordedExchange

Whose = tuple[str, Dialect]


@dataclass(frozen=True, slots=True)
class ProviderAddress:
    """Where a target has one of a provider's addresses: host, and the path below which it answers."""

    host: str
    path: str
    whose: Whose

    def holds(self, host: str, path: str) -> bool:
        return host == self.host and (path == self.path or path.startswith(self.path.rstrip("/") + "/"))


@dataclass(frozen=True)
class Hosts:
    """How the provider of a recorded exchange is found.

    By the addresses of the target alone, where one is given: what goes into the records must be its own. Else by the
    name in the recording, by where a mock has each provider, and by headers that no other host sends.
    """

    places: tuple[ProviderAddress, ...]
    strict: bool
    names: Mapping[str, frozenset[str]]
    """The documented response headers of each provider, in stand-ins."""
    marks: Mapping[str, OriginHeaders]

    @classmethod
    def of(cls, targets: Iterable[Target], catalog: Catalog, *, strict: bool) -> Self:
        """What the targets say of where the providers are; with `strict`, nothing else counts."""
        found = [
            ProviderAddress(_host(address), urlsplit(_absolute(address)).path.rstrip("/"), (name, Dialect.of(provider)))
            for target in targets
            for name, provider in target.providers.items()
            for address in provider.addresses.values()
            if "." in address or ":" in address
        ]
        records = {name: tuple(catalog.select(provider=name)) for name in providers()}
        return cls(
            places=tuple(sorted(found, key=lambda each: -len(each.path))),
            strict=strict,
            names={name: _documented(own) for name, own in records.items()},
            marks={name: OriginHeaders.from_records(name, own) for name, own in records.items()},
        )

    def whose(self, recorded: RecordedExchange) -> Whose | None:
        """The provider that answered, and its dialect; None where nothing tells."""
        first = recorded.exchanges[0]
        url = first.request.url
        host, path = _host(url), urlsplit(_absolute(url)).path if url else ""
        for place in self.places:
            if host and place.holds(host, path):
                return place.whose
        if self.strict:
            return None
        named = recorded.provider or (Address.parse(recorded.record).provider if recorded.record else "")
        headers = first.response.headers if first.response is not None else {}
        if not named:
            named = _mounted(host, path) or self._marked(headers)
        return (named, infer_dialect(named, self.names[named], headers)) if named else None

    def _marked(self, headers: Mapping[str, str]) -> str:
        """The one provider whose own headers these are."""
        found = [name for name, marks in self.marks.items() if marks.find_origin(headers)[0] is Origin.PROVIDER]
        return found[0] if len(found) == 1 else ""


def infer_dialect(provider: str, names: Iterable[str], headers: Iterable[str]) -> Dialect:
    """The header prefix of the real provider, by a header whose end the documents name; `names` are the documented."""
    stand_in, identifier = manifest(provider).stand_ins.header_prefix, manifest(provider).stand_ins.id_prefix
    ends = {name.removeprefix(stand_in) for name in names if stand_in and name.startswith(stand_in)}
    for name in map(str.lower, headers):
        for end in sorted(ends, key=len, reverse=True):
            if name.endswith(end) and name != end:
                return Dialect(stand_in, name.removesuffix(end), identifier, identifier)
    return Dialect(stand_in, stand_in, identifier, identifier)


def _documented(records: Iterable[Record]) -> frozenset[str]:
    return frozenset().union(*map(header_names, records))


def _mounted(host: str, path: str) -> str:
    """The provider whose name a mock on this machine has as the first segment of its paths: `/pc-auth/…` is PC's."""
    first = path.strip("/").partition("/")[0].partition("-")[0]
    return first if first in providers() and is_loopback(host.partition(":")[0]) else ""


def _host(address: str) -> str:
    """Host and port as the address has them, the port left out where it is the scheme's own."""
    parts = urlsplit(_absolute(address))
    usual = {"http": 80, "ws": 80, "https": 443, "wss": 443}
    try:
        port = parts.port
    except ValueError:
        return ""
    return f"{parts.hostname or ''}:{port}" if port not in (None, usual.get(parts.scheme)) else parts.hostname or ""


def _absolute(address: str) -> str:
    return address if "://" in address else f"https://{address}"
