"""Query parameters of the compliance API, as the rows of its endpoints name them; others are refused (1:2.5)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pa.compliance.errors import BAD_PARAMETER, UNKNOWN_PARAMETER
from catalog_probe.mockserver.pa.paging import INTEGER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from catalog_probe.mockserver.pa.call import Call

UNLIMITED = -1
"""The value of a cap in bytes that lifts it."""


_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?P<offset>Z|[+-]\d\d:\d\d)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Parameter:
    """A query parameter. `read` raises ValueError with the constraint that failed; an array is written `name[]`."""

    name: str
    read: Callable[[str], Any]

    @property
    def is_array(self) -> bool:
        return self.name.endswith("[]")


def instant(text: str) -> float:
    """An RFC 3339 timestamp with explicit UTC offset, as seconds."""
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
    """The page size, at most `maximum` on this endpoint."""

    def read(text: str) -> int:
        number = _integer(text)
        if not 1 <= number <= maximum:
            raise ValueError(f"must be between 1 and {maximum}")
        return number

    return Parameter("limit", read)


def cap(name: str) -> Parameter:
    """A cap in bytes: a positive integer, or -1 for none."""

    def read(text: str) -> int:
        number = _integer(text)
        if number != UNLIMITED and number <= 0:
            raise ValueError("must be a positive integer or -1")
        return number

    return Parameter(name, read)


def one_of(name: str, options: Collection[str]) -> Parameter:
    """A parameter, or an array of them, from an enumerated set."""

    def read(text: str) -> str:
        if text not in options:
            raise ValueError(f"must be one of {', '.join(sorted(options))}")
        return text

    return Parameter(name, read)


def text(name: str) -> Parameter:
    """Any text: an id, or a cursor that is checked when it is used."""
    return Parameter(name, str)


SINCE, UNTIL = "created_at.gte", "created_at.lt"
CREATED = (Parameter(SINCE, instant), Parameter(UNTIL, instant))
AFTER_ID, BEFORE_ID, PAGE = text("after_id"), text("before_id"), text("page")


def read_query(call: Call, *parameters: Parameter) -> Mapping[str, Any]:
    """The values given, by parameter name; arrays as tuples. Refuses what this endpoint does not know (2:7.2)."""
    by_name = {parameter.name: parameter for parameter in parameters}
    given: dict[str, list[str]] = {}
    for name, value in call.request.query_params.multi_items():
        if name not in by_name:
            raise UNKNOWN_PARAMETER(name=name, hint=_hint(name, by_name))
        given.setdefault(name, []).append(value)
    values = {name: _read_value(by_name[name], texts) for name, texts in given.items()}
    if is_no_window(values):
        raise BAD_PARAMETER(name=UNTIL, constraint=f"must be after {SINCE}")
    return values


def is_no_window(values: Mapping[str, Any]) -> bool:
    """Whether a window ends where it begins, or before that."""
    return SINCE in values and UNTIL in values and bool(values[UNTIL] <= values[SINCE])


def created_within(values: Mapping[str, Any], created_at: float) -> bool:
    """Whether a moment is in the window asked for: from gte on, before lt."""
    return bool(values.get(SINCE, created_at) <= created_at < values.get(UNTIL, created_at + 1))


def _read_value(parameter: Parameter, texts: list[str]) -> Any:
    if len(texts) > 1 and not parameter.is_array:
        raise BAD_PARAMETER(name=parameter.name, constraint="must be given once")
    try:
        values = tuple(map(parameter.read, texts))
    except ValueError as error:
        raise BAD_PARAMETER(name=parameter.name, constraint=error) from None
    return values if parameter.is_array else values[0]


def _hint(name: str, names: Collection[str]) -> str:
    if f"{name}[]" in names:
        return f" Arrays are written {name}[]."
    if name.replace("[", ".").rstrip("]") in names:
        return " Ranges use dot notation."
    return ""


def _integer(text: str) -> int:
    if not INTEGER.fullmatch(text):
        raise ValueError("must be an integer")
    return int(text)
