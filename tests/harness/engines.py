"""Runs the engine in a test: some records, on a provider at some address, without pytest in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.probes.planning.rotation import Depth, Rotation
from catalog_probe.probes.running.engine import Engine
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import NONEXISTENT_KEY, Cost, Target
from catalog_probe.probes.wire.redaction.redactor import Redactor
from tests.harness import patient

if TYPE_CHECKING:
    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock

Clean = Callable[[str], dict[str, Result]]
"""What the clean suite saw of a provider on the mock, by address."""

PREFIXES = {
    "pa": {"base_url": "/pa"},
    "pb": {"base_url": "/pb"},
    "pc": {"base_url": "/pc", "auth_url": "/pc-auth", "mtls_auth_url": "/pc-auth"},
    "pd": {"base_url": "/pd", "management_url": "/pd-management", "regional_base_url": "/pd-regional"},
}


@cache
def catalog() -> Catalog:
    return Catalog.load()


@cache
def _of_the_mock() -> Target:
    return targets.load("mock")


def mock_target_at(base: str, **changes: Any) -> Target:
    """The mock target, its providers all at one address; `changes` are made to every provider."""
    addresses = {name: {key: f"{base}{prefix}" for key, prefix in table.items()} for name, table in PREFIXES.items()}
    target = _of_the_mock()
    kept: dict[str, Mapping[str, str]] = {}
    for name, provider in target.providers.items():
        wanted = {**addresses[name], **{key: "localhost:1" for key in provider.addresses if key == "grpc_host"}}
        kept[name] = wanted
    served = target.with_addresses(kept)
    return replace(served, providers={name: replace(each, **changes) for name, each in served.providers.items()})


def forget_all(mock: EmbeddedMock) -> None:
    """Have a mock's process forget all that was done there: sessions of a harness's runs have the same names."""
    base = mock.addresses()["pd"]["base_url"].removesuffix("/pd")
    patient.post(f"{base}/__mock__/reset").raise_for_status()


FIRST = Rotation(Depth.QUICK, date.min)
"""The first endpoint of each record: enough, where what is tested is the same on all of them."""


@contextmanager
def engine(
    target: Target,
    records: Catalog | None = None,
    drawing: Rotation = FIRST,
    allow: frozenset[Cost] = frozenset(Cost),
) -> Iterator[Engine]:
    """An engine that may do everything unless told, closed afterwards."""
    running = Engine(
        catalog=records or catalog(),
        target=target,
        allow=allow,
        run="test",
        redactor=Redactor.for_target(target, public=[NONEXISTENT_KEY]),
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
    drawing: Rotation = FIRST,
    allow: frozenset[Cost] = frozenset(Cost),
) -> dict[str, Result]:
    """The results of these records."""
    chosen = list(addresses)
    with engine(target, records, drawing, allow) as running:
        running.start(chosen)
        return {address: running.result(address) for address in chosen}
