"""Who is calling PA: the key in `x-api-key` or as a bearer token, and whether it can be used (1:5.1, 2:7.3 row 401)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mockserver.pa.errors import AUTHENTICATION, PaError
from mockserver.pa.keys import KEYS, Key, State

if TYPE_CHECKING:
    from starlette.requests import Request

    from mockserver.pa.names import Names

BEARER = "bearer "


def presented_secret(request: Request, names: Names) -> str | None:
    """The key as sent; newer clients send it as a bearer token."""
    secret = request.headers.get(names.key_header)
    if secret is not None:
        return secret
    authorization = request.headers.get("authorization", "")
    return authorization[len(BEARER) :].strip() if authorization.lower().startswith(BEARER) else None


def identify(request: Request, names: Names) -> Key | None:
    """The usable key presented, if any; asks nothing of it."""
    key = KEYS.get(presented_secret(request, names) or "")
    return key if key is not None and key.state is State.ACTIVE else None


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
