"""How long live sessions, connections and resumption handles last (2:8.1)."""

from __future__ import annotations

from dataclasses import dataclass

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


def carried_s(used_s: float, *, video: bool) -> float:
    """How long a resumed session counts as used: none of a time that was used up, or it could not be resumed (1:3)."""
    return used_s if used_s < (WITH_VIDEO_S if video else AUDIO_ONLY_S) else 0.0


def end_of(opened_at: float, session_began_at: float, *, video: bool, compressed: bool) -> End:
    """The first end that awaits a connection: its own, or its session's, which none awaits that is compressed."""
    connection = End(opened_at + CONNECTION_S, "The connection has lasted as long as one may; resume the session.")
    if compressed:
        return connection
    lasts_s = WITH_VIDEO_S if video else AUDIO_ONLY_S
    session = End(session_began_at + lasts_s, "The session has lasted as long as one may without compression.")
    return min(session, connection, key=lambda end: end.at)
