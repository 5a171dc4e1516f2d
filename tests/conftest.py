"""What all tests share: time enough on a busy machine, one mock process a test process, what the clean suite saw."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from catalog.evidence.results import Result
from probes.suite.embedded_mock import EmbeddedMock
from probes.target import target as targets
from probes.target.target import Target
from tests.harness.engines import Clean, catalog, probe

settings.register_profile("unhurried", deadline=None, print_blob=True)
settings.load_profile("unhurried")


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
