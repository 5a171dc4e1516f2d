"""The credential for an operation of our OpenAPI export: its record's first role."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.recognition.endpoints import BEARER, credential
from catalog_probe.probes.targets import target_file as targets
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.targets.target import Provider


@cache
def _provider(name: str) -> Provider:
    return targets.load("mock").providers[name]


def headers(provider: str, operation: Mapping[str, Any]) -> dict[str, str]:
    """The headers that every request of a client carries, and the key for this operation."""
    about = _provider(provider)
    record = catalog()[operation["x-record"][0]]
    key, roles = credential(record), (record.data.get("auth") or {}).get("roles") or ("inference",)
    given = about.credentials.get(roles[0]) or about.credentials["inference"]
    if key is None:
        return dict(about.headers)
    value = f"Bearer {given.value}" if key.scheme == BEARER else str(given.value)
    return {**about.headers, key.header: value}
