"""PD's request bodies: content type (415), field types (422), else 400."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from json import JSONDecoder
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.bodies import MB, BodyRules, read_json
from catalog_probe.mockserver.core.fields import Breach, find_violations, format_path, json_type
from catalog_probe.mockserver.pd.errors import BREACHES, TOO_LARGE, UNREADABLE, UNSUPPORTED_MEDIA_TYPE
from catalog_probe.mockserver.pd.fields import ACTUAL_TYPES, EXPECTED_TYPES

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.fields import Value, Violation
    from catalog_probe.mockserver.core.gateway import Call


_DECODER = JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


def find_end(text: str, path: Sequence[str | int]) -> int:
    """Return the offset behind the value at `path`, or behind its last parent."""
    start = _skip_space(text, 0)
    for step in path:
        # the last member of a name wins, as it does for the parser
        start = dict(_iterate_children(text, start)).get(step, start)
    return _find_value_end(text, start)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return line and column of the character before `offset`, both counted from 1."""
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, max(1, offset - line_start)


def _iterate_children(text: str, start: int) -> Iterator[tuple[str | int, int]]:
    """Yield the name or index of each child, and the offset at which its value begins."""
    is_object = text[start] == "{"
    at, index = _skip_space(text, start + 1), 0
    while text[at] not in "]}":
        step: str | int = index
        if is_object:
            step, at = _DECODER.raw_decode(text, at)
            at = _skip_space(text, _skip_space(text, at) + 1)  # behind the colon
        yield step, at
        at = _skip_space(text, _find_value_end(text, at))
        if text[at] == ",":
            at = _skip_space(text, at + 1)
        index += 1


def _find_value_end(text: str, start: int) -> int:
    end: int = _DECODER.raw_decode(text, start)[1]
    return end


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


RULES = BodyRules(
    20 * MB,  # the documents give no limit; the mock must have one
    TOO_LARGE,
    UNREADABLE,
    ("application/json",),
    UNSUPPORTED_MEDIA_TYPE,
)


async def read_object(call: Call, table: Value) -> dict[str, Any]:
    """Read an object of this table, without its null fields."""
    text, body = await read_json(call.request, RULES)
    return check_object(body, table, text)


def check_object(body: Any, table: Value, text: str) -> dict[str, Any]:
    """Return the body without its null fields, or refuse it; `text` is its JSON.

    A wrong type (422) comes before any other violation (400).
    """
    violations = sorted(find_violations(body, table), key=lambda violation: violation.breach is not Breach.TYPE)
    if violations:
        raise _make_refusal(violations[0], text)
    return {name: value for name, value in body.items() if value is not None}


def _make_refusal(violation: Violation, text: str) -> Refusal:
    line, column = line_and_column(text, find_end(text, violation.path))
    return violation.make_refusal(
        BREACHES,
        EXPECTED_TYPES,
        field=f"{format_path(violation.path)}: " if violation.path else "",
        found=f"{ACTUAL_TYPES[json_type(violation.value)]} `{json.dumps(violation.value)[:40]}`",
        line=line,
        column=column,
    )
