"""The fixtures of the contract tests: one fault proxy a test process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.engines import reset_mock
from tests.harness.fault_proxy import FaultServer, serving_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock


@pytest.fixture
def fresh_mock(mock: EmbeddedMock) -> EmbeddedMock:
    """The mock process with its state reset: session names repeat from test to test."""
    reset_mock(mock)
    return mock


@pytest.fixture(scope="session")
def shared_fault_server(mock: EmbeddedMock) -> Iterator[FaultServer]:
    with serving_faults(mock.addresses()["pd"]["grpc_host"]) as fault_server:
        yield fault_server


@pytest.fixture
def fault_server(shared_fault_server: FaultServer, fresh_mock: EmbeddedMock) -> FaultServer:
    return shared_fault_server
