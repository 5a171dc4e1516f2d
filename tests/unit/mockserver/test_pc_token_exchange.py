"""Subject tokens of PC's token exchange beyond those that the records send (1:4.3, 1:5.3, 2:7.5)."""

from __future__ import annotations

import base64
import hmac
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.mockserver.mock_client import PcClient, read_refusal

if TYPE_CHECKING:
    from httpx import Response

GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
KIND = "urn:ietf:params:oauth:token-type:"
SECRET = b"mock-pc-identity-provider"
CERTIFICATE = base64.b64encode(b"mock certificate of workload:mock, no real one").decode()


def encode_base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def jwt(secret: bytes = SECRET, algorithm: str = "HS256", **changes: Any) -> str:
    now = int(time.time())
    good = {
        "iss": "https://issuer.example.test",
        "aud": "mock-pc",
        "sub": "workload:mock",
        "exp": now + 600,
        "iat": now,
    }
    claims = {name: value for name, value in {**good, **changes}.items() if value is not None}
    head = (
        f"{encode_base64url(json.dumps({'alg': algorithm}).encode())}.{encode_base64url(json.dumps(claims).encode())}"
    )
    return f"{head}.{encode_base64url(hmac.digest(secret, head.encode(), 'sha256'))}"


def exchange(pc: PcClient, token: str | None, kind: str = "jwt", **changes: str | None) -> Response:
    body = {"grant_type": GRANT, "subject_token": token, "subject_token_type": KIND + kind, **changes}
    fields = {name: value for name, value in body.items() if value is not None}
    return pc.ask("POST", "/oauth/token", json=fields, key=None, host="pc-auth")


@pytest.mark.parametrize("claims", [{}, {"aud": ["other", "mock-pc"]}])
def test_a_jwt_buys_a_key_of_its_session(pc: PcClient, claims: dict[str, Any]) -> None:
    granted = exchange(pc, jwt(**claims)).json()
    assert pc.respond(key=granted["access_token"]).status_code == 200
    elsewhere = pc.respond(key=granted["access_token"], headers={"x-mock-session": "another"})
    assert elsewhere.status_code == 401


@pytest.mark.parametrize(
    "text", [CERTIFICATE, f"-----BEGIN CERTIFICATE-----\n{CERTIFICATE}\n-----END CERTIFICATE-----"]
)
def test_a_certificate_buys_a_key(pc: PcClient, text: str) -> None:
    granted = exchange(pc, text, "x509").json()
    assert pc.ask("GET", "/v1/models", key=granted["access_token"]).status_code == 200


@pytest.mark.parametrize(
    "changes",
    [{"exp": "soon"}, {"iat": "soon"}, {"iat": None}, {"sub": None}, {"secret": b"other"}, {"algorithm": "none"}],
)
def test_a_jwt_that_cannot_be_verified_is_refused(pc: PcClient, changes: dict[str, Any]) -> None:
    answer = exchange(pc, jwt(**changes))
    assert read_refusal(answer)[:2] == (400, "invalid_subject_token")
    assert answer.json()["error"]["type"] == "oauth"


@pytest.mark.parametrize("token", ["no-token", "a.b.c", "..", encode_base64url(b"x"), "é.é.é"])
def test_a_token_that_is_no_jwt_is_refused(pc: PcClient, token: str) -> None:
    assert read_refusal(exchange(pc, token))[:2] == (400, "invalid_subject_token")


@pytest.mark.parametrize(
    ("token", "code"),
    [
        ("!", "invalid_subject_token"),
        ("-----", "invalid_subject_token"),
        (encode_base64url(b"otherwise"), "invalid_grant"),
    ],
)
def test_a_certificate_that_is_not_good_enough(pc: PcClient, token: str, code: str) -> None:
    assert read_refusal(exchange(pc, token, "x509"))[:2] == (400, code)


def test_a_token_of_an_unknown_kind_is_refused(pc: PcClient) -> None:
    refused = exchange(pc, jwt(), subject_token_type=f"{KIND}saml2")
    assert read_refusal(refused) == (400, "invalid_request", "subject_token_type")


@pytest.mark.parametrize(("method", "path"), [("PUT", "/oauth/token"), ("POST", "/oauth/token/"), ("POST", "/")])
def test_everything_else_on_the_host_is_forbidden(pc: PcClient, method: str, path: str) -> None:
    assert read_refusal(pc.ask(method, path, host="pc-auth")) == (403, None, None)
