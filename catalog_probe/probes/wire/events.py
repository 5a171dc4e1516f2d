"""Events of a stream: reads server-sent events in bounds, and names each event."""

from __future__ import annotations

import asyncio
import codecs
import re
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Event
from catalog_probe.catalog.model.exchange import DEFAULT_EVENT_NAME
from catalog_probe.probes.wire.answer import NO_JSON, BodyTooLarge, NoAnswer, parse_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

    from catalog_probe.catalog.model import Json


def stated_type(data: Json) -> str | None:
    """Return the type that the data of an event or message states, or None."""
    if not isinstance(data, dict):
        return None
    value = data.get("type") or data.get("event_type")
    return value if isinstance(value, str) else None


def name_message(message: Json, message_names: Iterable[str] = ()) -> str:
    """Return a socket message's name: its known member, else its stated type, else its first member.

    >>> name_message({"traceId": "t_1", "goAway": {"timeLeft": "10s"}}, ["setupComplete", "goAway"])
    'goAway'
    >>> name_message({"type": "response.created", "sequence_number": 0})
    'response.created'
    """
    if not isinstance(message, dict):
        return DEFAULT_EVENT_NAME
    name = find_member_name(message, message_names) or stated_type(message)
    return name if name is not None else str(next(iter(message), DEFAULT_EVENT_NAME))


def name_event_by_data(event: Event, message_names: Iterable[str] = ()) -> Event:
    """Return a recorded event under its known member, or if it has no name, under the type that its data states."""
    name = find_member_name(event.data, message_names)
    if name is None and event.event == DEFAULT_EVENT_NAME:
        name = stated_type(event.data)
    return event if name is None else replace(event, event=name)


def find_member_name(data: Json, message_names: Iterable[str]) -> str | None:
    """Return the first of the known names that is a member of the data, wherever it stands; None if none is."""
    return next((name for name in message_names if name in data), None) if isinstance(data, dict) else None


MAX_EVENTS = 2_000

# Seconds without an event after which a stream has stalled.
STALL_S = 15.0

# Seconds after which a stream whose events still come is endless.
WHOLE_S = 60.0


@dataclass(slots=True)
class Stream:
    """Events, and how they stopped: `complete`, `capped`, `stalled` or `cut`."""

    events: list[Event] = field(default_factory=list)
    ended: str = "complete"


async def read_stream(
    pieces: AsyncIterator[bytes],
    now_ms: Callable[[], float],
    *,
    stall_s: float = STALL_S,
    whole_s: float = WHOLE_S,
    by_line: bool = False,
) -> Stream:
    """Collect the events of a body; never raises for what the server does.

    `by_line`: only the `event:` line names an event; otherwise one without that line is named by the type in its data.
    """
    clock = asyncio.get_running_loop().time
    last_event_at = clock()
    deadline = last_event_at + whole_s
    stream, parser = Stream(), EventParser()
    try:
        # Two limits, because a server that drips one event a second never stalls and never ends.
        while len(stream.events) < MAX_EVENTS and clock() < deadline:
            async with asyncio.timeout_at(last_event_at + stall_s):
                piece = await anext(pieces)
            for name, data in islice(parser.feed(piece), MAX_EVENTS - len(stream.events)):
                stream.events.append(_make_event(name, data, now_ms(), by_line=by_line))
                last_event_at = clock()
            if clock() >= last_event_at + stall_s:  # bytes always came in time, but no event
                raise TimeoutError
        stream.ended = "capped"
    except StopAsyncIteration:
        stream.events.extend(_make_event(name, data, now_ms(), by_line=by_line) for name, data in parser.finish())
    except TimeoutError:
        stream.ended = "stalled"
    except BodyTooLarge:
        stream.ended = "capped"
    except NoAnswer:
        stream.ended = "cut"
    return stream


def parse_stream(raw: bytes) -> Stream:
    """Return the events of a recorded body, named by their lines.

    At most as many as are read of a live one.
    """
    parser = EventParser()
    texts = chain(parser.feed(raw), parser.finish())
    events = (_make_event(name, data, 0.0, by_line=True) for name, data in texts)
    stream = Stream(list(islice(events, MAX_EVENTS)))
    if next(events, None) is not None:
        stream.ended = "capped"
    return stream


class EventParser:
    """Splits bytes into lines, and lines into events (HTML standard, 9.2.6).

    A block without data is no event: it may be a keep-alive. Nor is a block that no empty line ends.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")  # drops a byte order mark
        self._partial_line: list[str] = []
        self._name = ""
        self._data: list[str] = []

    def feed(self, raw: bytes) -> Iterator[tuple[str, str]]:
        """Yield name and data of each event that ends in these bytes."""
        yield from self._parse(self._decoder.decode(raw))

    def finish(self) -> Iterator[tuple[str, str]]:
        """Yield the event that ends with the stream, if any.

        A final `\\r` may have waited for its `\\n`.
        """
        return self._parse(self._decoder.decode(b"", final=True), is_final=True)

    def _parse(self, text: str, *, is_final: bool = False) -> Iterator[tuple[str, str]]:
        for line in self._split_lines(text, is_final=is_final):
            if not line:
                name, data = self._name, "\n".join(self._data)
                self._name, self._data = "", []
                if data:
                    yield name, data
                continue
            field_name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field_name == "data":
                self._data.append(value)
            elif field_name == "event":
                self._name = value

    def _split_lines(self, text: str, *, is_final: bool) -> Iterator[str]:
        """Yield each line that is complete.

        A `\\r` at the end of a piece may be the first half of a line end.
        """
        if self._partial_line and self._partial_line[-1].endswith("\r"):
            text = self._partial_line.pop() + text
        has_open_end = text.endswith("\r") and not is_final
        *complete, partial = _LINE_END.split(text[:-1] if has_open_end else text)
        if complete:
            complete[0] = "".join((*self._partial_line, complete[0]))
            self._partial_line.clear()
        self._partial_line.append(partial + "\r" if has_open_end else partial)
        yield from complete


_LINE_END = re.compile(r"\r\n|\n|\r")


def _make_event(name: str, text: str, at_ms: float, *, by_line: bool) -> Event:
    """Make an event under the name on which clients dispatch.

    That is the `event:` line, else the type in its data.
    """
    value = parse_json(text)
    data = text if value is NO_JSON else value
    is_named = by_line or (name or DEFAULT_EVENT_NAME) != DEFAULT_EVENT_NAME
    return Event((name if is_named else stated_type(data)) or DEFAULT_EVENT_NAME, data, at_ms)
