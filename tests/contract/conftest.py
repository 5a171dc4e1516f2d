"""What the contract's tests share: one mock process, and one stand for faults before it, a test process."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from probes.suite.embedded_mock import EmbeddedMock
from tests.harness.fault_proxy import Stand, standing


@pytest.fixture(scope="session")
def mock() -> Iterator[EmbeddedMock]:
    running = EmbeddedMock()
    yield running
    running.stop()


@pytest.fixture
def fresh_mock(mock: EmbeddedMock) -> EmbeddedMock:
    """The mock process with all that earlier tests did there forgotten: a session's names and state repeat."""
    base = mock.addresses()["pd"]["base_url"].removesuffix("/pd")
    httpx.post(f"{base}/__mock__/reset", trust_env=False).raise_for_status()
    return mock


@pytest.fixture(scope="session")
def shared_stand(mock: EmbeddedMock) -> Iterator[Stand]:
    with standing(mock.addresses()["pd"]["grpc_host"]) as stand:
        yield stand


@pytest.fixture
def stand(shared_stand: Stand, fresh_mock: EmbeddedMock) -> Stand:
    return shared_stand
