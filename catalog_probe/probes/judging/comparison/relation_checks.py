"""The check of each kind of relation: which values of one side do not hold it to the other. Pure.

A check returns the offending values, none if the relation holds, or None if these values cannot show it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.reading import response_headers
from catalog_probe.probes.judging.comparison.validators import is_valid
from catalog_probe.probes.judging.comparison.versions import is_version_of

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

# Fields that differ between two whole bodies that are otherwise the same.
VOLATILE_FIELDS = frozenset({"request_id", "id", "sequence_number"})

MAX_PATTERN_TEXT = 2_000  # characters; a pattern on megabytes of text would never end

_NUMBER = re.compile(r"-?[0-9]{1,300}(\.[0-9]{1,6})?", re.ASCII)


class Values(NamedTuple):
    """The values of one side. `as_text`: each is text whatever it says, as in a header or a query."""

    values: Sequence[Json]
    as_text: bool = False


def remove_volatile(value: Json) -> Json:
    """Return an object or list without the fields that differ from answer to answer."""
    if isinstance(value, dict):
        return {name: remove_volatile(inner) for name, inner in value.items() if name not in VOLATILE_FIELDS}
    return [remove_volatile(item) for item in value] if isinstance(value, list) else value


def _check_equals(left: Values, right: Values) -> list[Json]:
    left_texts, right_texts = _to_texts(left, right)
    return [] if left_texts == right_texts else list(left.values)


def _check_differs(left: Values, right: Values) -> list[Json]:
    left_texts, right_texts = _to_texts(left, right)
    return list(left.values) if left_texts == right_texts else []


def _check_subset(left: Values, right: Values) -> list[Json]:
    left_texts, right_texts = _to_texts(left, right)
    allowed = frozenset(right_texts)
    return [value for value, text in zip(left.values, left_texts, strict=True) if text not in allowed]


def _check_none(left: Values, right: Values) -> list[Json]:
    left_texts, right_texts = _to_texts(left, right)
    forbidden = frozenset(right_texts)
    return [value for value, text in zip(left.values, left_texts, strict=True) if text in forbidden]


def _check_at_most(left: Values, right: Values) -> list[Json] | None:
    return _check_bounds(left, right, lambda size, bound: size > bound)


def _check_at_least(left: Values, right: Values) -> list[Json] | None:
    return _check_bounds(left, right, lambda size, bound: size < bound)


def _check_bounds(left: Values, right: Values, is_out_of_bound: Callable[[float, float], bool]) -> list[Json] | None:
    """Return the values whose size is out of a bound; for a list and an object the size itself."""
    offending: list[Json] = []
    for bound in right.values:
        limit = _read_instant(bound)
        if limit is not None:
            sizes = [_read_instant(value) for value in left.values]
        else:
            limit = _read_number(bound, as_text=right.as_text)
            sizes = [_measure(value, as_text=left.as_text) for value in left.values]
        if limit is None or not any(_has_content(value) for value in left.values):
            return None
        unmeasured = [value for value, size in zip(left.values, sizes, strict=True) if size is None]
        # Null is no value; any other JSON value without a size, or an instant, is of the wrong type.
        if wrong_type := [value for value in unmeasured if not left.as_text and value is not None]:
            return wrong_type
        # A bound that does not apply to one of the values was not observed; it must not pass for the others.
        if unmeasured:
            return None
        for value, size in zip(left.values, sizes, strict=True):
            if size is not None and is_out_of_bound(size, limit):
                offending.append(size if isinstance(value, list | dict) else value)
    return offending


def _check_version(left: Values, right: Values) -> list[Json]:
    return [value for value in left.values if not any(is_version_of(value, name) for name in right.values)]


def _check_schema(left: Values, right: Values) -> list[Json]:
    schema = right.values[0]
    return [value for value in left.values if not is_valid(schema, value)]


def _check_prefix(left: Values, right: Values) -> list[Json]:
    prefix = str(right.values[0])
    return [value for value in left.values if not (isinstance(value, str) and value.startswith(prefix))]


def _check_pattern(left: Values, right: Values) -> list[Json]:
    pattern = re.compile(str(right.values[0]))
    return [value for value in left.values if not (isinstance(value, str) and pattern.search(value[:MAX_PATTERN_TEXT]))]


def _check_order(left: Values, right: Values) -> list[Json] | None:
    """Return the first two neighbours in the wrong order; equal ones may stand either way."""
    keys = _sort_keys(left)
    if keys is None:
        is_wrong_type = len(left.values) > 1 and all(value is not None for value in left.values)
        return list(left.values) if is_wrong_type else None
    if len(keys) < 2:
        return None
    is_descending = right.values[0] == "descending"
    for index in range(1, len(keys)):
        earlier, later = keys[index - 1], keys[index]
        is_wrong = earlier < later if is_descending else earlier > later
        if is_wrong:
            return [left.values[index - 1], left.values[index]]
    return []


def _check_non_empty(left: Values, _right: Values) -> list[Json]:
    if any(_has_content(value) for value in left.values):
        return []
    return list(left.values) or ["absent"]


CHECKS: Mapping[str, Callable[[Values, Values], list[Json] | None]] = {
    "equals": _check_equals,
    "differs": _check_differs,
    "subset": _check_subset,
    "none": _check_none,
    "at_most": _check_at_most,
    "at_least": _check_at_least,
    "version_of": _check_version,
    "every": _check_schema,
    "prefix": _check_prefix,
    "pattern": _check_pattern,
    "ordered": _check_order,
    "non_empty": _check_non_empty,
}


def _to_texts(left: Values, right: Values) -> tuple[list[str], list[str]]:
    """Return a text for each value, the same for equal values; what is text on one side is compared as text."""
    as_text = left.as_text or right.as_text
    left_texts = [_to_text(value, as_text=as_text) for value in left.values]
    right_texts = [_to_text(value, as_text=as_text) for value in right.values]
    return left_texts, right_texts


def _to_text(value: Json, *, as_text: bool) -> str:
    if as_text and isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _sort_keys(side: Values) -> list[tuple[float, str]] | None:
    """Return what the values are ordered by: instants, else numbers, else texts; None if they are of several kinds."""
    instants = [_read_instant(value) for value in side.values]
    numbers = [_read_number(value, as_text=side.as_text) for value in side.values]
    for sizes in (instants, numbers):
        if None not in sizes:
            return [(size, "") for size in sizes if size is not None]
    texts = [value for value in side.values if isinstance(value, str)]
    return [(0, text) for text in texts] if len(texts) == len(side.values) else None


def _read_instant(value: Json) -> float | None:
    """Read an RFC 3339 instant, in seconds since the epoch."""
    instant = response_headers.parse_instant(value) if isinstance(value, str) else None
    return instant.timestamp() if instant is not None else None


def _read_number(value: Json, *, as_text: bool) -> float | None:
    if as_text and isinstance(value, str):
        return (float(value) if "." in value else int(value)) if _NUMBER.fullmatch(value) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _measure(value: Json, *, as_text: bool) -> float | None:
    """Return a number itself, the items of a list, or the bytes of a text or of an object's JSON.

    A header's text that is no number has no size.
    """
    number = _read_number(value, as_text=as_text)
    if number is not None or (as_text and isinstance(value, str)):
        return number
    if isinstance(value, list):
        return len(value)
    if isinstance(value, dict):
        return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode(errors="replace"))
    return len(value.encode(errors="replace")) if isinstance(value, str) else None


def _has_content(value: Json) -> bool:
    return value not in (None, "", [], {})
