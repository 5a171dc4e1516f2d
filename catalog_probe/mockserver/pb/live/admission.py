"""Who may open a live connection: an API key, an OAuth token, or an ephemeral token made for nothing else (1:5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.pb.auth import ephemeral
from catalog_probe.mockserver.pb.auth.authentication import authenticate
from catalog_probe.mockserver.pb.errors import UNAUTHENTICATED, PbError

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pb.auth.keys import Project
    from catalog_probe.mockserver.pb.names import Names


def admit(connection: HTTPConnection, names: Names, context: Context) -> tuple[Project, str | None]:
    """The project that connects, and the ephemeral token it does so with, if any.

    Raises:
        PbError: the credential is none, or no good one.
    """
    name = _ephemeral_token(connection, names)
    if name is None:
        return authenticate(connection, names, context), None
    token = ephemeral.find(context.session, name)
    found = ephemeral.standing(context.session, name, context.now)
    if token is None or found is not ephemeral.Standing.GOOD:
        raise _refusal(found)
    return token.project, name


def begin_session(session: Session, token: str | None, now: float) -> None:
    """Spend one use of the ephemeral token, where there is one, on a new session.

    Raises:
        PbError: it is good for no new session.
    """
    if token is None:
        return
    found = ephemeral.open_live(session, token, now)
    if found is not ephemeral.Standing.GOOD:
        raise _refusal(found)


def _refusal(found: ephemeral.Standing) -> PbError:
    return PbError(UNAUTHENTICATED, f"The ephemeral token is {found}.")


def _ephemeral_token(connection: HTTPConnection, names: Names) -> str | None:
    """The ephemeral token among the places where clients put one."""
    scheme, _, credential = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "token":
        return credential.strip()
    for found in (
        credential.strip(),
        connection.query_params.get("access_token", ""),
        connection.headers.get(names.key_header, ""),
        connection.query_params.get("key", ""),
    ):
        if found.startswith(ephemeral.NAME_PREFIX):
            return found
    return None
