"""Lifetimes of live sessions, connections and resumption handles (1:3, 2:8.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.pb.errors import HANDLE_EXPIRED, NO_SUCH_HANDLE

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.sessions import Session

# Lifetimes of a session without context compression
AUDIO_ONLY_S = 15 * 60
WITH_VIDEO_S = 2 * 60

CONNECTION_S = 10 * 60  # "about" 10 minutes
HANDLE_S = 2 * 60 * 60
NOTICE_S = 60  # from goAway to the end; the documents only say that it comes before


@dataclass(frozen=True)
class End:
    """The end of a connection: its moment, and the reason of its close."""

    at: float
    reason: str


def find_end(opened_at: float, session_began_at: float, *, video: bool, compressed: bool) -> End:
    """Return the first end. With compression, a session has none."""
    connection = End(opened_at + CONNECTION_S, "The connection has lasted as long as one may; resume the session.")
    if compressed:
        return connection
    lifetime_s = WITH_VIDEO_S if video else AUDIO_ONLY_S
    session = End(session_began_at + lifetime_s, "The session has lasted as long as one may without compression.")
    return min(session, connection, key=lambda end: end.at)


@dataclass(frozen=True)
class LiveState:
    """The state of a session: its time in use, and whether it had video."""

    used_s: float = 0.0
    video: bool = False


@dataclass(frozen=True)
class Handle:
    """A resumption handle: the state that a later connection resumes."""

    valid_until: float
    state: LiveState


def count_carried_s(used_s: float, *, video: bool) -> float:
    """Return the time in use of a resumed session, 0 after its lifetime (1:3)."""
    return used_s if used_s < (WITH_VIDEO_S if video else AUDIO_ONLY_S) else 0.0


def issue_handle(session: Session, state: LiveState, now: float) -> str:
    """Issue a handle for the state of a session, and return its name."""
    name = session.new_id("", 40)
    session.store(Handle)[name] = Handle(now + HANDLE_S, state)
    return name


def resume(session: Session, handle: str, now: float) -> LiveState:
    """Return the state behind a handle, or refuse an unknown or expired one."""
    stored = session.store(Handle).find(handle, NO_SUCH_HANDLE)
    if now >= stored.valid_until:
        raise HANDLE_EXPIRED()
    return stored.state
