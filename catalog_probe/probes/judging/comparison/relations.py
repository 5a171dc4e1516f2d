"""Relations: between values of an answer, its request and other answers. Pure.

A relation has a left side, the values at its location, and a right side, what they are compared with: a constant, the
values at another location, or values of other answers. Example: `data` has at most as many items as the query's
`limit`.

A relation is broken, holds, or is not observed:

- *Broken*: some values of the left side do not have the relation. A value of the wrong JSON type breaks it too, also on
  the way to the location. The text of a header has no type.
- *Not observed*: one side has no value. An empty list shows nothing. Only `non_empty` says that a value must be there.

The documents show no alias of a model. By custom a name without a date is served by its newest dated version, and a
name that ends in `-latest` by the newest version of its family. `version_of` accepts these two customs and no others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.reading import response_headers
from catalog_probe.catalog.reading.expectations import answer_body
from catalog_probe.catalog.reading.relations import Location
from catalog_probe.catalog.text.json_values import ABSENT
from catalog_probe.probes.judging.comparison.locations import (
    find_blocking_value,
    is_somewhere_in,
    is_valid,
    is_within_empty_list,
    values_at,
)

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Json
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.reading.relations import Relation


LATEST = "-latest"

# What a dated version adds: a day (`2024-07-18`, `20251001`, `0613`), a month (`09-2025`) or a revision (`002`).
_DATE_SUFFIX = re.compile(r"[-@](?:\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{2}-\d{4}|\d{3,4}|\d{6}|\d{8})", re.ASCII)

# A word of a name that says which version it is, and nothing of the family.
_VERSION_WORD = re.compile(r"\d+(?:\.\d+)*|preview|exp|experimental", re.ASCII)


def is_version_of(served: Json, requested: Json) -> bool:
    """Whether the served name is the requested name or a version of it. Both must be texts.

    Examples: `haiku-1-20251001` is a version of `haiku-1`; `models/x` is `x` in its collection. A name with a date has
    no other version.
    """
    if not (isinstance(served, str) and isinstance(requested, str)):
        return False
    served_name, requested_name = _remove_collection(served), _remove_collection(requested)
    if served_name == requested_name:
        return True
    if requested_name.endswith(LATEST):
        return _is_in_family(served_name, requested_name.removesuffix(LATEST))
    if not served_name.startswith(requested_name):
        return False
    return _DATE_SUFFIX.fullmatch(served_name[len(requested_name) :]) is not None


def _remove_collection(name: str) -> str:
    return name.rpartition("/")[2]


def _is_in_family(name: str, family: str) -> bool:
    """Whether a name has the words of a family in their order, and besides them only words of a version.

    Example: `flash-2.5-preview-09-2025` is in the family `flash`; `flash-lite-2.5` is not, since `lite` is no version.
    """
    missing_words = family.split("-")
    other_words = []
    for word in name.split("-"):
        if missing_words and word == missing_words[0]:
            missing_words.pop(0)
        else:
            other_words.append(word)
    return not missing_words and all(_VERSION_WORD.fullmatch(word) for word in other_words)


# Fields that differ between two whole bodies that are otherwise the same.
VOLATILE_FIELDS = frozenset({"request_id", "id", "sequence_number"})

MAX_PATTERN_TEXT = 2_000  # characters; a pattern on megabytes of text would never end

_NUMBER = re.compile(r"-?[0-9]{1,300}(\.[0-9]{1,6})?", re.ASCII)


class Values(NamedTuple):
    """The values of one side of a relation. With `as_text` each is text, even `"7"`, as in a header or a query."""

    values: Sequence[Json]
    as_text: bool = False


def remove_volatile(value: Json) -> Json:
    """Return a value without the fields that differ from answer to answer: `{"id": "a", "n": 1}` -> `{"n": 1}`."""
    if isinstance(value, dict):
        return {name: remove_volatile(inner) for name, inner in value.items() if name not in VOLATILE_FIELDS}
    return [remove_volatile(item) for item in value] if isinstance(value, list) else value


# A check returns the values of the left side that break the relation, e.g. `[101]` for "at most 100". The list is empty
# if the relation holds. None means that these values cannot show it.
Check = Callable[["Values", "Values"], "list[Json] | None"]


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
    """Return the values whose size is out of a bound; of a list or an object, the size itself.

    Examples of "at most 2": 3 -> `[3]`; `["a", "b", "c"]` -> `[3]`; the text "abc" -> `["abc"]`.
    """
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
        # If the bound does not apply to one of the values, it was not observed, whatever the other values are.
        if unmeasured:
            return None
        for value, size in zip(left.values, sizes, strict=True):
            if size is not None and is_out_of_bound(size, limit):
                offending.append(size if isinstance(value, list | dict) else value)
    return offending


def _check_version(left: Values, right: Values) -> list[Json]:
    return [value for value in left.values if not any(is_version_of(value, name) for name in right.values)]


def _check_contains(left: Values, right: Values) -> list[Json] | None:
    """Return `["absent"]` if a wanted text is nowhere in the values: `req_2` in `{"error": {"id": "req_1"}}`."""
    texts = [value for value in right.values if isinstance(value, str) and value.strip()]
    is_foreign = not any(isinstance(value, dict | list) for value in left.values)  # a page of a gateway, or nothing
    if not texts or is_foreign:
        return None
    return [] if all(is_somewhere_in(left.values, text) for text in texts) else ["absent"]


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
    """Return the first two neighbours in the wrong order: ascending 1, 3, 2 -> `[3, 2]`. Equal neighbours are right."""
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


# Kind of a relation, `is` in the record -> its check.
CHECKS: Mapping[str, Check] = {
    "equals": _check_equals,
    "differs": _check_differs,
    "subset": _check_subset,
    "none": _check_none,
    "at_most": _check_at_most,
    "at_least": _check_at_least,
    "version_of": _check_version,
    "contains": _check_contains,
    "every": _check_schema,
    "prefix": _check_prefix,
    "pattern": _check_pattern,
    "ordered": _check_order,
    "non_empty": _check_non_empty,
}


def _to_texts(left: Values, right: Values) -> tuple[list[str], list[str]]:
    """Return a text for each value, the same text for equal values. If one side is text, both are compared as text.

    Example: the header value `"7"` and the number 7 -> `"7"` and `"7"`.
    """
    as_text = left.as_text or right.as_text
    left_texts = [_to_text(value, as_text=as_text) for value in left.values]
    right_texts = [_to_text(value, as_text=as_text) for value in right.values]
    return left_texts, right_texts


def _to_text(value: Json, *, as_text: bool) -> str:
    if as_text and isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _sort_keys(side: Values) -> list[tuple[float, str]] | None:
    """Return the keys by which the values are ordered; None if the values are of several kinds.

    All are instants, or all are numbers, or all are texts: `["2026-01-01T00:00:00Z"]` -> `[(1767225600.0, "")]`.
    """
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
    """Return the size of a value: a number itself, the items of a list, the bytes of a text or of an object's JSON.

    Examples: 7 -> 7; `["a", "b"]` -> 2; `"abc"` -> 3. A header's text that is no number has no size: None.
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


