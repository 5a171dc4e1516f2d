"""PC's mutual-TLS host: it verifies subject tokens, and accepts nothing else (1:4.3, 1:5.3, 2:7.5)."""

from __future__ import annotations

import base64
import hmac
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.mockserver.pc_client import PcClient, refusal_of

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


@pytest.mark.parametrize("token", [{}, {"aud": ["other", "mock-pc"]}])
def test_a_jwt_buys_a_key_for_an_hour(pc: PcClient, token: dict[str, Any]) -> None:
    granted = exchange(pc, jwt(**token)).json()
    assert (granted["token_type"], granted["expires_in"]) == ("Bearer", 3600)
    assert pc.respond(key=granted["access_token"]).status_code == 200
    late = pc.respond(key=granted["access_token"], clock="+61m")
    assert refusal_of(late)[:2] == (401, "invalid_api_key")
    elsewhere = pc.respond(key=granted["access_token"], headers={"x-mock-session": "another"})
    assert elsewhere.status_code == 401


@pytest.mark.parametrize(
    "text", [CERTIFICATE, f"-----BEGIN CERTIFICATE-----\n{CERTIFICATE}\n-----END CERTIFICATE-----"]
)
def test_a_certificate_buys_a_key(pc: PcClient, text: str) -> None:
    granted = exchange(pc, text, "x509").json()
    assert pc.ask("GET", "/v1/models", key=granted["access_token"]).status_code == 200


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"iss": "https://other.example.test"}, "invalid_grant"),
        ({"aud": "other"}, "invalid_grant"),
        ({"sub": "workload:other"}, "invalid_grant"),
        ({"exp": 1}, "invalid_subject_token"),
        ({"exp": "soon"}, "invalid_subject_token"),
        ({"iat": 4_000_000_000}, "invalid_subject_token"),
        ({"iat": None}, "invalid_subject_token"),
        ({"sub": None}, "invalid_subject_token"),
        ({"secret": b"other"}, "invalid_subject_token"),
        ({"algorithm": "none"}, "invalid_subject_token"),
    ],
)
def test_a_jwt_that_is_not_good_enough(pc: PcClient, changes: dict[str, Any], code: str) -> None:
    answer = exchange(pc, jwt(**changes))
    assert refusal_of(answer)[:2] == (400, code)
    assert answer.json()["error"]["type"] == "oauth"


@pytest.mark.parametrize("token", ["no-token", "a.b.c", "..", encode_base64url(b"x"), "é.é.é"])
def test_a_token_that_is_no_jwt_is_refused(pc: PcClient, token: str) -> None:
    assert refusal_of(exchange(pc, token))[:2] == (400, "invalid_subject_token")


@pytest.mark.parametrize(
    ("token", "code"),
    [
        ("!", "invalid_subject_token"),
        ("-----", "invalid_subject_token"),
        (encode_base64url(b"otherwise"), "invalid_grant"),
    ],
)
def test_a_certificate_that_is_not_good_enough(pc: PcClient, token: str, code: str) -> None:
    assert refusal_of(exchange(pc, token, "x509"))[:2] == (400, code)


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"subject_token": None}, "subject_token"),
        ({"grant_type": None}, "grant_type"),
        ({"grant_type": "password"}, "grant_type"),
        ({"subject_token_type": f"{KIND}saml2"}, "subject_token_type"),
    ],
)
def test_a_request_that_is_not_complete_or_not_valid(pc: PcClient, changes: dict[str, Any], param: str) -> None:
    assert refusal_of(exchange(pc, jwt(), **changes)) == (400, "invalid_request", param)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/oauth/token"), ("PUT", "/oauth/token"), ("POST", "/oauth/token/"), ("POST", "/"), ("GET", "/v1/models")],
)
def test_everything_else_on_the_host_is_forbidden(pc: PcClient, method: str, path: str) -> None:
    answer = pc.ask(method, path, host="pc-auth")
    assert refusal_of(answer) == (403, None, None)
    assert answer.json()["error"]["type"] is None
