"""Who may call PD: the key as a bearer token, its state, and its ACLs (1:5.4, 2:7.6 rows 400, 401 and 403)."""

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
from catalog_probe.mockserver.pd.keys import ENDPOINT_ACL, KEYS, MODEL_ACL, USUAL

if TYPE_CHECKING:
    from catalog_probe.mockserver.pd.keys import Key
    from catalog_probe.mockserver.pd.models import Model


def identify(headers: Mapping[str, str]) -> Key:
    """Whose key it is: a missing header is 401, an incorrect key 400 on this API."""
    if "authorization" not in headers:
        raise NO_CREDENTIALS()
    key = find_key(KEYS, bearer_token(headers) or "", USUAL)
    if key is None:
        raise INCORRECT_KEY()
    return key


def admit(key: Key, endpoint: str) -> None:
    """Let a key use an endpoint that ACLs call so, or 403."""
    if key.team.blocked:
        raise TEAM_BLOCKED()
    if key.blocked:
        raise KEY_BLOCKED()
    if key.disabled:
        raise KEY_DISABLED()
    if not key.allows(ENDPOINT_ACL, endpoint):
        raise MISSING_ACL(acl=ENDPOINT_ACL + endpoint)


def admit_to_model(key: Key, model: Model) -> None:
    """Let a key use a model that its team may use, or 403."""
    if not key.allows(MODEL_ACL, model.id):
        raise MISSING_ACL(acl=MODEL_ACL + model.id)
