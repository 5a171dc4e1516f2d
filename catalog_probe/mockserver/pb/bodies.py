"""Reads PB's bodies: JSON, with names in either spelling, that keeps to its field table (2:7.4); and writes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from catalog_probe.mockserver.core.bodies import MB, BodyRules, read_json
from catalog_probe.mockserver.core.fields import find_violations
from catalog_probe.mockserver.pb.errors import BREACHES, NOT_JSON, TOO_LARGE

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.calls import Call
    from catalog_probe.mockserver.core.fields import Path, Value

MOST_BYTES = 64 * MB
"""The documents state no size; this only keeps the mock's memory bounded."""

RULES = BodyRules(MOST_BYTES, TOO_LARGE, NOT_JSON)

WORDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
"""How a refusal calls the JSON types."""


class JsonAnswer(Response):
    """A JSON body in ASCII: half a surrogate pair, which JSON can spell and UTF-8 cannot, is sent back as it came."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The body."""
        return as_json(content)


def as_json(value: Any) -> bytes:
    """A value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


async def read_object(call: Call, table: Value) -> dict[str, Any]:
    """The body as an object that keeps to its table, its names in camelCase, without what is null."""
    body = await read_json(call.request, RULES)
    return check_object(body.value, table)


def check_object(body: Any, table: Value, path: Path = ()) -> dict[str, Any]:
    """The body with its names in camelCase and without what is null, or the refusal of what breaks the table."""
    renamed = rename(body, table)
    broken = next(iter(find_violations(renamed, table, path=path)), None)
    if broken is not None:
        raise broken.make_refusal(BREACHES, WORDS)
    checked: dict[str, Any] = renamed
    return checked


def rename(body: Any, table: Value) -> Any:
    """The body with those names in camelCase that the table knows so: clients mix both, and both mean the same."""
    if isinstance(body, dict) and table.members:
        named = {_known_name(name, table): value for name, value in body.items() if value is not None}
        return {
            name: rename(value, table.members[name].value) if name in table.members else value
            for name, value in named.items()
        }
    if isinstance(body, list) and table.items is not None:
        return [rename(item, table.items) for item in body]
    return body


def _known_name(name: str, table: Value) -> str:
    """`maxOutputTokens` for `max_output_tokens` where the table knows that; else the name as it is."""
    head, *tail = name.split("_")
    camel = head + "".join(part[:1].upper() + part[1:] for part in tail)
    return camel if camel in table.members else name
