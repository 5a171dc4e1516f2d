"""Signed requests of the marketplace variant (1:5.1). How is not shown: assumed.

`Authorization: HMAC-SHA256 Credential=<access id>, Signature=<hex>`, the signature being over method and path.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import TYPE_CHECKING

from catalog_probe.mockserver.pa.auth.keys import KEYS, Key, Role

if TYPE_CHECKING:
    from starlette.requests import Request

SIGNING_SECRETS = {"mock-pa-marketplace": b"mock-pa-marketplace-signing-secret"}
"""By access id: what both sides know and nobody sends."""

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
