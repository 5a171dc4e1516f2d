"""The client that the tests of the mock share."""

from __future__ import annotations

import pytest
from mock_client import Client

from mockserver.app import create_app


@pytest.fixture
def client() -> Client:
    """A client of a mock of its own."""
    return Client(create_app(only=["pa"]))
