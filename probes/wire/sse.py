"""Reads server-sent events as they arrive, within caps on their number, bytes and time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from itertools import islice

import anyio
import httpx
from httpx_sse import EventSource, ServerSentEvent

from catalog.model import Event, Json
from probes.wire.body import NO_JSON, BodyTooLarge, json_of

MAX_EVENTS = 2_000
STALL_S = 15.0
WHOLE_S = 60.0


UNNAMED = "message"
"""What an event is called that has no name (HTML standard, 9.2.6)."""


@dataclass(slots=True)
class Stream:
    """What was read of an event stream, and how it stopped: `complete`, `capped`, `stalled` or `cut`."""

    events: list[Event] = field(default_factory=list)
    ended: str = "complete"


async def read(
    pieces: AsyncIterator[bytes],
    now_ms: Callable[[], float],
    *,
    stall_s: float = STALL_S,
    whole_s: float = WHOLE_S,
    by_line: bool = False,
) -> Stream:
    """Collect the events of a body that comes in pieces; never raises for what the server does.

    `by_line`: the `event:` line alone names an event; else one without is named by the type that its data has.

    A stream stalls when no event comes for `stall_s`; it is endless when events still come after `whole_s`.
    """
    deadline = anyio.current_time() + whole_s
    stream = Stream()
    source = EventSource(httpx.Response(200, headers={"content-type": "text/event-stream"}, content=pieces))
    incoming = source.aiter_sse()
    try:
        # Two clocks, since a server that drips one event a second never stalls and never ends.
        while len(stream.events) < MAX_EVENTS and anyio.current_time() < deadline:
            with anyio.fail_after(stall_s):
                event = await _next_event(incoming)
            stream.events.append(_event(event, now_ms(), by_line=by_line))
        stream.ended = "capped"
    except StopAsyncIteration:
        pass
    except TimeoutError:
        stream.ended = "stalled"
    except BodyTooLarge:
        stream.ended = "capped"
    except (httpx.TransportError, httpx.StreamError):
        stream.ended = "cut"
    return stream


def stream_in(raw: bytes) -> Stream:
    """The events of a whole body that was recorded, named by their lines, at most as many as are read of a live one."""
    source = EventSource(httpx.Response(200, headers={"content-type": "text/event-stream"}, content=raw))
    found = (_event(each, 0.0, by_line=True) for each in source.iter_sse() if each.data)
    stream = Stream(list(islice(found, MAX_EVENTS)))
    if next(found, None) is not None:
        stream.ended = "capped"
    return stream


def named_by_data(event: Event) -> Event:
    """The event under the type that its data names, where it has no name of its own."""
    named = _type_in(event.data) if event.event == UNNAMED else None
    return event if named is None else replace(event, event=named)


async def _next_event(incoming: AsyncIterator[ServerSentEvent]) -> ServerSentEvent:
    """The next block that has data: without it a block is no event (HTML standard, 9.2.6), but a keep-alive or such."""
    while not (event := await anext(incoming)).data:
        pass
    return event


def _event(event: ServerSentEvent, at_ms: float, *, by_line: bool) -> Event:
    """An SSE event under the name clients dispatch on: the `event:` line, else the type that its data names."""
    data = _data(event.data)
    told = event.event != UNNAMED or by_line
    name = event.event if told else _type_in(data) or UNNAMED
    return Event(name, data, at_ms)


def _data(text: str) -> Json:
    value = json_of(text)
    return text if value is NO_JSON else value


def _type_in(data: Json) -> str | None:
    if not isinstance(data, dict):
        return None
    found = data.get("type") or data.get("event_type")
    return found if isinstance(found, str) else None
