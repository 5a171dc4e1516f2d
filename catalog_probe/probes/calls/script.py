"""The script of a WebSocket conversation: what to send and what to wait for, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

# The messages received so far: the name of a message -> the data of the last one of that name.
ReceivedMessages = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Send one message: a JSON value, text or bytes, or a function that makes one of the messages received."""

    message: Json | bytes | Callable[[ReceivedMessages], Json]


@dataclass(frozen=True, slots=True)
class AwaitMessage:
    """Wait for the message called `event`, whatever comes before it.

    `failure_event` is the message that shows that `event` will not come. Without one, only silence ends the wait.
    """

    event: str
    failure_event: str = ""


@dataclass(frozen=True, slots=True)
class AwaitClose:
    """Wait until the other side closes, whatever comes before that."""


ScriptStep = SendMessage | AwaitMessage | AwaitClose

AWAIT_CLOSE = AwaitClose()
