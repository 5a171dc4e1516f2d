"""Changes that faults are made of: to headers, bodies, envelopes, events, frames; each a pure function."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from tests.harness.faults import Answer, Ending, Frame

Change = Callable[[Answer], Answer]
OfValue = Callable[[Any], Any]
OfEvent = Callable[[str, int], Iterable[str]]
OfFrame = Callable[[Frame, int], Iterable[Frame]]

HTML = "text/html; charset=utf-8"
JSON = "application/json"


def status(of: Mapping[int, int]) -> Change:
    """Another status, by the true one."""
    return lambda answer: answer.but(status=of.get(answer.status, answer.status))


def instead(number: int, body: str, content_type: str = JSON, **headers: str) -> Change:
    """Another answer; `_` in a header's name stands for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda answer: Answer(number, {"content-type": content_type, **named}, body.encode())


def instead_of_stream(number: int, body: str) -> Change:
    """An answer where a stream should begin; other answers stay."""
    other = instead(number, body)
    return lambda answer: other(answer) if answer.body is None else answer


def page(number: int, title: str) -> Change:
    """The HTML page of a gateway."""
    text = f"{number} {title}"
    return instead(number, f"<html><head><title>{text}</title></head><body><h1>{text}</h1></body></html>", HTML)


def body(change: Callable[[bytes], bytes], content_type: str | None = None) -> Change:
    """Another body, of another type where one is given; a stream stays."""

    def changed(answer: Answer) -> Answer:
        if not answer.body:
            return answer
        headers = answer.headers if content_type is None else {**answer.headers, "content-type": content_type}
        return answer.but(headers=headers, body=change(answer.body))

    return changed


def headers(pattern: str, change: Callable[[str, str], Mapping[str, str]]) -> Change:
    """Every header whose name fits becomes what `change` makes of its name and value."""

    def changed(answer: Answer) -> Answer:
        kept: dict[str, str] = {}
        for name, value in answer.headers.items():
            kept.update(change(name, value) if fnmatchcase(name, pattern) else {name: value})
        return answer.but(headers=kept)

    return changed


def removed(pattern: str) -> Change:
    return headers(pattern, lambda name, value: {})


def emptied(pattern: str) -> Change:
    return headers(pattern, lambda name, value: {name: ""})


def renamed(pattern: str) -> Change:
    return headers(pattern, lambda name, value: {f"{name}-renamed": value})


def said(pattern: str, other: str) -> Change:
    """Another value in each of these headers."""
    return headers(pattern, lambda name, value: {name: other})


def added(name: str, value: str) -> Change:
    return lambda answer: answer.but(headers={**answer.headers, name: value})


def at(pointers: Iterable[str], other: OfValue) -> OfValue:
    """Change what a JSON value has at these pointers; where it has nothing there it stays.

    The first item of a list stands for the list: some envelopes come in one.
    """
    paths = [pointer[1:].split("/") for pointer in pointers]

    def changed(value: Any) -> Any:
        if isinstance(value, list) and len(value) == 1:
            return [changed(value[0])]
        for path in paths:
            value = _put(value, path, other)
        return value

    return changed


def _put(value: Any, path: list[str], other: OfValue) -> Any:
    if not isinstance(value, dict) or path[0] not in value:
        return value
    there = value[path[0]]
    return {**value, path[0]: _put(there, path[1:], other) if len(path) > 1 else other(there)}


def text_at(pointers: Iterable[str], other: str) -> OfValue:
    """Another text where there is one."""
    return at(pointers, lambda there: other if isinstance(there, str) and there else there)


def without_field(number: int) -> OfValue:
    """An object without one of its fields, by its place."""

    def changed(value: Any) -> Any:
        if not isinstance(value, dict) or len(value) <= number:
            return value
        return {name: item for place, (name, item) in enumerate(value.items()) if place != number}

    return changed


def flattened(value: Any) -> Any:
    """The fields of an error without the object around them."""
    return value["error"] if isinstance(value, dict) and isinstance(value.get("error"), dict) else value


def json_of(text: str | bytes) -> Any:
    """The JSON value of a text, or None where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def name_of(block: str) -> str:
    """The name of an event: its `event:` line, else the type in its data; `[DONE]` for the block that says so."""
    lines = dict(line.partition(": ")[::2] for line in block.split("\n"))
    data = lines.get("data", "")
    value = json_of(data)
    named = value.get("type", "") if isinstance(value, dict) else ""
    return lines.get("event") or named or data.strip()


def without_events(*names: str) -> OfEvent:
    return lambda block, before: () if name_of(block) in names else (block,)


def without_event_number(number: int) -> OfEvent:
    return lambda block, before: () if before == number else (block,)


def without_line(start: str) -> OfEvent:
    """Each block without the lines that begin so."""
    return lambda block, before: ("\n".join(line for line in block.split("\n") if not line.startswith(start)),)


def replaced(old: str, new: str) -> OfEvent:
    return lambda block, before: (block.replace(old, new),)


def broken_off_by(failure: str) -> OfEvent:
    """The first block of a stream, then a failure, then nothing."""
    return lambda block, before: (block, failure) if before == 0 else ()


def before_each(extra: str) -> OfEvent:
    """A block more before every block."""
    return lambda block, before: (extra, block)


def before_the_first(extra: str) -> OfEvent:
    return lambda block, before: (extra, block) if before == 0 else (block,)


def frame_renamed(other: str) -> OfFrame:
    """Each message under another name: in its `type`, else in its first field."""

    def changed(frame: Frame, before: int) -> Iterable[Frame]:
        value = json_of(frame)
        if not isinstance(value, dict):
            return (frame,)
        first = next(iter(value), "")
        other_value = (
            {**value, "type": other}
            if "type" in value
            else {other if name == first else name: item for name, item in value.items()}
        )
        return (json.dumps(other_value),)

    return changed


def first_name_twice(text: str) -> str:
    """A text in which the first object has its first name twice, at first with null: the last value is the true one."""
    return re.sub(r'\{\s*("(?:[^"\\]|\\.)*"\s*:)', r"{\1 null, \1", text, count=1)


def body_with_a_name_twice(raw: bytes) -> bytes:
    return first_name_twice(raw.decode()).encode()


def event_with_a_name_twice(block: str, before: int) -> Iterable[str]:
    return (first_name_twice(block),)


def frame_with_a_name_twice(frame: Frame, before: int) -> Iterable[Frame]:
    return (first_name_twice(frame) if isinstance(frame, str) else frame,)


def every_frame_twice(frame: Frame, before: int) -> Iterable[Frame]:
    return (frame, frame)


def ending(number: int | None = None, message: str | None = None) -> Callable[[Ending], Ending]:
    """Another code or status, another reason or message."""
    return lambda was: Ending(
        was.status if number is None else number, was.message if message is None else message, was.trailers
    )


def status_of_calls(of: Mapping[int, int]) -> Callable[[Ending], Ending]:
    """Another gRPC status, by the true one."""
    return lambda was: Ending(of.get(was.status, was.status), was.message, was.trailers)