# Why a relation was not observed. The texts are part of the format of results.
NOTHING_THERE = "nothing-there"  # no value at its location
NOTHING_TO_COMPARE = "nothing-to-compare"  # no value that it could be compared with
NO_OTHER_ANSWER = "no-twin"  # the other answer did not come, or was not as documented

_SHOWN_VALUES = 3  # offending values that a finding lists


class OtherAnswer(NamedTuple):
    """A conforming answer of another step, with what is expected of it."""

    expected: Expected
    exchange: Exchange


# Label -> the answer. Only conforming answers: a comparison with an answer that differs would blame the right one.
OtherAnswers = Mapping[str, OtherAnswer]

NO_OTHER_ANSWERS: OtherAnswers = MappingProxyType({})


class BrokenRelation(NamedTuple):
    """A relation that does not hold, and the values that break it."""

    relation: Relation
    code: FindingCode
    observed: Json
    compared_with: Json = ABSENT
    """The values of the right side, or ABSENT if it is a constant or a whole body."""


def find_broken_relations(
    expected: Expected, exchange: Exchange, other_answers: OtherAnswers
) -> Iterator[BrokenRelation]:
    """Yield each relation of an answer that does not hold, e.g. 101 items for the query `limit=100`."""
    for relation in expected.relations:
        offending = _check(relation, expected, exchange, other_answers)
        if isinstance(offending, str) or not offending:
            continue
        compared_with: Json = ABSENT
        if relation.value is ABSENT and relation.other:
            compared_with = _shorten_list(list(_other_values(relation, expected, exchange, other_answers).values))
        yield BrokenRelation(relation, finding_code(relation), _shorten_list(offending), compared_with)


