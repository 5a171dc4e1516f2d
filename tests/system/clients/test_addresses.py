"""A record in the address reaches the mock through the URL joining of every official client."""

from __future__ import annotations

import pytest

from catalog_probe.testing import mock_providers

pytest.importorskip("pydantic", reason="no client is installed (dependency groups `clients` and `independent`)")

from tests.system.clients.independent import CLIENTS
from tests.system.clients.test_independent import ClientSession

pytestmark = [pytest.mark.filterwarnings("ignore")]

OFFICIAL = ("anthropic", "google-genai", "openai chat", "openai responses", "openai at pd")

REFUSALS = {
    "pa": "pa/errors/general/permission_error",
    "pb": "pb/errors/general/key_leaked",
    "pc": "pc/errors/permission/insufficient_permissions",
    "pd": "pd/errors/permission/team_blocked",
}


@pytest.mark.parametrize("name", OFFICIAL)
def test_a_record_in_the_address_survives(name: str) -> None:
    client = CLIENTS[name]
    if not client.is_installed:
        pytest.skip(f"{client.package} is not installed (`nox -s clients` does)")
    with mock_providers(only=[client.provider]) as mock:
        session = ClientSession(client, mock.session("a session"))
        endpoint = session.at(causes=f"{REFUSALS[client.provider]};times=1, rate_limited;times=1")
        session.raises("403", lambda: client.chat(endpoint, "Hello"))
        assert session.attempts == 1
