"""PB's JSON bodies, with names in camelCase or snake_case (2:7.4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from catalog_probe.mockserver.core.bodies import MB, BodyRules, read_json
from catalog_probe.mockserver.core.fields import find_violations
from catalog_probe.mockserver.pb.errors import BREACHES, NOT_JSON, TOO_LARGE

if TYPE_CHECKING:
    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.core.fields import Value

MAX_BODY_BYTES = 64 * MB  # the documents state no size; it bounds the mock's memory

RULES = BodyRules(MAX_BODY_BYTES, TOO_LARGE, NOT_JSON)


class AsciiJsonResponse(Response):
    """A JSON body in ASCII, which can echo half a surrogate pair."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return encode_json(content)


def encode_json(value: Any) -> bytes:
    """Encode a value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


async def read_object(call: Call, table: Value) -> dict[str, Any]:
    """Read a body that must be an object of this table; see `check_object`."""
    body = await read_json(call.request, RULES)
    return check_object(body.value, table)


def check_object(body: Any, table: Value) -> dict[str, Any]:
    """Return the body in camelCase and without null fields, or refuse it."""
    renamed = rename(body, table)
    violation = next(iter(find_violations(renamed, table)), None)
    if violation is not None:
        raise violation.make_refusal(BREACHES)
    checked: dict[str, Any] = renamed
    return checked


def rename(body: Any, table: Value) -> Any:
    """Return the body with camelCase names: clients mix both spellings."""
    if isinstance(body, dict) and table.members:
        renamed = {_known_name(name, table): value for name, value in body.items() if value is not None}
        return {
            name: rename(value, table.members[name].value) if name in table.members else value
            for name, value in renamed.items()
        }
    if isinstance(body, list) and table.items is not None:
        return [rename(item, table.items) for item in body]
    return body


def _known_name(name: str, table: Value) -> str:
    """Return `maxOutputTokens` for `max_output_tokens` if the table has that."""
    head, *tail = name.split("_")
    camel = head + "".join(part[:1].upper() + part[1:] for part in tail)
    return camel if camel in table.members else name
