"""The client that the tests of the mock share."""

from __future__ import annotations

import pytest

from catalog_probe.mockserver.app import create_app
from tests.unit.mockserver.mock_client import Client
from tests.unit.mockserver.pc_client import PcClient
from tests.unit.mockserver.pd_client import PdClient


@pytest.fixture
def client() -> Client:
    """A client of a mock of its own."""
    return Client(create_app(only=["pa"], list_requests=True))


@pytest.fixture
def pd() -> PdClient:
    """A client of PD on a mock of its own."""
    return PdClient(create_app(only=["pd"]))


@pytest.fixture
def pc() -> PcClient:
    """A client of PC on a mock of its own."""
    return PcClient(create_app(only=["pc"]))
