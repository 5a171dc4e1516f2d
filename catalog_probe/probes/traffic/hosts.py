"""Find the provider that a recorded exchange was with, and its real names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from catalog_probe.catalog.files.manifest import manifest, providers
from catalog_probe.catalog.model import Address
from catalog_probe.catalog.reading.response_headers import header_names
from catalog_probe.catalog.recognition.proof import Origin, OriginHeaders
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.targets.target import EMBEDDED, is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.targets.target import Target
    from catalog_probe.probes.traffic.recordings import RecordedAttempt

ProviderDialect = tuple[str, Dialect]
"""A provider, and its real names."""


@dataclass(frozen=True, slots=True)
class ProviderUrl:
    """A base URL of a provider in a target: a host, and the path prefix of its answers."""

    host: str
    path: str
    provider_dialect: ProviderDialect

    def contains(self, host: str, path: str) -> bool:
        """Whether a request to this host and path went to this URL: `/v1` contains `/v1/models`, and not `/v10`."""
        return host == self.host and (path == self.path or path.startswith(self.path.rstrip("/") + "/"))


@dataclass(frozen=True)
class Hosts:
    """Finds the provider of a recorded exchange.

    If the user names a target (`strict`), only its URLs count, because results go into the records. Otherwise the
    provider is also found by its name in the recording, by the path of a local mock, and by headers that only it sends.
    """

    base_urls: tuple[ProviderUrl, ...]
    strict: bool
    header_names: Mapping[str, frozenset[str]]
    """The documented response headers of each provider, as stand-ins."""
    origin_headers: Mapping[str, OriginHeaders]

    @classmethod
    def from_targets(cls, targets: Iterable[Target], catalog: Catalog, *, strict: bool) -> Self:
        """Collect the URLs of the targets; those with a longer path come first, because they are more specific."""
        base_urls = [
            ProviderUrl(_host(url), urlsplit(_absolute(url)).path.rstrip("/"), (name, Dialect.for_provider(provider)))
            for target in targets
            for name, provider in target.providers.items()
            for url in provider.addresses.values()
            if url != EMBEDDED
        ]
        records = {name: tuple(catalog.select(provider=name)) for name in providers()}
        return cls(
            base_urls=tuple(sorted(base_urls, key=lambda base_url: -len(base_url.path))),
            strict=strict,
            header_names={name: frozenset().union(*map(header_names, own)) for name, own in records.items()},
            origin_headers={name: OriginHeaders.from_records(name, own) for name, own in records.items()},
        )

    def find_provider(self, attempt: RecordedAttempt) -> ProviderDialect | None:
        """Return the provider that answered and its real names, or None."""
        exchange = attempt.exchanges[0]
        url = exchange.request.url
        host, path = _host(url), urlsplit(_absolute(url)).path if url else ""
        for base_url in self.base_urls:
            if host and base_url.contains(host, path):
                return base_url.provider_dialect
        if self.strict:
            return None
        headers = exchange.response.headers if exchange.response is not None else {}
        name = attempt.provider
        if not name and attempt.record:
            name = Address.parse(attempt.record).provider
        name = name or _provider_of_mock_path(host, path) or self._provider_of_headers(headers)
        return (name, infer_dialect(name, self.header_names[name], headers)) if name else None

    def _provider_of_headers(self, headers: Mapping[str, str]) -> str:
        """Return the provider that alone sends such headers, or an empty string.

        This prevents that another service's answer counts as a provider's; it hides exchanges of hosts that no target
        names, if a proxy has removed these headers.
        """
        names = [
            name for name, origin in self.origin_headers.items() if origin.find_origin(headers)[0] is Origin.PROVIDER
        ]
        return names[0] if len(names) == 1 else ""


def infer_dialect(provider: str, documented_headers: Iterable[str], headers: Iterable[str]) -> Dialect:
    """Infer the provider's real header prefix from a header that ends like a documented one.

    Example: `acme-organization-id` ends like PA's documented `pa-organization-id` -> the real prefix `acme-`.
    """
    stand_ins = manifest(provider).stand_ins
    prefix, id_prefix = stand_ins.header_prefix, stand_ins.id_prefix
    suffixes = {name.removeprefix(prefix) for name in documented_headers if prefix and name.startswith(prefix)}
    for name in map(str.lower, headers):
        for suffix in sorted(suffixes, key=len, reverse=True):
            if name.endswith(suffix) and name != suffix:
                return Dialect(prefix, name.removesuffix(suffix), id_prefix, id_prefix)
    return Dialect(prefix, prefix, id_prefix, id_prefix)


def _provider_of_mock_path(host: str, path: str) -> str:
    """Return the provider that a local mock serves at a path: its first segment, as `/pc/…` or `/pc-auth/…`."""
    name = path.strip("/").partition("/")[0].partition("-")[0]
    return name if name in providers() and is_loopback(host.partition(":")[0]) else ""


def _host(url: str) -> str:
    """Return host and port of a URL, without the default port of its scheme."""
    parts = urlsplit(_absolute(url))
    default_ports = {"http": 80, "ws": 80, "https": 443, "wss": 443}
    try:
        port = parts.port
    except ValueError:
        return ""
    if port in (None, default_ports.get(parts.scheme)):
        return parts.hostname or ""
    return f"{parts.hostname or ''}:{port}"


def _absolute(url: str) -> str:
    return url if "://" in url else f"https://{url}"
