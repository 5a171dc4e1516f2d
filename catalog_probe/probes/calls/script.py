"""What is said and heard on a WebSocket, in order: the steps of a call that is a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

Heard = Mapping[str, Any]
"""What was heard so far in a conversation: the name of a message -> the data of the last one of that name."""


@dataclass(frozen=True, slots=True)
class Say:
    """Send one message: a JSON value, text or bytes as they stand, or a function of what was heard that makes one."""

    message: Json | bytes | Callable[[Heard], Json]


@dataclass(frozen=True, slots=True)
class Hear:
    """Wait for the message called `event`, whatever comes before it; or for what comes where it does not."""

    event: str
    instead: str = ""
    """The message that shows that the one waited for will not come; without one, only silence does."""


@dataclass(frozen=True, slots=True)
class AwaitClose:
    """Wait until the other side closes, whatever comes before that."""


Step = Say | Hear | AwaitClose

CLOSED = AwaitClose()
