"""Ephemeral tokens: issued by POST /v1beta/auth_tokens for the live API alone, kept by the session (1:5.2).

The live connection redeems one with `open_live`; everything else only asks for its state. How long a token lives is not
shown; the default here is ours, and a request may set its own moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.pb.keys import Project

NAME_PREFIX = "auth_tokens/"
LIFETIME_S = 30 * 60


class TokenState(StrEnum):
    """What a token is good for at a moment."""

    GOOD = "good"
    UNKNOWN = "unknown"
    EXPIRED = "expired"
    USED_UP = "used up"


@dataclass
class EphemeralToken:
    """One token. `uses` counts the live sessions it may still begin; 0 is without limit."""

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
    """A new token of `project`."""
    token = EphemeralToken(
        name=session.new_id(NAME_PREFIX, 32),
        project=project,
        expires_at=now + LIFETIME_S if expires_at is None else expires_at,
        uses=uses,
    )
    session.store(EphemeralToken)[token.name] = token
    return token


def find(session: Session, name: str) -> EphemeralToken | None:
    """The token called `name`, in whatever state."""
    return session.store(EphemeralToken).get(name)


def find_state(session: Session, name: str, now: float) -> TokenState:
    """The state of the token called `name`."""
    token = find(session, name)
    if token is None:
        return TokenState.UNKNOWN
    return TokenState.EXPIRED if now >= token.expires_at else TokenState.GOOD


def open_live(session: Session, name: str, now: float) -> TokenState:
    """Begin a live session with the token; anything but GOOD means that it cannot."""
    state = find_state(session, name, now)
    token = find(session, name)
    if state is not TokenState.GOOD or token is None:
        return state
    if token.uses and token.used >= token.uses:
        return TokenState.USED_UP
    token.used += 1
    return TokenState.GOOD
