"""The caller of PA, by a key, a bearer token or a signature (1:5.1, 2:7.3 row 401)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.credentials import bearer_token, find_key
from catalog_probe.mockserver.pa.auth.keys import KEYS, USUAL, Key, Role, State
from catalog_probe.mockserver.pa.auth.signing import signer
from catalog_probe.mockserver.pa.errors import BAD_SIGNATURE, INVALID_KEY, MISSING_KEY

if TYPE_CHECKING:
    from starlette.requests import Request

    from catalog_probe.mockserver.pa.names import Names


def presented_secret(request: Request, names: Names) -> str | None:
    """Return the key as sent; newer clients send it as a bearer token."""
    secret = request.headers.get(names.key_header)
    return secret if secret is not None else bearer_token(request.headers)


def identify(request: Request, names: Names) -> Key | None:
    """Return the usable key that was sent or signed with, if any."""
    secret = presented_secret(request, names)
    if secret is None:
        return signer(request)
    key = find_key(KEYS, secret, USUAL)
    usable = key is not None and key.state is State.ACTIVE and key.role is not Role.MARKETPLACE
    return key if usable else None


def authenticate(request: Request, names: Names) -> Key:
    """Return the usable key, or raise 401, which does not tell what is wrong with it."""
    key = identify(request, names)
    if key is not None:
        return key
    if presented_secret(request, names) is not None:
        raise INVALID_KEY(header=names.key_header)
    raise (BAD_SIGNATURE if "authorization" in request.headers else MISSING_KEY)(header=names.key_header)
