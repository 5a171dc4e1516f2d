"""PB's authentication by API key, OAuth or ephemeral token (1:5.2, 2:7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.credentials import find_key
from catalog_probe.mockserver.pb import ephemeral
from catalog_probe.mockserver.pb.errors import (
    API_NOT_ENABLED,
    BAD_EPHEMERAL_TOKEN,
    BAD_OAUTH_TOKEN,
    INVALID_KEY,
    KEY_BLOCKED,
    KEY_LEAKED,
    KEY_RESTRICTED,
    LIVE_ONLY,
    NO_AUTHORIZATION,
    NO_CREDENTIAL,
    WRONG_AUTH_HEADER,
)
from catalog_probe.mockserver.pb.keys import DEFAULT_KEY, KEYS, OAUTH_TOKENS, KeyState, Project

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pb.call import Names

REFUSED_STATES = {KeyState.RESTRICTED: KEY_RESTRICTED, KeyState.LEAKED: KEY_LEAKED, KeyState.BLOCKED: KEY_BLOCKED}


def authenticate(request: HTTPConnection, names: Names, context: Context) -> Project:
    """Return the project of a call.

    An invalid API key is an invalid argument (1:5.2 allows 403 as well); an invalid token is unauthenticated. A request
    without any credential is unauthenticated by the mock's choice: 2:7.4 only speaks of a missing token.
    """
    scheme, credential = _read_authorization(request)
    if scheme:
        if scheme == "token" or credential.startswith(ephemeral.NAME_PREFIX):
            return refuse_ephemeral_token(context, credential)
        return require_enabled_api(identify_oauth_token(credential))
    secret = request.headers.get(names.key_header) or request.query_params.get("key")
    if not secret:
        raise NO_CREDENTIAL()
    if secret.startswith(ephemeral.NAME_PREFIX):
        return refuse_ephemeral_token(context, secret)
    return identify_key(secret)


def authenticate_bearer(request: HTTPConnection, names: Names, context: Context) -> Project:
    """Return the project of a call that may only use `Authorization: Bearer`."""
    scheme, credential = _read_authorization(request)
    if scheme == "bearer" and credential in OAUTH_TOKENS:
        return require_enabled_api(identify_oauth_token(credential))
    if scheme == "bearer" and credential:
        return identify_key(credential)
    if scheme or names.key_header in request.headers:
        raise WRONG_AUTH_HEADER()
    raise NO_AUTHORIZATION()


def _read_authorization(request: HTTPConnection) -> tuple[str, str]:
    """Return the scheme of the header, in lower case, and the credential."""
    scheme, _, credential = request.headers.get("authorization", "").partition(" ")
    return scheme.lower(), credential.strip()


def identify_key(secret: str) -> Project:
    """Return the project of an API key, or refuse the key's state (2:7.4)."""
    key = find_key(KEYS, secret, DEFAULT_KEY)
    if key is None:
        raise INVALID_KEY()
    if key.state in REFUSED_STATES:
        raise REFUSED_STATES[key.state]()
    return require_enabled_api(key.project)


def identify_oauth_token(secret: str) -> Project:
    """Return the project of an OAuth token."""
    token = OAUTH_TOKENS.get(secret)
    if token is None or token.expired:
        raise BAD_OAUTH_TOKEN(fault="has expired" if token else "is not valid")
    return token.project


def require_enabled_api(project: Project) -> Project:
    """Return the project if the API is enabled for it (2:7.4)."""
    if not project.api_enabled:
        raise API_NOT_ENABLED(project=project.id)
    return project


def refuse_ephemeral_token(context: Context, name: str) -> Project:
    """Refuse an ephemeral token outside the live API (1:5.2).

    Raises:
        Refusal: always.
    """
    if not name:
        raise NO_CREDENTIAL()
    state = ephemeral.find_state(context.session, name, context.now)
    if state is ephemeral.TokenState.GOOD:
        raise LIVE_ONLY()
    raise BAD_EPHEMERAL_TOKEN(fault=state)