def relations_not_observed(expected: Expected, exchange: Exchange, other_answers: OtherAnswers) -> dict[str, str]:
    """Return the relations that this answer does not show: local key of the assertion -> why.

    Example: `{"relation:ordered:/data/*/created": "nothing-there"}` for an empty list.
    """
    reasons = {}
    for relation in expected.relations:
        offending = _check(relation, expected, exchange, other_answers)
        if isinstance(offending, str):
            reasons[relation.local_key] = offending
    return reasons


def finding_code(relation: Relation) -> FindingCode:
    """Return the code of the finding that a relation does not hold."""
    if (relation.kind, relation.at) == ("equals", ""):  # no location is the whole body
        return FindingCode.BODIES_DIFFER
    return _FINDING_CODES[relation.kind]


_FINDING_CODES: Mapping[str, FindingCode] = {
    "equals": FindingCode.VALUES_UNEQUAL,
    "differs": FindingCode.VALUES_REPEATED,
    "subset": FindingCode.VALUES_BEYOND,
    "none": FindingCode.VALUES_REMAIN,
    "at_most": FindingCode.BOUND_EXCEEDED,
    "at_least": FindingCode.BOUND_UNDERCUT,
    "version_of": FindingCode.VERSION_DIFFERS,
    "contains": FindingCode.VALUE_NOWHERE,
    "every": FindingCode.VALUE_INVALID,
    "prefix": FindingCode.PREFIX_DIFFERS,
    "pattern": FindingCode.PATTERN_DIFFERS,
    "ordered": FindingCode.ORDER_DIFFERS,
    "non_empty": FindingCode.VALUES_MISSING,
}


def _check(relation: Relation, expected: Expected, exchange: Exchange, other_answers: OtherAnswers) -> list[Json] | str:
    """Return the values that break a relation, an empty list if it holds; or the text why it was not observed."""
    location = Location.parse(relation.at)
    values = Values(values_at(location, expected, exchange, relation.path), location.is_text)
    # An empty list keeps every relation, and shows none of them.
    if not values.values and (relation.kind != "non_empty" or _is_within_empty_list(relation, expected, exchange)):
        response = exchange.response
        blocking = find_blocking_value(location, expected, response) if response is not None else ABSENT
        return NOTHING_THERE if blocking is ABSENT else [blocking]
    if any(label not in other_answers for label in relation.of):
        return NO_OTHER_ANSWER
    others = _other_values(relation, expected, exchange, other_answers)
    if not others.values and relation.kind != "non_empty":
        return NOTHING_TO_COMPARE
    # Whole bodies are compared without ids and times: no two answers are the same to the letter.
    if finding_code(relation) is FindingCode.BODIES_DIFFER or (relation.kind, relation.at) == ("differs", ""):
        values = values._replace(values=[remove_volatile(value) for value in values.values])
        others = others._replace(values=[remove_volatile(value) for value in others.values])
    offending = CHECKS[relation.kind](values, others)
    return NOTHING_TO_COMPARE if offending is None else offending


def _is_within_empty_list(relation: Relation, expected: Expected, exchange: Exchange) -> bool:
    if exchange.response is None:
        return False
    body = answer_body(expected, exchange.response)
    return is_within_empty_list(expected, body, relation.local_key, relation.at)


def _other_values(relation: Relation, expected: Expected, exchange: Exchange, other_answers: OtherAnswers) -> Values:
    """Return the right side of a relation: a constant, the values of other answers, or other values of this answer."""
    if relation.value is not ABSENT:
        is_list_of_constants = isinstance(relation.value, list) and relation.kind in (
            "equals",
            "differs",
            "subset",
            "none",
            "contains",
        )
        return Values(relation.value if is_list_of_constants else [relation.value])
    location = Location.parse(relation.other)
    answers = [other_answers[label] for label in relation.of] or [OtherAnswer(expected, exchange)]
    values = [
        value for answer in answers for value in values_at(location, answer.expected, answer.exchange, relation.path)
    ]
    return Values(values, location.is_text)


def _shorten_list(offending: list[Json]) -> Json:
    """Return the only value, or the first few and the number of the others: `[1, 2, 3, "and 4 more"]`."""
    if len(offending) == 1:
        return offending[0]
    more = len(offending) - _SHOWN_VALUES
    return [*offending[:_SHOWN_VALUES], f"and {more} more"] if more > 0 else offending
