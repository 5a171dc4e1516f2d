"""Who may call PD: the key as a bearer token, its state, and its ACLs (1:5.4, 2:7.6 rows 400, 401 and 403)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.pd.auth.keys import ENDPOINT_ACL, KEYS, MODEL_ACL
from catalog_probe.mockserver.pd.errors import NO_CREDENTIALS, PdError, denied, invalid

if TYPE_CHECKING:
    from catalog_probe.mockserver.pd.auth.keys import Key
    from catalog_probe.mockserver.pd.models import Model

BEARER = "bearer "
USUAL = "mock-pd-inference"
"""As which key any other is taken, where that is let pass."""


def bearer(authorization: str | None) -> str | None:
    """The token of an Authorization header; None for a header of another scheme, or for none."""
    if authorization is None or not authorization.lower().startswith(BEARER):
        return None
    return authorization[len(BEARER) :].strip()


def identify(authorization: str | None) -> Key:
    """Whose key it is: a missing header is 401, an incorrect key 400 on this API."""
    if authorization is None:
        raise PdError(NO_CREDENTIALS, "No credentials were provided: send Authorization: Bearer <API_KEY>.")
    secret = bearer(authorization) or ""
    key = KEYS.get(secret) or (KEYS[USUAL] if leniency.current().good_key(secret) else None)
    if key is None:
        raise invalid("Incorrect API key provided.")
    return key


def admit(key: Key, endpoint: str) -> None:
    """Let a key use an endpoint, or 403: its team or itself blocked, itself disabled, the endpoint's ACL missing."""
    if key.team.blocked:
        raise denied("The team of this API key is blocked.")
    if key.blocked:
        raise denied("This API key is blocked.")
    if key.disabled:
        raise denied("This API key is disabled.")
    if not key.allows(ENDPOINT_ACL, endpoint):
        raise denied(f"This API key lacks the ACL {ENDPOINT_ACL}{endpoint}.")


def admit_to_model(key: Key, model: Model) -> None:
    """Let a key use a model that its team may use, or 403."""
    if not key.allows(MODEL_ACL, model.id):
        raise denied(f"This API key lacks the ACL {MODEL_ACL}{model.id}.")
