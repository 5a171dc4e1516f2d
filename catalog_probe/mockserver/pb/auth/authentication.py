"""Who is calling PB: an API key, an OAuth token or an ephemeral token, and what each wrong one gets (1:5.2, 2:7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.pb.auth import ephemeral
from catalog_probe.mockserver.pb.auth.keys import KEYS, OAUTH_TOKENS, Key, Project, State
from catalog_probe.mockserver.pb.errors import INVALID, NOT_FOUND, PERMISSION, UNAUTHENTICATED, PbError

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pb.names import Names

_REFUSALS: dict[State, str] = {
    State.RESTRICTED: "Requests to this API are blocked for this API key: its restrictions do not allow them.",
    State.LEAKED: "Your API key was reported as leaked. Please use another API key.",
    State.BLOCKED: "Permission denied: this API key has been blocked.",
}


USUAL = "mock-pb-inference"
"""As which key any other is taken, where that is let pass."""


def authenticate(request: HTTPConnection, names: Names, context: Context) -> Project:
    """The project that calls.

    An invalid API key is an invalid argument (1:5.2 would have 403 as well), an invalid token is unauthenticated. That
    no credential at all is unauthenticated is our choice: 2:7.4 speaks of a missing token.
    """
    scheme, credential = _authorization(request)
    if scheme:
        if scheme == "token" or credential.startswith(ephemeral.NAME_PREFIX):
            return of_ephemeral(context, credential)
        return admitted(of_oauth(credential))
    secret = request.headers.get(names.key_header) or request.query_params.get("key")
    if not secret:
        raise no_credential()
    if secret.startswith(ephemeral.NAME_PREFIX):
        return of_ephemeral(context, secret)
    return of_key(secret)


def authenticate_bearer(request: HTTPConnection, names: Names, context: Context) -> Project:
    """The project that calls the compatibility layer, which wants `Authorization: Bearer` and nothing else."""
    scheme, credential = _authorization(request)
    if scheme == "bearer" and credential in OAUTH_TOKENS:
        return admitted(of_oauth(credential))
    if scheme == "bearer" and credential:
        return of_key(credential)
    if scheme or names.key_header in request.headers:
        raise wrong_header()
    raise no_authorization()


def no_credential() -> PbError:
    """What a request without any credential gets."""
    return PbError(UNAUTHENTICATED, "The request carries no API key, OAuth token or other credential.")


def wrong_header() -> PbError:
    """What a credential gets on the compatibility layer that is no bearer (2:7.4)."""
    return PbError(NOT_FOUND, "Requested entity was not found.")


def no_authorization() -> PbError:
    """What the compatibility layer says to a request without Authorization (2:7.4)."""
    return PbError(INVALID, "Missing or invalid Authorization header.")


def _authorization(request: HTTPConnection) -> tuple[str, str]:
    scheme, _, credential = request.headers.get("authorization", "").partition(" ")
    return scheme.lower(), credential.strip()


def of_key(secret: str) -> Project:
    """The project of a plain API key."""
    key = KEYS.get(secret) or (KEYS[USUAL] if leniency.current().good_key(secret) else None)
    if key is None:
        raise invalid_key()
    return usable(key)


def invalid_key() -> PbError:
    """What an invalid plain API key gets (1:5.2, 2:7.4)."""
    return PbError(INVALID, "API key not valid. Please pass a valid API key.")


def usable(key: Key) -> Project:
    """The project of a key that is restricted, leaked or blocked in no way (2:7.4)."""
    if key.state is not State.ACTIVE:
        raise PbError(PERMISSION, _REFUSALS[key.state])
    return admitted(key.project)


def of_oauth(secret: str) -> Project:
    """The project of an OAuth token."""
    token = OAUTH_TOKENS.get(secret)
    if token is None or token.expired:
        reason = "has expired" if token else "is not valid"
        raise PbError(UNAUTHENTICATED, f"Request had invalid authentication credentials: the OAuth token {reason}.")
    return token.project


def admitted(project: Project) -> Project:
    """The project, if the API is enabled for it (2:7.4)."""
    if not project.api_enabled:
        raise PbError(PERMISSION, f"The API has not been used in project {project.id} before, or it is disabled.")
    return project


def of_ephemeral(context: Context, name: str) -> Project:
    """Nobody's project: an ephemeral token opens the live API alone (1:5.2).

    Raises:
        PbError: always.
    """
    found = ephemeral.standing(context.session, name, context.now)
    if found is ephemeral.Standing.GOOD:
        raise PbError(PERMISSION, "Ephemeral tokens are for the live API alone.")
    raise PbError(UNAUTHENTICATED, f"Request had invalid authentication credentials: the token is {found}.")
