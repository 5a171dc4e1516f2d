"""Edits that faults are made of: pure functions on answers, JSON values, events, messages and endings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from tests.harness.faults import Answer, Ending, Frame

AnswerEdit = Callable[[Answer], Answer]
ValueEdit = Callable[[Any], Any]
EventEdit = Callable[[str, int], Iterable[str]]
FrameEdit = Callable[[Frame, int], Iterable[Frame]]

HTML = "text/html; charset=utf-8"
JSON = "application/json"


def set_status(of: Mapping[int, int]) -> AnswerEdit:
    """Replace the status, by the original one."""
    return lambda answer: answer.with_changes(status=of.get(answer.status, answer.status))


def replace_answer(number: int, body: str, content_type: str = JSON, **headers: str) -> AnswerEdit:
    """Replace the whole answer; `_` in a header's name stands for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda answer: Answer(number, {"content-type": content_type, **named}, body.encode())


def replace_stream(number: int, body: str) -> AnswerEdit:
    """Replace a stream by an answer; other answers stay."""
    other = replace_answer(number, body)
    return lambda answer: other(answer) if answer.body is None else answer


def replace_by_page(number: int, title: str) -> AnswerEdit:
    """Replace the answer by the HTML page of a gateway."""
    text = f"{number} {title}"
    return replace_answer(number, f"<html><head><title>{text}</title></head><body><h1>{text}</h1></body></html>", HTML)


def edit_body(change: Callable[[bytes], bytes], content_type: str | None = None) -> AnswerEdit:
    """Edit the body, and set its type if one is given; a stream stays."""

    def changed(answer: Answer) -> Answer:
        if not answer.body:
            return answer
        headers = answer.headers if content_type is None else {**answer.headers, "content-type": content_type}
        return answer.with_changes(headers=headers, body=change(answer.body))

    return changed


def edit_headers(pattern: str, change: Callable[[str, str], Mapping[str, str]]) -> AnswerEdit:
    """Replace each header that matches the pattern by what `change` makes of its name and value."""

    def changed(answer: Answer) -> Answer:
        kept: dict[str, str] = {}
        for name, value in answer.headers.items():
            kept.update(change(name, value) if fnmatchcase(name, pattern) else {name: value})
        return answer.with_changes(headers=kept)

    return changed


def remove_headers(pattern: str) -> AnswerEdit:
    return edit_headers(pattern, lambda name, value: {})


def empty_headers(pattern: str) -> AnswerEdit:
    return edit_headers(pattern, lambda name, value: {name: ""})


def rename_headers(pattern: str) -> AnswerEdit:
    return edit_headers(pattern, lambda name, value: {f"{name}-renamed": value})


def set_headers(pattern: str, other: str) -> AnswerEdit:
    """Set the value of each header that matches."""
    return edit_headers(pattern, lambda name, value: {name: other})


def add_header(name: str, value: str) -> AnswerEdit:
    return lambda answer: answer.with_changes(headers={**answer.headers, name: value})


def edit_at(pointers: Iterable[str], other: ValueEdit) -> ValueEdit:
    """Edit a JSON value at those of these pointers that it has.

    A list of one item is edited as its item: some envelopes come in a list.
    """
    paths = [pointer[1:].split("/") for pointer in pointers]

    def changed(value: Any) -> Any:
        if isinstance(value, list) and len(value) == 1:
            return [changed(value[0])]
        for path in paths:
            value = _put(value, path, other)
        return value

    return changed


def _put(value: Any, path: list[str], other: ValueEdit) -> Any:
    if not isinstance(value, dict) or path[0] not in value:
        return value
    there = value[path[0]]
    return {**value, path[0]: _put(there, path[1:], other) if len(path) > 1 else other(there)}


def set_text(pointers: Iterable[str], other: str) -> ValueEdit:
    """Replace the text at these pointers, if there is any."""
    return edit_at(pointers, lambda there: other if isinstance(there, str) and there else there)


def drop_field(number: int) -> ValueEdit:
    """Drop the field with this index from an object."""

    def changed(value: Any) -> Any:
        if not isinstance(value, dict) or len(value) <= number:
            return value
        return {name: item for place, (name, item) in enumerate(value.items()) if place != number}

    return changed


def flatten_error(value: Any) -> Any:
    """Return the fields of an error without the object around them."""
    return value["error"] if isinstance(value, dict) and isinstance(value.get("error"), dict) else value


def parse_json(text: str | bytes) -> Any:
    """Return the JSON value of a text, or None if it is no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def event_name(block: str) -> str:
    """Return the name of an event: its `event:` line, else the type in its data, else the data (`[DONE]`)."""
    lines = dict(line.partition(": ")[::2] for line in block.split("\n"))
    data = lines.get("data", "")
    value = parse_json(data)
    type_name = value.get("type", "") if isinstance(value, dict) else ""
    return lines.get("event") or type_name or data.strip()


def drop_events(*names: str) -> EventEdit:
    return lambda block, before: () if event_name(block) in names else (block,)


def drop_event_number(number: int) -> EventEdit:
    return lambda block, before: () if before == number else (block,)


def drop_lines(start: str) -> EventEdit:
    """Drop the lines of each block that begin so."""
    return lambda block, before: ("\n".join(line for line in block.split("\n") if not line.startswith(start)),)


def replace_text(old: str, new: str) -> EventEdit:
    return lambda block, before: (block.replace(old, new),)


def fail_after_first(failure: str) -> EventEdit:
    """Send the first block of a stream, then a failure, then nothing."""
    return lambda block, before: (block, failure) if before == 0 else ()


def insert_before_each(extra: str) -> EventEdit:
    """Insert a block before every block."""
    return lambda block, before: (extra, block)


def insert_before_first(extra: str) -> EventEdit:
    return lambda block, before: (extra, block) if before == 0 else (block,)


def rename_frame(other: str) -> FrameEdit:
    """Rename each message: its `type`, else its first field."""

    def changed(frame: Frame, before: int) -> Iterable[Frame]:
        value = parse_json(frame)
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


def duplicate_first_name(text: str) -> str:
    """Insert the first name of the first object once more, with null before its own value; the last value counts."""
    return re.sub(r'\{\s*("(?:[^"\\]|\\.)*"\s*:)', r"{\1 null, \1", text, count=1)


def duplicate_name_in_body(raw: bytes) -> bytes:
    return duplicate_first_name(raw.decode()).encode()


def duplicate_name_in_event(block: str, before: int) -> Iterable[str]:
    return (duplicate_first_name(block),)


def duplicate_name_in_frame(frame: Frame, before: int) -> Iterable[Frame]:
    return (duplicate_first_name(frame) if isinstance(frame, str) else frame,)


def duplicate_frame(frame: Frame, before: int) -> Iterable[Frame]:
    return (frame, frame)


def set_ending(number: int | None = None, message: str | None = None) -> Callable[[Ending], Ending]:
    """Replace the code or status, the reason or message."""
    return lambda ending: Ending(
        ending.status if number is None else number, ending.message if message is None else message, ending.trailers
    )


def set_grpc_status(of: Mapping[int, int]) -> Callable[[Ending], Ending]:
    """Replace the gRPC status, by the original one."""
    return lambda ending: Ending(of.get(ending.status, ending.status), ending.message, ending.trailers)
