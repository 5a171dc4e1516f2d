"""Reads PC's bodies: content type, JSON, then the table of the fields, all refused with 400 (2:7.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.bodies import MB, BodyRules, read_json
from catalog_probe.mockserver.core.fields import Breach, find_violations, format_path
from catalog_probe.mockserver.pc.errors import (
    BREACHES,
    DECIMAL_BREACHES,
    INVALID_JSON,
    TOO_LARGE,
    UNSUPPORTED_CONTENT_TYPE,
)
from catalog_probe.mockserver.pc.fields import WORDS

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.calls import Call
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.fields import Value, Violation

MOST_BYTES = 64 * MB
MEDIA_TYPES = ("application/json",)
RULES = BodyRules(MOST_BYTES, TOO_LARGE, INVALID_JSON, MEDIA_TYPES, UNSUPPORTED_CONTENT_TYPE)


async def read_value(call: Call) -> Any:
    """The body as JSON, whatever it holds."""
    return (await read_json(call.request, RULES)).value


async def read_object(call: Call, table: Value) -> dict[str, Any]:
    """The body as an object that keeps to its table, without what is null."""
    return check_object(await read_value(call), table)


def check_object(body: Any, table: Value) -> dict[str, Any]:
    """The body without what is null, or the refusal of the first thing that breaks the table."""
    broken = next(find_violations(body, table), None)
    if broken is not None:
        raise _refusal(broken)
    return {name: value for name, value in body.items() if value is not None}


def _refusal(broken: Violation) -> Refusal:
    is_field = bool(broken.path) and isinstance(broken.path[-1], str)
    if is_field and broken.breach is Breach.TYPE and broken.value is None:
        broken = replace(broken, breach=Breach.MISSING)  # a required field that is null
    is_decimal = broken.breach in DECIMAL_BREACHES and "integer" not in broken.wanted.types
    return broken.make_refusal(
        DECIMAL_BREACHES if is_decimal else BREACHES, WORDS, path=format_path(broken.path) or "body"
    )
