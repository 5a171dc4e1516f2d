"""Credentials of all providers: a bearer token, and a table of keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from catalog_probe.mockserver.core import leniency

Key = TypeVar("Key")

BEARER = "bearer "


def bearer_token(headers: Mapping[str, str]) -> str | None:
    """Return the bearer token of the Authorization header, if it has one."""
    authorization = headers.get("authorization", "")
    if not authorization.lower().startswith(BEARER):
        return None
    return authorization[len(BEARER) :].strip()


def find_key(keys: Mapping[str, Key], secret: str, usual: str) -> Key | None:
    """Return the key with this secret, or `usual` if the leniency accepts any."""
    return keys.get(secret) or (keys[usual] if leniency.get_current().accepts_key(secret) else None)
