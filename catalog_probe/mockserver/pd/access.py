"""PD's authentication: key, state and ACLs (1:5.4, 2:7.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.credentials import bearer_token, find_key
from catalog_probe.mockserver.pd.errors import (
    INCORRECT_KEY,
    KEY_BLOCKED,
    KEY_DISABLED,
    MISSING_ACL,
    NO_CREDENTIALS,
    TEAM_BLOCKED,
)
from catalog_probe.mockserver.pd.keys import DEFAULT_KEY, ENDPOINT_ACL, KEYS, MODEL_ACL

if TYPE_CHECKING:
    from catalog_probe.mockserver.pd.keys import Key
    from catalog_probe.mockserver.pd.models import Model


def identify_key(headers: Mapping[str, str]) -> Key:
    """Return the caller's key; a missing header is 401, an incorrect key 400."""
    if "authorization" not in headers:
        raise NO_CREDENTIALS()
    key = find_key(KEYS, bearer_token(headers) or "", DEFAULT_KEY)
    if key is None:
        raise INCORRECT_KEY()
    return key


def admit_to_endpoint(key: Key, acl_name: str) -> None:
    """Refuse with 403 a key that may not use the endpoint with this name in ACLs."""
    if key.team.blocked:
        raise TEAM_BLOCKED()
    if key.blocked:
        raise KEY_BLOCKED()
    if key.disabled:
        raise KEY_DISABLED()
    if not key.allows(ENDPOINT_ACL, acl_name):
        raise MISSING_ACL(acl=ENDPOINT_ACL + acl_name)


def admit_to_model(key: Key, model: Model) -> None:
    """Refuse with 403 a key that may not use the model."""
    if not key.allows(MODEL_ACL, model.id):
        raise MISSING_ACL(acl=MODEL_ACL + model.id)
