"""Subject tokens of workload identity: a JWT or a certificate (1:5.3)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pc.errors import INVALID_GRANT, INVALID_SUBJECT_TOKEN

if TYPE_CHECKING:
    from collections.abc import Mapping

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
