"""An answer in every form in which a client may hold it, seen by an envelope."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import Fit
from catalog_probe.catalog.text.json_values import ABSENT, find_value

if TYPE_CHECKING:
    from catalog_probe.catalog.envelopes import Shape
    from catalog_probe.catalog.model import Event, Exchange, Json


Headers = Mapping[str, str] | Iterable[tuple[str, str]]
"""Response headers as clients have them: a mapping or pairs, with names in any case."""

EMPTY = object()
"""The reading of an answer without a body."""

_BLOCK = re.compile(r"\r\n\r\n|\n\n|\r\r")
_FIELD = re.compile(r"(event|data): ?(.*)")
# An error is short. These bound the search in bodies that are none.
_MAX_VALUES = 256
_MAX_STRING = 2_000  # characters
_MAX_TEXT = 1 << 20  # characters


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read the body of an answer: as a whole, or as the data of one event or frame in it."""

    body: Json
    event: str | None = None
    """The name of the event or frame; None for a body."""
    wrapped: bool = False
    """Whether it was put back into the member `error`, from which an SDK may have taken it."""
    is_message: bool = False
    """Whether it is only the message of an error, as clients print it, or the reason of a close."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as recognition compares it."""

    status: int | None
    headers: Mapping[str, str] | None
    """By name in lower case; None if unknown."""
    readings: tuple[Reading, ...]
    close: tuple[int | None, str] | None = None
    grpc: int | None = None

    @property
    def texts(self) -> str:
        """The strings of the body as a whole, one per line."""
        return "\n".join(chain.from_iterable(iterate_texts(reading.body) for reading in self.readings[:1]))


def make_answer(
    status: int | None,
    headers: Headers | None,
    body: Json,
    close: tuple[int | None, str] | None = None,
    grpc: int | None = None,
    *,
    is_event: bool = False,
) -> Answer:
    """Make an answer with every reading of its body, the most literal first.

    `is_event` says that the body is the data of an event or frame, whatever the status. Example:
    `{"type": "invalid_request_error", "message": "No."}`, an error that an SDK has unwrapped, is read as it is, and put
    back into the member `error`.
    """
    may_be_event = is_event or status is None or status < 400
    readings = [*_read_body(body, may_be_event=may_be_event), *_read_close(close)]
    return Answer(status, _lower(headers), tuple(readings), close, grpc)


def answer_of_exchange(exchange: Exchange) -> Answer:
    """Make the answer of an observed exchange; without a response it has no reading."""
    response = exchange.response
    if response is None:
        return Answer(None, None, ())
    received = [event for event in response.events or () if not event.sent]
    # the last event first, because an error ends a stream
    readings = [Reading(event.data, event.event) for event in reversed(received)]
    if response.body_type == "empty" and not received:
        readings.append(Reading(EMPTY))
    elif response.body is not None:
        readings.extend(_read_body(response.body))
    if response.close is not None:
        readings.extend(_read_close((response.close.code, response.close.reason)))
    return Answer(
        response.status,
        _lower(response.headers),
        tuple(readings),
        (response.close.code, response.close.reason) if response.close is not None else None,
        response.grpc.status if response.grpc is not None else None,
    )


def is_error_event(event: Event) -> bool:
    """Whether a received event or frame carries an error, documented or not.

    An error is named by the event, by the type in its data, or by a member `error` with a value. Example: the event
    `response.failed` with `{"response": {"error": {"code": "server_error", …}}}`.
    """
    if event.sent or not isinstance(event.data, dict):
        return False
    response = event.data.get("response")
    error = event.data.get("error") or (response.get("error") if isinstance(response, dict) else None)
    names = (event.event, event.data.get("type"), event.data.get("event_type"))
    return "error" in names or isinstance(error, dict | str)


def parse_text(text: str) -> Json:
    """Parse the JSON or the Python value in a text, with words around it or without; else return the text.

    >>> parse_text("Error code: 429 - {'error': {'message': 'Slow.', 'code': None}}")
    {'error': {'message': 'Slow.', 'code': None}}
    >>> parse_text("messages[0] is empty")
    'messages[0] is empty'
    """
    text = text.strip().removeprefix("\ufeff")[:_MAX_TEXT]
    if is_page(text):
        return text
    value = _parse_value(text)
    if value is not None:
        return value
    for part in _bracketed_parts(text):
        value = _parse_value(part)
        # An error is an object, or an array of objects. `messages[0]` in its words is neither.
        if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict)):
            return value
    return text


def is_page(text: str) -> bool:
    """Whether a text is a page of HTML, which no provider answers with; a gateway in front of it does.

    >>> is_page("<html><head><title>502 Bad Gateway</title></head></html>")
    True
    """
    return text.lstrip()[:_MAX_STRING].lower().startswith(("<!doctype html", "<html"))


def _bracketed_parts(text: str) -> Iterator[str]:
    """Yield what may be a value among words, as in `[API Error: {…}]` or a repr()."""
    starts = sorted((text.find(opening), closing) for opening, closing in ("[]", "{}") if opening in text)
    for start, closing in starts:
        part = text[start : text.rfind(closing) + 1]
        yield part
        yield part.replace("\\'", "'")  # repr() escapes quotes


