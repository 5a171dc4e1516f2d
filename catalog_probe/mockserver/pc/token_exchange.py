"""PC's mutual-TLS host: it exchanges a JWT or certificate for a key (1:4.3, 1:5.3)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.bodies import BodyRules, read_json
from catalog_probe.mockserver.core.fields import find_violations
from catalog_probe.mockserver.core.gateway import Call, Endpoint, Gateway, RouteMatch
from catalog_probe.mockserver.pc.errors import (
    INVALID_GRANT,
    INVALID_REQUEST_OF_TOKEN,
    INVALID_SUBJECT_TOKEN,
    MUTUAL_TLS_HOST,
    NO_PARAMETER_OF_TOKEN,
    TOKEN_BREACHES,
    make_response,
)
from catalog_probe.mockserver.pc.fields import TOKEN_EXCHANGE
from catalog_probe.mockserver.pc.gateway import REQUEST_ID
from catalog_probe.mockserver.pc.keys import AccessToken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal


LEEWAY_S = 60  # for clocks of issuer and provider that differ


@dataclass(frozen=True)
class IdentityProvider:
    """The provider configuration with which the claims of a token are compared."""

    issuer: str
    audience: str
    subjects: frozenset[str]
    secret: bytes
    certificates: frozenset[str]  # SHA-256 fingerprints of accepted certificates


CONFIGURED = IdentityProvider(
    issuer="https://issuer.example.test",
    audience="mock-pc",
    subjects=frozenset({"workload:mock"}),
    secret=b"mock-pc-identity-provider",
    certificates=frozenset({"3f8fae7d84b46c3b18cdbca7b6f4f07585b3faef79956e25feccbaa8d4ec044c"}),
)


def verify_jwt(token: str, now: float) -> None:
    """Refuse a JWT that is unverifiable, out of time or not as configured."""
    claims = _verify_signature(token)
    for name in ("iss", "aud", "sub", "exp", "iat"):
        if name not in claims:
            raise INVALID_SUBJECT_TOKEN(reason=f"has no claim '{name}'")
    if has_expired(claims, now):
        raise INVALID_SUBJECT_TOKEN(reason="has expired")
    if is_issued_in_future(claims, now):
        raise INVALID_SUBJECT_TOKEN(reason="was issued in the future")
    for name, matches in compare_claims(claims).items():
        if not matches:
            raise INVALID_GRANT(what=f"claim '{name}'")


def has_expired(claims: Mapping[str, Any], now: float) -> bool:
    """Return whether `exp` has passed."""
    return not isinstance(claims["exp"], int | float) or claims["exp"] <= now - LEEWAY_S


def is_issued_in_future(claims: Mapping[str, Any], now: float) -> bool:
    """Return whether `iat` is in the future."""
    return not isinstance(claims["iat"], int | float) or claims["iat"] > now + LEEWAY_S


def compare_claims(claims: Mapping[str, Any]) -> dict[str, bool]:
    """Return for each identity claim whether it matches the provider configuration."""
    audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    return {
        "iss": claims["iss"] == CONFIGURED.issuer,
        "aud": CONFIGURED.audience in audiences,
        "sub": claims["sub"] in CONFIGURED.subjects,
    }


def verify_certificate(text: str) -> None:
    """Refuse a PEM certificate that is malformed or not configured."""
    lines = [line for line in text.strip().splitlines() if not line.startswith("-----")]
    try:
        der = base64.b64decode("".join(lines), validate=True)
    except ValueError:
        der = b""
    if not der:
        raise INVALID_SUBJECT_TOKEN(reason="is no certificate")
    if hashlib.sha256(der).hexdigest() not in CONFIGURED.certificates:
        raise INVALID_GRANT(what="certificate")


def _verify_signature(token: str) -> dict[str, Any]:
    """Return the claims of a token, or refuse it if its HS256 signature is wrong."""
    head, _, signature = token.rpartition(".")
    try:
        header, payload = (json.loads(_decode(part)) for part in head.split("."))
        digest = _decode(signature)
    except ValueError:
        raise INVALID_SUBJECT_TOKEN(reason="is no JWT") from None
    if not isinstance(header, dict) or header.get("alg") != "HS256" or not isinstance(payload, dict):
        raise INVALID_SUBJECT_TOKEN(reason="is not signed with HS256")
    if not hmac.compare_digest(digest, hmac.digest(CONFIGURED.secret, head.encode(), "sha256")):
        raise INVALID_SUBJECT_TOKEN(reason="has a wrong signature")
    return payload


def _decode(part: str) -> bytes:
    return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)


# The kinds of subject token: the documents name a JWT and a certificate (1:5.3), and no names on the wire.
JWT = "urn:ietf:params:oauth:token-type:jwt"
CERTIFICATE = "urn:ietf:params:oauth:token-type:x509"

LIFETIME_S = 3_600  # of an access token; the mock's choice
RULES = BodyRules(256 * 1024, INVALID_REQUEST_OF_TOKEN, INVALID_REQUEST_OF_TOKEN)


class TokenHost(Gateway[Call, Endpoint]):
    """The ASGI app of the mutual-TLS host. A certificate comes in the body."""

    def open_call(self, request: Request) -> Call:
        return Call(request=request)

    def admit(self, call: Call, match: RouteMatch[Endpoint]) -> Endpoint:
        call.headers[REQUEST_ID] = call.session.new_id("req_", 32)
        if match.row is None:
            raise MUTUAL_TLS_HOST()
        return match.row

    def refuse(self, call: Call, refusal: Refusal) -> Response:
        return make_response(refusal)


async def exchange(call: Call) -> Response:
    """Exchange a valid subject token for an access token."""
    body = await _read_body(call)
    kind, subject_token = body["subject_token_type"], body["subject_token"]
    if kind == JWT:
        verify_jwt(subject_token, call.now)
    elif kind == CERTIFICATE:
        verify_certificate(subject_token)
    else:
        raise NO_PARAMETER_OF_TOKEN(path="subject_token_type", param="subject_token_type")
    token = call.session.new_id("mock-pc-access-", 40)
    call.session.store(AccessToken)[token] = AccessToken(call.now + LIFETIME_S)
    return JSONResponse(
        {
            "access_token": token,
            "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
            "token_type": "Bearer",
            "expires_in": LIFETIME_S,
        },
        headers={"cache-control": "no-store"},
    )


async def _read_body(call: Call) -> dict[str, Any]:
    """Read the parameters as JSON, which clients send."""
    body: dict[str, Any] = (await read_json(call.request, RULES)).value
    violation = next(find_violations(body, TOKEN_EXCHANGE), None)
    if violation is not None:
        raise violation.make_refusal(TOKEN_BREACHES)
    return body


TOKEN_ROUTES = (Endpoint("POST", "/oauth/token", exchange, "1:4.3"),)
"""2:7.5 row 403: "any method or path except exact POST /oauth/token"."""
