"""The caller of PA, by a key, a bearer token or a signature (1:5.1, 2:7.3 row 401)."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.credentials import bearer_token, find_key
from catalog_probe.mockserver.pa.auth.keys import KEYS, USUAL, Key, Role, State
from catalog_probe.mockserver.pa.errors import BAD_SIGNATURE, INVALID_KEY, MISSING_KEY

if TYPE_CHECKING:
    from starlette.requests import Request

    from catalog_probe.mockserver.pa.names import Names

# How the cloud-marketplace variant signs requests is not shown (1:5.1). Ours is the header
# `HMAC-SHA256 Credential=<access id>, Signature=<hex>`, the signature being over method and path.
SIGNING_SECRETS = {"mock-pa-marketplace": b"mock-pa-marketplace-signing-secret"}

_HEADER = re.compile(r"HMAC-SHA256 Credential=([^,\s]+), Signature=([0-9a-f]{64})", re.IGNORECASE)


def signature(access_id: str, method: str, path: str) -> str:
    """Return the signature of a request under an access id."""
    return hmac.new(SIGNING_SECRETS[access_id], f"{method}\n{path}".encode(), hashlib.sha256).hexdigest()


def signer(request: Request) -> Key | None:
    """Return the key that signed this request; None without a valid signature."""
    match = _HEADER.fullmatch(request.headers.get("authorization", ""))
    if match is None:
        return None
    key = KEYS.get(match[1])
    if key is None or key.role is not Role.MARKETPLACE:
        return None
    path = request.scope["path"][len(request.scope.get("root_path", "")) :]
    return key if hmac.compare_digest(match[2].lower(), signature(match[1], request.method, path)) else None


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