def iterate_texts(value: Json) -> Iterator[str]:
    """Yield the first strings in a value, in order, at any depth.

    >>> list(iterate_texts({"error": {"message": "No.", "details": [{"reason": "KEY"}]}}))
    ['No.', 'KEY']
    """
    stack = [value]
    for _ in range(_MAX_VALUES):
        if not stack:
            return
        value = stack.pop()
        if isinstance(value, str):
            yield value[:_MAX_STRING]
        elif isinstance(value, dict | list):
            members = value.values() if isinstance(value, dict) else value
            stack.extend(reversed(list(islice(members, _MAX_VALUES))))


def _lower(headers: Headers | None) -> Mapping[str, str] | None:
    if headers is None:
        return None
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return {str(name).lower(): str(value) for name, value in pairs}


def _read_body(body: Json, *, may_be_event: bool = False) -> Iterator[Reading]:
    """Yield each way to read a body; without an error's status, it may also be the data of one event or frame."""
    if isinstance(body, bytes | bytearray):
        body = bytes(body).decode("utf-8", "replace")
    if body is None or body in ("", {}):
        yield Reading(EMPTY)
        return
    if isinstance(body, str):
        events = _read_events(body)
        if events is not None:
            yield from events
            return
        body = parse_text(body)
    body = _unwrap_message(body)
    yield Reading(body)
    if isinstance(body, str) and not is_page(body):
        yield Reading(body, is_message=True)
    if isinstance(body, list) and body and isinstance(body[0], dict):
        yield Reading(body[0])  # PB's compatibility layer puts the error into an array
    if isinstance(body, dict):
        if "error" not in body:
            yield Reading({"error": body}, wrapped=True)
        if may_be_event and _event_name(body):
            yield Reading(body, _event_name(body))


def _unwrap_message(body: Json) -> Json:
    """Return the body that PB's JavaScript client has put as text into the message of another; else the body itself.

    Example: `{"error": {"message": "{\\"error\\": {\\"code\\": 503, …}}", "code": 503}}` -> the error in the message.
    """
    inner = _parse_value(message) if isinstance(message := find_value(body, "/error/message"), str) else None
    return inner if isinstance(inner, dict) and "error" in inner else body


def _read_close(close: tuple[int | None, str] | None) -> Iterator[Reading]:
    """Yield the reason of a close as the message that it is: `API key not valid. Please pass a valid API key.`"""
    if close is not None and close[1]:
        yield Reading(close[1], is_message=True)


def _read_events(text: str) -> list[Reading] | None:
    """Read the events of a stream's text, the last first; None if it has none. Other JSON in it is read as a body.

    Example: `event: error` and `data: {"type": "error"}` -> one reading of the event `error`.
    """
    if not _FIELD.match(text.lstrip()):
        return None
    readings = []
    for block in _BLOCK.split(text):
        fields = [match.groups() for match in map(_FIELD.match, block.splitlines()) if match is not None]
        if fields:
            data = _parse_value("\n".join(value for name, value in fields if name == "data"))
            name = next((value for name, value in fields if name == "event"), None)
            readings.append(Reading(data, name or _event_name(data)))
        else:
            readings.append(Reading(_parse_value(block)))
    return [reading for reading in reversed(readings) if reading.body is not None] or None


def _event_name(data: Json) -> str:
    """Return the name that an event without an `event:` line has in its data, or an empty string."""
    name = (data.get("type") or data.get("event_type")) if isinstance(data, dict) else None
    return name if isinstance(name, str) else ""


def _parse_value(text: str) -> Json:
    """Parse a text that is JSON or a Python literal; return None if it is neither."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if not text.startswith(("{", "[")):
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


_WRONG = Fit(wrong=True)


class Projection:
    """The values of a body at the locations of an envelope, or ABSENT. Texts and fit are computed when needed.

    Example: the envelope `pc` has the code at `/error/code`, so `{"error": {"code": "x"}}` has the code `x`, and
    `{"code": "x"}` none.
    """

    def __init__(self, shape: Shape, reading: Reading) -> None:
        body = reading.body
        if shape.unwrap and isinstance(body, list) and body:
            body = body[0]
        self.body: Json = body
        """Without the array that the surface may put around it; EMPTY if there is no body."""
        self.event, self.wrapped, self.is_message = reading.event, reading.wrapped, reading.is_message
        self._shape = shape
        can_hold_values = isinstance(body, dict | str) and shape.body in ("json", "text")
        self._is_value = can_hold_values and not reading.is_message
        self.places: Mapping[str, str] = {} if reading.is_message else shape.wire
        """Aspect -> its JSON pointer, for the aspects that the envelope carries."""
        code = self._find("code")
        self.code: Json = str(code) if type(code) is int else code
        self.type = self._find("type")
        message = body if reading.is_message else self._find("message")
        status = self._find("http_status")
        self.message: str | None = message if isinstance(message, str) else None
        self.status: int | None = status if type(status) is int else None
        """The HTTP status that the body repeats."""

    @cached_property
    def param(self) -> Json:
        return self._find("param")

    @cached_property
    def texts(self) -> str:
        """Every text of an error's body, one per line, its message first; empty without a message."""
        if self.message is None:
            return ""
        return "\n".join((self.message, *iterate_texts(self.body)))

    @cached_property
    def fit(self) -> Fit:
        """How the body fits the envelope."""
        return self._shape.fit(self.body) if self._is_value else _WRONG

    def _find(self, aspect: str) -> Json:
        pointer = self._shape.wire.get(aspect) if self._is_value else None
        return find_value(self.body, pointer) if pointer is not None else ABSENT
