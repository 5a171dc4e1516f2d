"""Query parameters and pages of the compliance API (1:2.5, 2:8.1)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from catalog_probe.mockserver.pa.call import INTEGER
from catalog_probe.mockserver.pa.compliance.errors import (
    BAD_PARAMETER,
    EXPIRED_CURSOR,
    FOREIGN_CURSOR,
    UNKNOWN_PARAMETER,
)

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.call import Call


UNLIMITED = -1  # lifts a cap in bytes

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?P<offset>Z|[+-]\d\d:\d\d)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Parameter:
    """A query parameter, an array if its name ends with `[]`.

    Args:
        read: parses a value; raises ValueError with the constraint that failed.
    """

    name: str
    read: Callable[[str], Any] = str

    @property
    def is_array(self) -> bool:
        return self.name.endswith("[]")


def instant(text: str) -> float:
    """Return the seconds of an RFC 3339 timestamp with explicit UTC offset."""
    match = _RFC3339.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        raise ValueError("must be a valid RFC 3339 datetime") from None
    if not match["offset"]:
        raise ValueError("must have an explicit UTC offset")
    return moment.timestamp()


def limit(maximum: int) -> Parameter:
    """Declare the page size, at most `maximum` on this endpoint."""

    def read(text: str) -> int:
        number = _read_integer(text)
        if not 1 <= number <= maximum:
            raise ValueError(f"must be between 1 and {maximum}")
        return number

    return Parameter("limit", read)


def cap(name: str) -> Parameter:
    """Declare a cap in bytes: a positive integer, or -1 for none."""

    def read(text: str) -> int:
        number = _read_integer(text)
        if number != UNLIMITED and number <= 0:
            raise ValueError("must be a positive integer or -1")
        return number

    return Parameter(name, read)


def read_order(text: str) -> str:
    """Return the order of a list; how it is asked for is not shown."""
    if text not in ("asc", "desc"):
        raise ValueError("must be one of asc, desc")
    return text


SINCE, UNTIL = "created_at.gte", "created_at.lt"
CREATED = (Parameter(SINCE, instant), Parameter(UNTIL, instant))
AFTER_ID, BEFORE_ID, PAGE = Parameter("after_id"), Parameter("before_id"), Parameter("page")
ORDER = Parameter("order", read_order)


def read_query(call: Call, *parameters: Parameter) -> Mapping[str, Any]:
    """Return the values by name, arrays as tuples; refuse unknown ones (2:7.2)."""
    by_name = {parameter.name: parameter for parameter in parameters}
    texts_by_name: dict[str, list[str]] = {}
    for name, text in call.request.query_params.multi_items():
        if name not in by_name:
            raise UNKNOWN_PARAMETER(name=name, hint=_make_hint(name, by_name))
        texts_by_name.setdefault(name, []).append(text)
    values = {name: _read_value(by_name[name], texts) for name, texts in texts_by_name.items()}
    if is_empty_window(values):
        raise BAD_PARAMETER(name=UNTIL, constraint=f"must be after {SINCE}")
    return values


def is_empty_window(values: Mapping[str, Any]) -> bool:
    """Whether a window ends where it begins, or before that."""
    return SINCE in values and UNTIL in values and bool(values[UNTIL] <= values[SINCE])


def is_created_within(values: Mapping[str, Any], created_at: float) -> bool:
    """Whether a moment is in the window of a query: from gte on, before lt."""
    return bool(values.get(SINCE, created_at) <= created_at < values.get(UNTIL, created_at + 1))


def _read_value(parameter: Parameter, texts: list[str]) -> Any:
    if len(texts) > 1 and not parameter.is_array:
        raise BAD_PARAMETER(name=parameter.name, constraint="must be given once")
    try:
        values = tuple(map(parameter.read, texts))
    except ValueError as error:
        raise BAD_PARAMETER(name=parameter.name, constraint=error) from None
    return values if parameter.is_array else values[0]


def _make_hint(name: str, names: Collection[str]) -> str:
    if f"{name}[]" in names:
        return f" Arrays are written {name}[]."
    if name.replace("[", ".").rstrip("]") in names:
        return " Ranges use dot notation."
    return ""


def _read_integer(text: str) -> int:
    if not INTEGER.fullmatch(text):
        raise ValueError("must be an integer")
    return int(text)


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
