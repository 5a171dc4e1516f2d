"""A client that speaks to PD in a mock of this process."""

from __future__ import annotations

from tests.unit.mockserver.mock_client import ChatClient


class PdClient(ChatClient):
    """Sends one request at a time; each in the shared session unless it names another."""

    provider = "pd"
