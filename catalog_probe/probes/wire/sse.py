"""Reads server-sent events as they arrive, within caps on their number, bytes and time."""

from __future__ import annotations

import asyncio
import codecs
import re
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Event, Json
from catalog_probe.catalog.model.exchange import DEFAULT_EVENT_NAME
from catalog_probe.probes.wire.body import NO_JSON, BodyTooLarge, json_of
from catalog_probe.probes.wire.failure import NoAnswer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

MAX_EVENTS = 2_000
STALL_S = 15.0
WHOLE_S = 60.0


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
    clock = asyncio.get_running_loop().time
    heard_at = clock()
    deadline = heard_at + whole_s
    stream, lines = Stream(), Lines()
    try:
        # Two clocks, since a server that drips one event a second never stalls and never ends.
        while len(stream.events) < MAX_EVENTS and clock() < deadline:
            async with asyncio.timeout_at(heard_at + stall_s):
                piece = await anext(pieces)
            for name, data in islice(lines.events(piece), MAX_EVENTS - len(stream.events)):
                stream.events.append(_event(name, data, now_ms(), by_line=by_line))
                heard_at = clock()
            if clock() >= heard_at + stall_s:  # it never made us wait, and told nothing
                raise TimeoutError
        stream.ended = "capped"
    except StopAsyncIteration:
        stream.events.extend(_event(*each, now_ms(), by_line=by_line) for each in lines.last())
    except TimeoutError:
        stream.ended = "stalled"
    except BodyTooLarge:
        stream.ended = "capped"
    except NoAnswer:
        stream.ended = "cut"
    return stream


def stream_in(raw: bytes) -> Stream:
    """The events of a whole body that was recorded, named by their lines, at most as many as are read of a live one."""
    lines = Lines()
    found = (_event(*each, 0.0, by_line=True) for each in chain(lines.events(raw), lines.last()))
    stream = Stream(list(islice(found, MAX_EVENTS)))
    if next(found, None) is not None:
        stream.ended = "capped"
    return stream


class Lines:
    """Takes bytes apart into lines, and lines into events (HTML standard, 9.2.6).

    A block without data is no event, but a keep-alive or such; what was not ended by an empty line is none either.
    """

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")  # a mark before it all is none of it
        self._begun: list[str] = []
        """What came of a line whose end did not."""
        self._name = ""
        self._data: list[str] = []

    def events(self, raw: bytes) -> Iterator[tuple[str, str]]:
        """The name and the data of each event that ends in these bytes; it has no name where that is empty."""
        yield from self._in(self._text.decode(raw))

    def last(self) -> Iterator[tuple[str, str]]:
        """The event whose end is that of the stream, if there is one: a return may have waited for its line feed."""
        return self._in(self._text.decode(b"", final=True), final=True)

    def _in(self, text: str, *, final: bool = False) -> Iterator[tuple[str, str]]:
        for line in self._lines(text, final=final):
            if not line:
                name, data = self._name, "\n".join(self._data)
                self._name, self._data = "", []
                if data:
                    yield name, data
                continue
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                self._data.append(value)
            elif field == "event":
                self._name = value

    def _lines(self, text: str, *, final: bool) -> Iterator[str]:
        """Each line whose end has come; a return at the end of a piece may be half of one."""
        if self._begun and self._begun[-1].endswith("\r"):
            text = self._begun.pop() + text
        *whole, rest = _LINE_END.split(text if final or not text.endswith("\r") else text[:-1])
        if whole:
            whole[0] = "".join((*self._begun, whole[0]))
            self._begun.clear()
        self._begun.append(rest + "\r" if text.endswith("\r") and not final else rest)
        yield from whole


_LINE_END = re.compile(r"\r\n|\n|\r")


def named_by_data(event: Event) -> Event:
    """The event under the type that its data names, where it has no name of its own."""
    named = _type_in(event.data) if event.event == DEFAULT_EVENT_NAME else None
    return event if named is None else replace(event, event=named)


def _event(name: str, text: str, at_ms: float, *, by_line: bool) -> Event:
    """An SSE event under the name clients dispatch on: the `event:` line, else the type that its data names."""
    data = _data(text)
    told = (name or DEFAULT_EVENT_NAME) != DEFAULT_EVENT_NAME or by_line
    return Event((name if told else _type_in(data)) or DEFAULT_EVENT_NAME, data, at_ms)


def _data(text: str) -> Json:
    value = json_of(text)
    return text if value is NO_JSON else value


def _type_in(data: Json) -> str | None:
    if not isinstance(data, dict):
        return None
    found = data.get("type") or data.get("event_type")
    return found if isinstance(found, str) else None
