"""An answer as somebody holds it, parsed or as text, whole or unwrapped by an SDK: the readings that it allows."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Json

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
"""Response headers as clients have them: a mapping or pairs, names in any case."""

EMPTY = object()
"""The reading of an answer without a body."""

_BLOCK = re.compile(r"\r\n\r\n|\n\n|\r\r")
_FIELD = re.compile(r"(event|data): ?(.*)")
_MOST_VALUES, _LONGEST_TEXT = 256, 2_000  # an error is short: this bounds the search of a body that is none
_TEXT_LIMIT = 1 << 20
"""Characters of a text that are searched for an answer; an error is short."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read an answer's body: as a whole, or as the data of an event or frame in it."""

    body: Json
    event: str | None = None
    """The name of the event or frame; None of a body."""
    wrapped: bool = False
    """Whether we put it back into the member from which an SDK had taken it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came, as recognition compares it."""

    status: int | None
    headers: Mapping[str, str] | None
    """By name in small letters; None where nobody knows them."""
    readings: tuple[Reading, ...]
    close: tuple[int | None, str] | None = None
    grpc: int | None = None

    @property
    def texts(self) -> str:
        """Every text of its body, a line each."""
        return "\n".join(chain.from_iterable(iterate_texts(each.body) for each in self.readings[:1]))


def make_answer(
    status: int | None,
    headers: Headers | None,
    body: Json,
    close: tuple[int | None, str] | None = None,
    grpc: int | None = None,
) -> Answer:
    """The answer with every reading of its body, the plainest first."""
    alone = status is None or status < 400
    return Answer(status, _small(headers), tuple(_readings(body, is_alone=alone)), close, grpc)


def answer_of_exchange(exchange: Exchange) -> Answer:
    """The answer of an exchange that was observed; one without a response has no reading."""
    response = exchange.response
    if response is None:
        return Answer(None, None, ())
    received = [each for each in response.events or () if not each.sent]
    readings = [Reading(each.data, each.event) for each in reversed(received)]
    if response.body_type == "empty" and not received:
        readings.append(Reading(EMPTY))
    elif response.body is not None:
        readings.extend(_readings(response.body))
    return Answer(
        response.status,
        _small(response.headers),
        tuple(readings),
        (response.close.code, response.close.reason) if response.close is not None else None,
        response.grpc.status if response.grpc is not None else None,
    )


def parse_text(text: str) -> Json:
    """The JSON of a text, or what a pasted error shows as a Python value; the text itself where it is neither."""
    text = text.strip().removeprefix("\ufeff")[:_TEXT_LIMIT]
    value = _value(text)
    if value is not None:
        return value
    quoted = (_value(part) for part in _quoted(text))
    # `messages[0]` in an error's words is no value: an error is an object, or an array of them
    return next((value for value in quoted if _is_error_like(value)), text)


def _is_error_like(value: Json) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _quoted(text: str) -> Iterator[str]:
    """What may be left of a text without the words around a value, as in `[API Error: {…}]` or a repr()."""
    starts = sorted((at, closing) for at, closing in ((text.find("["), "]"), (text.find("{"), "}")) if at >= 0)
    for begins, closing in starts:
        part = text[begins : text.rfind(closing) + 1]
        yield part
        yield part.replace("\\'", "'")  # repr() escapes the quotes of what it shows


def iterate_texts(value: Json) -> Iterator[str]:
    """The strings in a value, in order; of many the first."""
    waiting = [value]
    for _ in range(_MOST_VALUES):
        if not waiting:
            return
        value = waiting.pop()
        if isinstance(value, str):
            yield value[:_LONGEST_TEXT]
        elif isinstance(value, dict | list):
            members = value.values() if isinstance(value, dict) else value
            waiting.extend(reversed(list(islice(members, _MOST_VALUES))))


def _small(headers: Headers | None) -> Mapping[str, str] | None:
    if headers is None:
        return None
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return {str(name).lower(): str(value) for name, value in pairs}


def _readings(body: Json, *, is_alone: bool = False) -> Iterator[Reading]:
    """Each way to read a body; one that is alone, without an error's status, may be the data of an event or frame."""
    if isinstance(body, bytes | bytearray):
        body = bytes(body).decode("utf-8", "replace")
    if body is None or body in ("", {}):
        yield Reading(EMPTY)
        return
    if isinstance(body, str):
        streamed = list(_events(body))
        yield from streamed
        if streamed:
            return
        body = parse_text(body)
    yield Reading(body)
    if isinstance(body, list) and body and isinstance(body[0], dict):
        yield Reading(body[0])
    if isinstance(body, dict) and "error" not in body:
        yield Reading({"error": body}, wrapped=True)
    if isinstance(body, dict) and is_alone and _named_in(body):
        yield Reading(body, _named_in(body))


def _events(text: str) -> Iterator[Reading]:
    """The data of each event of a stream's text, the last first; what follows without `data:` is read as a body."""
    if not _FIELD.match(text.lstrip()):
        return
    found = []
    for block in _BLOCK.split(text):
        fields = [match.groups() for match in map(_FIELD.match, block.splitlines()) if match is not None]
        if fields:
            data = _value("\n".join(value for name, value in fields if name == "data"))
            event = next((value for name, value in fields if name == "event"), None)
            found.append(Reading(data, event or _named_in(data)))
        elif (value := _value(block)) is not None:
            found.append(Reading(value))
    yield from (each for each in reversed(found) if each.body is not None)


def _named_in(data: Json) -> str:
    """The name that an event without an `event:` line gives itself in its data."""
    named = (data.get("type") or data.get("event_type")) if isinstance(data, dict) else None
    return named if isinstance(named, str) else ""


def _value(text: str) -> Json:
    """The value that a text writes, in JSON or as Python shows it; None for what is neither."""
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
