"""Credentials as all providers take them: a bearer token, and a table of keys by their secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from catalog_probe.mockserver.core import leniency

Key = TypeVar("Key")

BEARER = "bearer "


def bearer_token(headers: Mapping[str, str]) -> str | None:
    """The token of the Authorization header; None for a header of another scheme, or for none."""
    authorization = headers.get("authorization", "")
    if not authorization.lower().startswith(BEARER):
        return None
    return authorization[len(BEARER) :].strip()


def find_key(keys: Mapping[str, Key], secret: str, usual: str) -> Key | None:
    """The key with this secret; an unknown one is as good as the `usual` one where the mock lets any pass."""
    return keys.get(secret) or (keys[usual] if leniency.current().good_key(secret) else None)
