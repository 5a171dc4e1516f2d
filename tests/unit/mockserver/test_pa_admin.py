"""PA's admin API and the signed requests of the cloud-marketplace variant (1:4.1, 1:5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.mockserver.pa.auth.authentication import signature

if TYPE_CHECKING:
    from httpx import Response

    from tests.unit.mockserver.mock_client import Client

ADMIN, MARKETPLACE = "mock-pa-admin", "mock-pa-marketplace"
ME = "/v1/organizations/me"
LIMITS = "/v1/organizations/rate_limits"
MARKET_WORKSPACE = "/v1/organizations/workspaces/wrkspc_01MockMarketWorkspace001/rate_limits"
ADMIN_PATHS = (ME, LIMITS, "/v1/organizations/workspaces/wrkspc_01MockCodingAssistant001/rate_limits")


@pytest.mark.parametrize("path", ADMIN_PATHS)
def test_an_admin_answer_names_the_organization_and_no_workspace(client: Client, path: str) -> None:
    answer = client.pa("GET", path, key=ADMIN)
    assert answer.status_code == 200
    assert answer.headers["pa-organization-id"]
    assert "pa-workspace-id" not in answer.headers


@pytest.mark.parametrize("path", ADMIN_PATHS)
@pytest.mark.parametrize(
    ("key", "status"),
    [(None, 401), ("mock-pa-admin-expired", 401), ("mock-pa-inference", 403), ("mock-pa-compliance", 403)],
)
def test_only_a_usable_admin_key_is_admitted(client: Client, path: str, key: str | None, status: int) -> None:
    assert client.pa("GET", path, key=key).status_code == status


def test_an_admin_key_makes_no_inference(client: Client) -> None:
    assert client.hello(key=ADMIN).status_code == 403


def test_workspace_limits_lie_below_the_organization_s_and_the_default_workspace_has_none(client: Client) -> None:
    organization_limits = {limit["id"]: limit["value"] for limit in client.pa("GET", LIMITS, key=ADMIN).json()["data"]}
    own = client.pa("GET", ADMIN_PATHS[2], key=ADMIN).json()["data"]
    assert own
    assert all(limit["value"] < organization_limits[limit["id"]] for limit in own)
    default = "/v1/organizations/workspaces/wrkspc_01MockDefaultWorkspace01/rate_limits"
    assert client.pa("GET", default, key=ADMIN).json()["data"] == []
    unknown = client.pa("GET", "/v1/organizations/workspaces/wrkspc_none/rate_limits", key=ADMIN)
    assert unknown.status_code == 404


def send_signed(client: Client, signature_of: str, *, path: str = "/v1/models") -> Response:
    authorization = f"HMAC-SHA256 Credential={MARKETPLACE}, Signature={signature_of}"
    return client.pa("GET", path, key=None, headers={"authorization": authorization})


def test_a_well_signed_request_is_answered(client: Client) -> None:
    answer = send_signed(client, signature(MARKETPLACE, "GET", "/v1/models"))
    assert answer.status_code == 200
    assert answer.headers["pa-organization-id"]


@pytest.mark.parametrize(
    "bad", ["0000", "0" * 64, signature(MARKETPLACE, "POST", "/v1/models"), signature(MARKETPLACE, "GET", "/v1/files")]
)
def test_a_badly_signed_request_gets_401(client: Client, bad: str) -> None:
    answer = send_signed(client, bad)
    assert answer.status_code == 401
    assert "pa-organization-id" not in answer.headers


def test_an_access_id_alone_is_no_key(client: Client) -> None:
    assert client.pa("GET", "/v1/models", key=MARKETPLACE).status_code == 401


def test_a_customer_of_the_marketplace_has_no_limits_per_workspace(client: Client) -> None:
    assert client.pa("GET", MARKET_WORKSPACE, key="mock-pa-admin-marketplace").json()["data"] == []
