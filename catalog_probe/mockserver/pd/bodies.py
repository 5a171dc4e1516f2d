"""PD's request bodies: content type (415), field types (422), else 400."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.bodies import MB, BodyRules, read_json
from catalog_probe.mockserver.core.fields import Breach, find_violations, format_path, json_type
from catalog_probe.mockserver.pd.errors import BREACHES, TOO_LARGE, UNREADABLE, UNSUPPORTED_MEDIA_TYPE
from catalog_probe.mockserver.pd.fields import ACTUAL_TYPES, EXPECTED_TYPES
from catalog_probe.mockserver.pd.positions import find_end, line_and_column

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.calls import Call
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.fields import Value, Violation

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
