"""Pages of a list as official clients walk them; no document says how."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pa.errors import BAD_LIMIT, NO_SUCH_CURSOR, TWO_CURSORS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.mockserver.pa.call import Call

DEFAULT_LIMIT = 20
MAX_LIMIT = 1_000

# int() would accept `1_0`, blanks and the digits of other scripts
INTEGER = re.compile(r"-?[0-9]{1,18}")


def make_page(call: Call, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Make the page of a query; newer clients send the cursor as `page`."""
    query = call.request.query_params
    limit = _read_limit(query.get("limit"))
    after, before = query.get("after_id", query.get("page")), query.get("before_id")
    if after is not None and before is not None:
        raise TWO_CURSORS()
    if before is not None:
        end = _find_position(items, "before_id", before)
        start = max(0, end - limit)
        has_more = start > 0
    else:
        start = _find_position(items, "after_id", after) + 1 if after is not None else 0
        end = start + limit
        has_more = end < len(items)
    page = list(items[start:end])
    last = page[-1]["id"] if page else None
    return {
        "data": page,
        "first_id": page[0]["id"] if page else None,
        "last_id": last,
        "has_more": has_more,
        "next_page": last if has_more and before is None else None,
    }


def _read_limit(text: str | None) -> int:
    if text is None:
        return DEFAULT_LIMIT
    if not INTEGER.fullmatch(text) or not 1 <= int(text) <= MAX_LIMIT:
        raise BAD_LIMIT(most=MAX_LIMIT)
    return int(text)


def _find_position(items: Sequence[dict[str, Any]], name: str, cursor: str) -> int:
    for index, item in enumerate(items):
        if item["id"] == cursor:
            return index
    raise NO_SUCH_CURSOR(name=name)
