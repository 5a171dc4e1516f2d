"""Resumption handles: what a later connection needs to go on where an earlier one stopped (1:3, 2:8.1)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pb.errors import INVALID, PbError
from catalog_probe.mockserver.pb.live.limits import HANDLE_S

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.sessions import Session


@dataclass(frozen=True)
class LiveState:
    """What outlives a connection: how long the session was in use, whether it saw video, and what was said."""

    used_s: float = 0.0
    video: bool = False
    turns: int = 0


@dataclass
class _Issued:
    """Handle -> (valid until, state)."""

    handles: BoundedStore[str, tuple[float, LiveState]] = field(default_factory=BoundedStore)


def issue(session: Session, state: LiveState, now: float) -> str:
    """A handle for the state of a live session."""
    handle = session.new_id("", 40)
    session.state(_Issued).handles[handle] = (now + HANDLE_S, replace(state))
    return handle


def resume(session: Session, handle: str, now: float) -> LiveState:
    """The state behind a handle.

    Raises:
        PbError: there is none, or it has expired.
    """
    until, state = session.state(_Issued).handles.get(handle, (0.0, None))
    if state is None:
        raise PbError(INVALID, "The session resumption handle is not valid.")
    if now >= until:
        raise PbError(INVALID, "The session resumption handle has expired.")
    return state
