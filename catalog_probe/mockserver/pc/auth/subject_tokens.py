"""Subject tokens of workload identity: a JWT is verified and its claims compared, a certificate looked up (1:5.3)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pc.errors import INVALID_GRANT, INVALID_SUBJECT_TOKEN, PcError

if TYPE_CHECKING:
    from collections.abc import Mapping

LEEWAY_S = 60
"""How far the clocks of issuer and provider may be apart."""


@dataclass(frozen=True)
class IdentityProvider:
    """The provider configuration: whose tokens are taken, for whom, about whom, and what they are signed with."""

    issuer: str
    audience: str
    subjects: frozenset[str]
    secret: bytes
    certificates: frozenset[str]
    """SHA-256 fingerprints of the certificates that stand for a workload."""


CONFIGURED = IdentityProvider(
    issuer="https://issuer.example.test",
    audience="mock-pc",
    subjects=frozenset({"workload:mock"}),
    secret=b"mock-pc-identity-provider",
    certificates=frozenset({"3f8fae7d84b46c3b18cdbca7b6f4f07585b3faef79956e25feccbaa8d4ec044c"}),
)


def verify_jwt(token: str, now: float) -> None:
    """Raise why a JWT is not good enough: unverifiable or out of time, or not what is configured."""
    claims = _verified(token)
    for name in ("iss", "aud", "sub", "exp", "iat"):
        if name not in claims:
            raise _unusable(f"The subject token has no claim '{name}'.")
    if has_expired(claims, now):
        raise _unusable("The subject token has expired.")
    if is_of_the_future(claims, now):
        raise _unusable("The subject token was issued in the future.")
    for name, matches in compared(claims).items():
        if not matches:
            raise INVALID_GRANT(f"The claim '{name}' does not match the provider configuration.")


def has_expired(claims: Mapping[str, Any], now: float) -> bool:
    """Whether `exp` has passed."""
    return not isinstance(claims["exp"], int | float) or claims["exp"] <= now - LEEWAY_S


def is_of_the_future(claims: Mapping[str, Any], now: float) -> bool:
    """Whether `iat` is still to come."""
    return not isinstance(claims["iat"], int | float) or claims["iat"] > now + LEEWAY_S


def compared(claims: Mapping[str, Any]) -> dict[str, bool]:
    """Which of the claims about who it is match the provider configuration."""
    audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    return {
        "iss": claims["iss"] == CONFIGURED.issuer,
        "aud": CONFIGURED.audience in audiences,
        "sub": claims["sub"] in CONFIGURED.subjects,
    }


def verify_certificate(text: str) -> None:
    """Raise why a certificate is not good enough."""
    lines = [line for line in text.strip().splitlines() if not line.startswith("-----")]
    try:
        der = base64.b64decode("".join(lines), validate=True)
    except (binascii.Error, ValueError):
        raise _unusable("The subject token is no certificate.") from None
    if not der:
        raise _unusable("The subject token is no certificate.")
    fingerprint = hashlib.sha256(der).hexdigest()
    if not any(hmac.compare_digest(fingerprint, known) for known in CONFIGURED.certificates):
        raise INVALID_GRANT("The certificate is not one of the provider configuration.")


def _verified(token: str) -> dict[str, Any]:
    """The claims of a token whose HS256 signature is right."""
    head, _, signature = token.rpartition(".")
    try:
        header, payload = (json.loads(_decoded(part)) for part in head.split("."))
        given = _decoded(signature)
    except (ValueError, binascii.Error):
        raise _unusable("The subject token is no JWT.") from None
    if not isinstance(header, dict) or header.get("alg") != "HS256" or not isinstance(payload, dict):
        raise _unusable("The subject token is not signed with HS256.")
    if not hmac.compare_digest(given, hmac.digest(CONFIGURED.secret, head.encode(), "sha256")):
        raise _unusable("The signature of the subject token is wrong.")
    return payload


def _decoded(part: str) -> bytes:
    return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)


def _unusable(message: str) -> PcError:
    return INVALID_SUBJECT_TOKEN(message, "subject_token")
