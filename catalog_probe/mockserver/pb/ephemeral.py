"""Ephemeral tokens for the live API, issued by POST /v1beta/auth_tokens (1:5.2).

A live connection spends a use with `redeem`. The documents show no lifetime: the default is the mock's choice, and a
request may set another one.
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
