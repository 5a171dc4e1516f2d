"""Runs the engine in a test: some records, on a provider at some address, without pytest in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.probes.planning.plan import Depth, Rotation
from catalog_probe.probes.running.engine import Engine
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Cost, Target
from catalog_probe.probes.targets.target_file import LIMITS
from catalog_probe.probes.wire.redaction import Redactor
from tests.harness import patient

if TYPE_CHECKING:
    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock

CleanResults = Callable[[str], dict[str, Result]]
"""Returns the results of a provider on the mock without faults, by address."""

PATHS = {
    "pa": {"base_url": "/pa"},
    "pb": {"base_url": "/pb"},
    "pc": {"base_url": "/pc", "auth_url": "/pc-auth", "mtls_auth_url": "/pc-auth"},
    "pd": {"base_url": "/pd", "management_url": "/pd-management", "regional_base_url": "/pd-regional"},
}
"""Where the mock serves each address of a provider."""


@cache
def catalog() -> Catalog:
    return Catalog.load()


@cache
def _load_mock_target() -> Target:
    return targets.load("mock")


def mock_target_at(base: str, **changes: Any) -> Target:
    """Return the mock target with all providers at one address and out of gRPC's reach, `changes` made to each.

    Example: `max_requests=5` changes the limits of each provider, `ca_file="ca.pem"` the provider itself.
    """
    target = _load_mock_target()
    addresses = {name: {key: f"{base}{path}" for key, path in paths.items()} for name, paths in PATHS.items()}
    for name, provider in target.providers.items():
        if "grpc_host" in provider.addresses:
            addresses[name]["grpc_host"] = "localhost:1"
    moved = target.with_addresses(addresses)
    limits = {name: changes.pop(name) for name in LIMITS & changes.keys()}
    return replace(
        moved,
        providers={
            name: replace(provider, limits=replace(provider.limits, **limits), **changes)
            for name, provider in moved.providers.items()
        },
    )


def reset_mock(mock: EmbeddedMock) -> None:
    """Reset the state of a mock process: all runs of a harness use the same session names."""
    base = mock.addresses()["pd"]["base_url"].removesuffix("/pd")
    patient.post(f"{base}/__mock__/reset").raise_for_status()


FIRST_ENDPOINTS = Rotation(Depth.QUICK, date.min)
"""The first endpoint of each record: enough if the tested behaviour is the same on all of them."""


@contextmanager
def engine(
    target: Target,
    records: Catalog | None = None,
    drawing: Rotation = FIRST_ENDPOINTS,
    allow: frozenset[Cost] = frozenset(Cost),
) -> Iterator[Engine]:
    """An engine that may send probes of any cost by default, closed afterwards."""
    running = Engine(
        catalog=records or catalog(),
        target=target,
        allow=allow,
        run="test",
        redactor=Redactor.for_target(target),
        drawing=drawing,
    )
    try:
        yield running
    finally:
        running.close()


def probe(
    target: Target,
    addresses: Iterable[str],
    records: Catalog | None = None,
    drawing: Rotation = FIRST_ENDPOINTS,
    allow: frozenset[Cost] = frozenset(Cost),
) -> dict[str, Result]:
    """Probe these records, and return their results by address."""
    chosen = list(addresses)
    with engine(target, records, drawing, allow) as running:
        running.start(chosen)
        return {address: running.result(address) for address in chosen}
