"""What a proxy calls a flow, as an exchange: request and answer from their copies, a socket's messages as frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qsl

from catalog.model import Close, Event, Exchange, Request, Response
from catalog.model.clock import utc_text
from probes.listening.copies import LIMIT, Copy, unpacked
from probes.listening.injecting import MARK
from probes.traffic.recorded import Recorded
from probes.wire.body import NO_JSON, json_of, parsed
from probes.wire.sse import stream_in
from probes.wire.websocket import name_of

if TYPE_CHECKING:
    from catalog.model import Json

STREAMED = "text/event-stream"


class Headers(Protocol):
    """Headers as the proxy has them."""

    def items(self, multi: bool = ...) -> Iterable[tuple[str, str]]: ...

    def get(self, key: str, default: str = ...) -> str: ...

    def __setitem__(self, key: str, value: str) -> None: ...


class Asked(Protocol):
    """A request as the proxy has it."""

    method: str
    url: str
    path: str
    headers: Headers
    stream: Any
    timestamp_start: float


class Answered(Protocol):
    """A response as the proxy has it."""

    status_code: int
    headers: Headers
    stream: Any
    timestamp_end: float | None


class Message(Protocol):
    """A message of a socket as the proxy has it."""

    from_client: bool
    content: bytes


class Socket(Protocol):
    """What a socket carried, and how it was closed."""

    messages: Sequence[Message]
    close_code: int | None
    close_reason: str | None
    closed_by_client: bool | None


class Flow(Protocol):
    """One exchange as the proxy has it; of mitmproxy's `HTTPFlow` what is needed here."""

    id: str
    request: Asked
    response: Any
    websocket: Any
    metadata: dict[str, Any]


@dataclass(slots=True)
class Copies:
    """The copies of one exchange."""

    asked: Copy = field(default_factory=Copy)
    answered: Copy = field(default_factory=Copy)


def recorded(flow: Flow, copies: Copies, provider: str, *, broken: bool = False) -> Recorded:
    """The exchange as it was; `broken` says that it ended before its end."""
    answer: Answered | None = flow.response
    asked = flow.request
    body = unpacked(bytes(copies.asked.kept), asked.headers.get("content-encoding", ""))
    request = Request(asked.method, asked.url, _texts(asked.headers), _sent(body or b"", asked.headers))
    why = ""
    response: Response | None = None
    if answer is not None:
        response, why = _answer(flow, answer, copies)
    if broken:
        why = "that broke off"
    elif answer is not None and answer.headers.get(MARK, ""):
        why = "that were rehearsals"
    ended = (answer.timestamp_end if answer is not None else None) or asked.timestamp_start
    return Recorded(
        where="live",
        exchanges=(Exchange("", request, response, elapsed_ms=round((ended - asked.timestamp_start) * 1000, 3)),),
        at=utc_text(datetime.fromtimestamp(asked.timestamp_start, UTC)),
        provider=provider,
        headers_complete=True,
        of_no_use=why,
    )


def _answer(flow: Flow, answer: Answered, copies: Copies) -> tuple[Response, str]:
    headers, status = _texts(answer.headers), answer.status_code
    if flow.websocket is not None:
        return _socket(flow.websocket, status, headers), ""
    if not copies.answered.whole:
        return Response(status, headers), f"larger than {LIMIT >> 20} MiB"
    raw = unpacked(bytes(copies.answered.kept), headers.get("content-encoding", ""))
    if raw is None:
        return Response(status, headers), "in an encoding that could not be undone"
    kind = headers.get("content-type", "").lower()
    if kind.startswith("application/grpc"):
        return Response(status, headers), "over gRPC"
    if STREAMED in kind:
        stream = stream_in(raw)
        return Response(status, headers, events=tuple(stream.events), ended=stream.ended), ""
    value, body_type = parsed(raw)
    return Response(status, headers, value, body_type), ""


def _socket(socket: Socket, status: int, headers: dict[str, str]) -> Response:
    close = None
    if socket.close_code is not None and not socket.closed_by_client:  # how a client goes is its own affair
        close = Close(socket.close_code, socket.close_reason or "", clean=socket.close_code != _ABNORMAL)
    return Response(status, headers, events=tuple(_frames(socket.messages)), close=close)


_ABNORMAL = 1006
"""What stands for a connection that ended without a close frame (RFC 6455, 7.4.1)."""


def _frames(messages: Iterable[Message]) -> Iterator[Event]:
    for message in messages:
        value, _ = parsed(message.content)
        yield Event(name_of(value), value, sent=message.from_client)


def _sent(raw: bytes, headers: Headers) -> Json:
    if not raw:
        return None
    text = raw.decode("utf-8", "replace")
    if "urlencoded" in headers.get("content-type", ""):
        return dict(parse_qsl(text, keep_blank_values=True))
    value = json_of(raw)
    return text if value is NO_JSON else value


def _texts(headers: Headers) -> dict[str, str]:
    """Headers by name in small letters; several of one name are joined as HTTP has it."""
    found: dict[str, str] = {}
    for name, value in headers.items(multi=True):
        name = name.lower()
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found
