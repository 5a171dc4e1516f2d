"""What the probes' tests share: one mock process a test process, and what the clean suite saw on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harness.engines import Clean, catalog, probe

from catalog.evidence import Result
from probes import target as targets
from probes.embedded import EmbeddedMock
from probes.target import Target


@pytest.fixture(scope="session")
def mock() -> Iterator[EmbeddedMock]:
    running = EmbeddedMock()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def mock_target(mock: EmbeddedMock) -> Target:
    return targets.load("mock").served_by(mock.addresses())


@pytest.fixture(scope="session")
def clean(mock_target: Target) -> Clean:
    """The results of all records of a provider on the mock, probed once."""
    seen: dict[str, dict[str, Result]] = {}

    def of(provider: str) -> dict[str, Result]:
        if provider not in seen:
            chosen = [str(record.address) for record in catalog().select(provider=provider)]
            seen[provider] = probe(mock_target, chosen)
        return seen[provider]

    return of
