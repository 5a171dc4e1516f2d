"""Reads PD's bodies: content type (415), JSON (400), types of the fields (422), the rest of their rows (400)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.bodies import MB, BodyRules, read_json
from catalog_probe.mockserver.core.fields import Breach, find_violations, format_path, json_type
from catalog_probe.mockserver.pd.errors import BREACHES, TOO_LARGE, UNREADABLE, UNSUPPORTED_MEDIA_TYPE
from catalog_probe.mockserver.pd.fields import FOUND, WANTED
from catalog_probe.mockserver.pd.positions import end_of, line_and_column

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
    """The body as an object that keeps to its table, without what is null."""
    text, body = await read_json(call.request, RULES)
    return check_object(body, table, text)


def check_object(body: Any, table: Value, text: str) -> dict[str, Any]:
    """The body without what is null, or the refusal of what breaks the table; a wrong type comes before all else."""
    broken = min(find_violations(body, table), key=lambda violation: violation.breach is not Breach.TYPE, default=None)
    if broken is not None:
        raise _refusal(broken, text)
    return {name: value for name, value in body.items() if value is not None}


def _refusal(broken: Violation, text: str) -> Refusal:
    line, column = line_and_column(text, end_of(text, broken.path))
    return broken.make_refusal(
        BREACHES,
        WANTED,
        field=f"{format_path(broken.path)}: " if broken.path else "",
        found=f"{FOUND[json_type(broken.value)]} `{json.dumps(broken.value)[:40]}`",
        line=line,
        column=column,
    )
