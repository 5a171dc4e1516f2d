"""PB's ephemeral tokens: made over HTTP, redeemed by the live connection only (1:5.2)."""

from __future__ import annotations

from typing import Any

import pytest

from catalog_probe.mockserver.core.sessions import Session
from catalog_probe.mockserver.pb import ephemeral
from catalog_probe.mockserver.pb.ephemeral import TokenState
from catalog_probe.mockserver.pb.keys import MAIN
from tests.unit.mockserver.pb_client import PbClient, read_status


def test_a_token_is_accepted_by_the_live_api_only(pb: PbClient) -> None:
    name = pb.ask("POST", "/v1beta/auth_tokens", json={}).json()["name"]
    header = {"authorization": f"Token {name}"}
    assert read_status(pb.ask("GET", "/v1beta/models", key=None, headers=header)) == (403, "PERMISSION_DENIED")
    expired = pb.ask("GET", "/v1beta/models", key=None, headers=header, clock="+1d")
    assert read_status(expired) == (401, "UNAUTHENTICATED")
    assert read_status(pb.ask("GET", "/v1beta/models", key=name, clock="+1d")) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize("fields", [{"uses": "1"}, {"expireTime": "soon"}], ids=str)
def test_fields_of_a_token_request_are_validated(pb: PbClient, fields: dict[str, Any]) -> None:
    assert read_status(pb.ask("POST", "/v1beta/auth_tokens", json=fields)) == (400, "INVALID_ARGUMENT")


def test_tokens_exist_in_v1beta_only(pb: PbClient) -> None:
    assert read_status(pb.ask("POST", "/v1/auth_tokens", json={})) == (404, "NOT_FOUND")


def test_a_live_session_uses_a_token_up() -> None:
    session = Session("one")
    token = ephemeral.issue(session, MAIN, now=0, uses=2)
    assert [ephemeral.redeem(session, token.name, now=1) for _ in range(3)] == [
        TokenState.GOOD,
        TokenState.GOOD,
        TokenState.USED_UP,
    ]
    assert ephemeral.redeem(session, "auth_tokens/none", now=1) is TokenState.UNKNOWN


def test_a_token_expires() -> None:
    session = Session("one")
    token = ephemeral.issue(session, MAIN, now=0, expires_at=600, uses=0)
    assert ephemeral.redeem(session, token.name, now=599) is TokenState.GOOD
    assert ephemeral.find_state(session, token.name, now=599) is TokenState.GOOD
    assert ephemeral.redeem(session, token.name, now=600) is TokenState.EXPIRED


def test_a_token_is_unknown_in_another_session() -> None:
    token = ephemeral.issue(Session("one"), MAIN, now=0)
    assert ephemeral.find_state(Session("two"), token.name, now=0) is TokenState.UNKNOWN
