"""How long live sessions, connections and resumption handles last (1:3, 2:8.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.pb.errors import HANDLE_EXPIRED, NO_SUCH_HANDLE

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.sessions import Session

AUDIO_ONLY_S = 15 * 60
WITH_VIDEO_S = 2 * 60
"""A session of audio plus video; both hold without context compression."""

CONNECTION_S = 10 * 60
"""The documents say "about"."""

HANDLE_S = 2 * 60 * 60

NOTICE_S = 60
"""How long before the end goAway is sent; the documents only say that it comes before."""


@dataclass(frozen=True)
class End:
    """When a connection ends, and the reason its close will give."""

    at: float
    reason: str


def end_of(opened_at: float, session_began_at: float, *, video: bool, compressed: bool) -> End:
    """The first end that awaits a connection: its own, or its session's, which none awaits that is compressed."""
    connection = End(opened_at + CONNECTION_S, "The connection has lasted as long as one may; resume the session.")
    if compressed:
        return connection
    lasts_s = WITH_VIDEO_S if video else AUDIO_ONLY_S
    session = End(session_began_at + lasts_s, "The session has lasted as long as one may without compression.")
    return min(session, connection, key=lambda end: end.at)


@dataclass(frozen=True)
class LiveState:
    """What outlives a connection: how long the session was in use, and whether it saw video."""

    used_s: float = 0.0
    video: bool = False


@dataclass(frozen=True)
class Handle:
    """A resumption handle: what a later connection needs to go on where an earlier one stopped."""

    valid_until: float
    state: LiveState


def count_carried_s(used_s: float, *, video: bool) -> float:
    """How long a resumed session counts as used: none of a time that was used up, or it could not be resumed (1:3)."""
    return used_s if used_s < (WITH_VIDEO_S if video else AUDIO_ONLY_S) else 0.0


def issue_handle(session: Session, state: LiveState, now: float) -> str:
    """A handle for the state of a live session."""
    name = session.new_id("", 40)
    session.store(Handle)[name] = Handle(now + HANDLE_S, state)
    return name


def resume(session: Session, handle: str, now: float) -> LiveState:
    """The state behind a handle, if that has not expired."""
    stored = session.store(Handle).find(handle, NO_SUCH_HANDLE)
    if now >= stored.valid_until:
        raise HANDLE_EXPIRED()
    return stored.state
