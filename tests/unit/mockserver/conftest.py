"""Clients of a mock with one provider, for the tests of the mock."""

from __future__ import annotations

import pytest

from catalog_probe.mockserver.app import create_app
from tests.unit.mockserver.mock_client import Client, PbClient, PcClient, PdClient


@pytest.fixture
def client() -> Client:
    """Client of PA."""
    return Client(create_app(only=["pa"], list_requests=True))


@pytest.fixture
def pb() -> PbClient:
    """Client of PB."""
    return PbClient()


@pytest.fixture
def pd() -> PdClient:
    """Client of PD."""
    return PdClient(create_app(only=["pd"]))


@pytest.fixture
def pc() -> PcClient:
    """Client of PC."""
    return PcClient(create_app(only=["pc"]))
