"""Who is calling PA: a key in `x-api-key`, a bearer token or a signer, and whether they may (1:5.1, 2:7.3 row 401)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.pa.auth.keys import KEYS, Key, Role, State
from catalog_probe.mockserver.pa.auth.signing import signer
from catalog_probe.mockserver.pa.errors import AUTHENTICATION, PaError

if TYPE_CHECKING:
    from starlette.requests import Request

    from catalog_probe.mockserver.pa.names import Names

BEARER = "bearer "
USUAL = "mock-pa-inference"
"""As which key any other is taken, where that is let pass."""


def presented_secret(request: Request, names: Names) -> str | None:
    """The key as sent; newer clients send it as a bearer token."""
    secret = request.headers.get(names.key_header)
    if secret is not None:
        return secret
    authorization = request.headers.get("authorization", "")
    return authorization[len(BEARER) :].strip() if authorization.lower().startswith(BEARER) else None


def identify(request: Request, names: Names) -> Key | None:
    """The usable key presented or signed with, if any; asks nothing of it."""
    secret = presented_secret(request, names)
    if secret is None:
        return signer(request)
    key = KEYS.get(secret) or (KEYS[USUAL] if leniency.current().good_key(secret) else None)
    usable = key is not None and key.state is State.ACTIVE and key.role is not Role.MARKETPLACE
    return key if usable else None


def authenticate(request: Request, names: Names) -> Key:
    """The usable key presented, or 401: malformed, unknown, revoked, expired and badly signed all read alike."""
    key = identify(request, names)
    if key is not None:
        return key
    message = f"invalid {names.key_header}"
    if presented_secret(request, names) is None:
        signed = "authorization" in request.headers
        message += ": the request signature does not match" if signed else ": the header is missing"
    raise PaError(AUTHENTICATION, message)
