"""What arrived in a session, for a client's tests: order, times, headers and bodies, without secrets."""

from __future__ import annotations

import json
import re
import time
from collections import Counter, deque
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Message, Receive

MAX_ARRIVALS = 1_000  # in a session; the oldest are forgotten
MAX_BODY = 64 * 1024  # bytes of a body that are kept

REDACTED = "[redacted]"
SECRET_HEADER = re.compile(r".*(authorization|api-?key|cookie|secret|token|sec-websocket-protocol).*")
SECRET_FIELD = re.compile(
    r"key|(.*[_-])?(api_?key|private_key|secret|password|authorization|cookie"
    r"|(access|refresh|id|subject|actor|auth|authorization|session|bearer)_token)",
    re.IGNORECASE,
)
"""The name of a field of a body, or of a parameter of a query, whose value is a secret: `apiKey`, not `max_tokens`."""


@dataclass
class Arrival:
    """One request, or one message of a WebSocket.

    Args:
        request: method and path below the host, without what the mock reads in them: `POST /pc/v1/responses`.
        time: seconds since the epoch.
        body: the JSON value, or the text; None if there is none, or none that can be shown.
        served: whether the mock has a route for it.
        ignored: legal fields of the body that have no effect here: `metadata`, `tools[0].description`.
    """

    request: str
    time: float
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    served: bool = True
    ignored: list[str] = field(default_factory=list)


class Arrivals:
    """The arrivals of one session, in order."""

    def __init__(self) -> None:
        self._kept: deque[Arrival] = deque(maxlen=MAX_ARRIVALS)

    def add(
        self, request: str, query: str = "", headers: Iterable[tuple[str, str]] = (), secret_headers: Iterable[str] = ()
    ) -> Arrival:
        """Add a request that has just begun; its body follows."""
        own = {name.lower() for name in secret_headers}
        shown = {name: REDACTED if name in own or SECRET_HEADER.fullmatch(name) else value for name, value in headers}
        arrival = Arrival(request, time.time(), _redact_query(query), shown)
        self._kept.append(arrival)
        _CURRENT.set(arrival)
        return arrival

    def list_all(self) -> list[dict[str, Any]]:
        """List all; `attempt` is how often the same request with the same body has arrived until then."""
        attempts: Counter[str] = Counter()
        entries = []
        for order, arrival in enumerate(self._kept, 1):
            same = json.dumps([arrival.request, arrival.query, arrival.body], sort_keys=True)
            attempts[same] += 1
            entries.append({"order": order, "attempt": attempts[same], **vars(arrival)})
        return entries


_CURRENT: ContextVar[Arrival | None] = ContextVar("arrival", default=None)
"""The arrival that is being served, while the mock lists what arrives."""


def note_ignored(path: str) -> None:
    """Note that a legal field of the body being checked has no effect."""
    arrival = _CURRENT.get()
    if arrival is not None and path not in arrival.ignored:
        arrival.ignored.append(path)


def read_shown_body(body: bytes, media_type: str = "application/json") -> Any:
    """Return what is shown of a body: its JSON value without secrets, its text, or None.

    Example: `{"subject_token": "eyJ…"}` -> `{"subject_token": "[redacted]"}`.
    """
    if not body:
        return None
    if len(body) > MAX_BODY:
        return f"[more than {MAX_BODY} bytes]"
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return f"[{len(body)} bytes]"
    if media_type.startswith("application/x-www-form-urlencoded"):
        return _redact_query(text)
    try:
        return _redact_value(json.loads(text))
    except (ValueError, RecursionError):
        return text


async def read_ahead(receive: Receive, declared_length: str) -> tuple[bytes, Receive]:
    """Read a body until it is too long to be kept, and return it with a `receive` that begins again.

    An armed fault answers before any code reads the body. A body that says it is too long is not read at all: the
    mock refuses what is over a limit of size before it is sent.
    """
    if declared_length.isdecimal() and int(declared_length) > MAX_BODY:
        return bytes(MAX_BODY + 1), receive
    body, messages = b"", deque[Any]()
    while len(body) <= MAX_BODY:
        message = await receive()
        messages.append(message)
        body += message.get("body", b"")
        if not message.get("more_body"):
            break

    async def receive_again() -> Message:
        return messages.popleft() if messages else await receive()

    return body, receive_again


def _redact_query(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True)
    if not any(SECRET_FIELD.fullmatch(name) for name, _ in pairs):
        return query
    return urlencode([(name, REDACTED if SECRET_FIELD.fullmatch(name) else value) for name, value in pairs])


def _redact_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: REDACTED if isinstance(member, str) and SECRET_FIELD.fullmatch(name) else _redact_value(member)
            for name, member in value.items()
        }
    return [_redact_value(item) for item in value] if isinstance(value, list) else value
