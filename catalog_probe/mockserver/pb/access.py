"""PB's authentication by API key, OAuth or ephemeral token (1:5.2, 2:7.4).

A live connection spends a use with `redeem`. The documents show no lifetime: the default is the mock's choice, and a
request may set another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.gateway import find_key
from catalog_probe.mockserver.pb.call import AsciiJsonResponse, read_object
from catalog_probe.mockserver.pb.errors import (
    API_NOT_ENABLED,
    BAD_EPHEMERAL_TOKEN,
    BAD_OAUTH_TOKEN,
    INVALID_KEY,
    LIVE_ONLY,
    NO_AUTHORIZATION,
    NO_CREDENTIAL,
    NO_TIMESTAMP,
    WRONG_AUTH_HEADER,
)
from catalog_probe.mockserver.pb.fields import AUTH_TOKEN
from catalog_probe.mockserver.pb.keys import DEFAULT_KEY, KEYS, OAUTH_TOKENS, Project

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection
    from starlette.responses import Response

    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pb.call import Call, Names


NAME_PREFIX = "auth_tokens/"
LIFETIME_S = 30 * 60


class TokenState(StrEnum):
    """The state of a token at a moment."""

    GOOD = "good"
    UNKNOWN = "unknown"
    EXPIRED = "expired"
    USED_UP = "used up"


@dataclass
class EphemeralToken:
    """A token. It may begin `uses` live sessions (0: any), and has begun `used`."""

    name: str
    project: Project
    expires_at: float
    uses: int = 1
    used: int = 0


def issue(
    session: Session,
    project: Project,
    now: float,
    *,
    expires_at: float | None = None,
    uses: int = 1,
) -> EphemeralToken:
    """Issue a token of a project."""
    token = EphemeralToken(
        name=session.new_id(NAME_PREFIX, 32),
        project=project,
        expires_at=now + LIFETIME_S if expires_at is None else expires_at,
        uses=uses,
    )
    session.store(EphemeralToken)[token.name] = token
    return token


def find(session: Session, name: str) -> EphemeralToken | None:
    """Return the token of this name in any state, or None."""
    return session.store(EphemeralToken).get(name)


def find_state(session: Session, name: str, now: float) -> TokenState:
    """Return the state of the token of this name."""
    token = find(session, name)
    if token is None:
        return TokenState.UNKNOWN
    return TokenState.EXPIRED if now >= token.expires_at else TokenState.GOOD


def redeem(session: Session, name: str, now: float) -> TokenState:
    """Spend one use on a live session; any result but GOOD is a failure."""
    state = find_state(session, name, now)
    token = find(session, name)
    if state is not TokenState.GOOD or token is None:
        return state
    if token.uses and token.used >= token.uses:
        return TokenState.USED_UP
    token.used += 1
    return TokenState.GOOD


def authenticate(request: HTTPConnection, names: Names, context: Context) -> Project:
    """Return the project of a call.

    An invalid API key is an invalid argument (1:5.2 allows 403 as well); an invalid token is unauthenticated. A request
    without any credential is unauthenticated by the mock's choice: 2:7.4 only speaks of a missing token.
    """
    scheme, credential = _read_authorization(request)
    if scheme:
        if scheme == "token" or credential.startswith(NAME_PREFIX):
            return refuse_ephemeral_token(context, credential)
        return require_enabled_api(identify_oauth_token(credential))
    secret = request.headers.get(names.key_header) or request.query_params.get("key")
    if not secret:
        raise NO_CREDENTIAL()
    if secret.startswith(NAME_PREFIX):
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
    """Return the project of an API key, or refuse a key that may not be used (2:7.4)."""
    key = find_key(KEYS, secret, DEFAULT_KEY)
    if key is None:
        raise INVALID_KEY()
    if key.refusal is not None:
        raise key.refusal()
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
    state = find_state(context.session, name, context.now)
    if state is TokenState.GOOD:
        raise LIVE_ONLY()
    raise BAD_EPHEMERAL_TOKEN(fault=state)


async def create_auth_token(call: Call) -> Response:
    """Issue a token."""
    body = await read_object(call, AUTH_TOKEN)
    token = issue(call.session, call.project, call.now, expires_at=_read_expiry(body), uses=body.get("uses", 1))
    return AsciiJsonResponse({"name": token.name, "expireTime": rfc3339(token.expires_at), "uses": token.uses})


def _read_expiry(body: dict[str, Any]) -> float | None:
    """Return the requested expiry in seconds since the epoch, if there is one."""
    if "expireTime" not in body:
        return None
    try:
        moment = datetime.fromisoformat(body["expireTime"])
    except ValueError:
        raise NO_TIMESTAMP(path="expireTime", value=body["expireTime"]) from None
    return moment.timestamp()
