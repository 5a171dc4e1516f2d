"""Pages of the compliance API, by cursors bound to their request (1:2.5, 2:8.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from catalog_probe.mockserver.pa.compliance.errors import BAD_PARAMETER, EXPIRED_CURSOR, FOREIGN_CURSOR

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.call import Call

DEFAULT_LIMIT = 20

SortKey = tuple[float, str]
Redeem = Callable[[str, str], SortKey]
"""Returns the sort key of the entry that a cursor points at, from the parameter's name and the token."""


class Row(NamedTuple):
    """An entry of a list: what it is sorted by, and how it is shown."""

    key: SortKey
    shown: dict[str, Any]


class Cursor(NamedTuple):
    """What a token stands for: its request, its entry, and when it was issued."""

    binding: Hashable
    key: SortKey
    issued_at: float


def page_of_window(
    rows: Sequence[Row], values: Mapping[str, Any], redeem: Redeem, issue: Callable[[Row], str]
) -> dict[str, Any]:
    """Make a page by `after_id` or `before_id`; `rows` come newest first."""
    limit = values.get("limit", DEFAULT_LIMIT)
    after, before = values.get("after_id"), values.get("before_id")
    if after is not None and before is not None:
        raise BAD_PARAMETER(name="after_id", constraint="cannot be combined with before_id")
    if before is not None:
        key = redeem("before_id", before)
        newer = [row for row in rows if row.key > key]
        page, has_more = newer[-limit:], len(newer) > limit
    else:
        older = list(rows)
        if after is not None:
            key = redeem("after_id", after)
            older = [row for row in rows if row.key < key]
        page, has_more = older[:limit], len(older) > limit
    return {
        "data": [row.shown for row in page],
        "has_more": has_more,
        "first_id": issue(page[0]) if page else None,
        "last_id": issue(page[-1]) if page else None,
    }


def page_by_token(
    call: Call,
    rows: Sequence[Row],
    values: Mapping[str, Any],
    binding: Hashable,
    *,
    descending: bool = True,
    lifetime_s: float = math.inf,
) -> dict[str, Any]:
    """Make a page by `page`, whose cursors are bound to `binding` and to the order."""
    limit = values.get("limit", DEFAULT_LIMIT)
    ordered = sorted(rows, key=lambda row: row.key, reverse=descending)
    full_binding = (binding, descending)
    if "page" in values:
        last = redeem_cursor(call, "page", values["page"], full_binding, lifetime_s)
        ordered = [row for row in ordered if (row.key < last if descending else row.key > last)]
    page = ordered[:limit]
    next_page = issue_cursor(call, page[-1], full_binding) if len(ordered) > limit else None
    return {"data": [row.shown for row in page], "next_page": next_page}


def issue_cursor(call: Call, row: Row, binding: Hashable) -> str:
    """Make an opaque cursor that points at `row`."""
    token = call.session.new_id("page_", 32)
    call.session.store(Cursor)[token] = Cursor(binding, row.key, call.now)
    return token


def redeem_cursor(call: Call, name: str, token: str, binding: Hashable, lifetime_s: float = math.inf) -> SortKey:
    """Return the sort key of a cursor, if it is of this request and not expired."""
    cursor = call.session.store(Cursor).get(token)
    if cursor is None or cursor.binding != binding:
        raise FOREIGN_CURSOR(name=name)
    if call.now - cursor.issued_at > lifetime_s:
        raise EXPIRED_CURSOR(name=name)
    return cursor.key
