"""Whether the values of an answer are to each other, to the request and to other answers what a record states. Pure.

Where nothing stands at a relation's place, or nothing to compare it with, it is not seen at all: an empty list verifies
nothing. Only `non_empty` says that something must stand there. A value of a JSON type that the relation cannot hold
for, there or on the way there, breaks it; a header's text has none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.envelopes import formats
from catalog_probe.catalog.envelopes.location import Location
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.reading.expected import answer_body
from catalog_probe.catalog.text.json_pointer import ABSENT
from catalog_probe.probes.judging.comparison.places import find_blocking_value, shows_no_item, values_at
from catalog_probe.probes.judging.comparison.validators import is_valid
from catalog_probe.probes.judging.comparison.versions import is_version_of

if TYPE_CHECKING:
    from datetime import datetime

    from catalog_probe.catalog.model import Exchange, Json
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.reading.relations import Relation

VOLATILE = frozenset({"request_id", "id", "sequence_number"})
"""Fields that differ between two whole bodies that are otherwise alike."""

MAX_TEXT = 2_000
"""A pattern is looked for in so many characters: on megabytes of text it would never end."""

NOTHING_THERE, NOTHING_TO_COMPARE, NO_TWIN = "nothing-there", "nothing-to-compare", "no-twin"
"""Why a relation was not seen: no value, none to compare it with, no answer to compare it with."""

_FEW = 3


class Answer(NamedTuple):
    """An exchange, and what is expected of it."""

    expected: Expected
    exchange: Exchange


Answers = Mapping[str, Answer]
"""By label: the answers that were seen as documented, and so may be compared with."""

NO_OTHERS: Answers = MappingProxyType({})


class Broken(NamedTuple):
    """A relation that does not hold, and the values that it does not hold for."""

    relation: Relation
    code: FindingCode
    observed: Json
    beside: Json = ABSENT
    """What it was compared with, where that is no constant and no whole body."""


class Values(NamedTuple):
    """Values of one place. `as_text`: each is text whatever it says, as in a header or a query."""

    values: Sequence[Json]
    as_text: bool = False


def broken(expected: Expected, exchange: Exchange, others: Answers) -> Iterator[Broken]:
    """Each relation of this answer that does not hold; those with answers that are not among `others` are left out."""
    for relation in expected.relations:
        offending = _offending(relation, expected, exchange, others)
        if not isinstance(offending, str) and offending:
            beside: Json = ABSENT
            if relation.value is ABSENT and relation.other:
                beside = _told(list(_compared_with(relation, expected, exchange, others).values))
            yield Broken(relation, code_of(relation), _told(offending), beside)


def unseen(expected: Expected, exchange: Exchange, others: Answers) -> dict[str, str]:
    """Of each relation that this answer does not show: the key of its assertion without the label, and why."""
    found = ((each, _offending(each, expected, exchange, others)) for each in expected.relations)
    return {relation.within: why for relation, why in found if isinstance(why, str)}


def code_of(relation: Relation) -> FindingCode:
    """The code of the finding that it does not hold."""
    return FindingCode.BODIES_DIFFER if (relation.kind, relation.at) == ("equals", "") else _CODES[relation.kind]


_CODES: Mapping[str, FindingCode] = {
    "equals": FindingCode.VALUES_UNEQUAL,
    "differs": FindingCode.VALUES_REPEATED,
    "subset": FindingCode.VALUES_BEYOND,
    "none": FindingCode.VALUES_REMAIN,
    "at_most": FindingCode.BOUND_EXCEEDED,
    "at_least": FindingCode.BOUND_UNDERCUT,
    "version_of": FindingCode.VERSION_DIFFERS,
    "every": FindingCode.VALUE_INVALID,
    "prefix": FindingCode.PREFIX_DIFFERS,
    "pattern": FindingCode.PATTERN_DIFFERS,
    "ordered": FindingCode.ORDER_DIFFERS,
    "non_empty": FindingCode.VALUES_MISSING,
}


def _offending(relation: Relation, expected: Expected, exchange: Exchange, others: Answers) -> list[Json] | str:
    """The values that it does not hold for, none where it holds; or why that cannot be said."""
    place = Location.parse(relation.at)
    ours = Values(values_at(place, expected, exchange, relation.path), place.is_text)
    # An empty list keeps every relation, and shows none: that no item is wrong is not that one was seen right.
    if not ours.values and (relation.kind != "non_empty" or _is_of_no_item(relation, expected, exchange)):
        response = exchange.response
        blocking = find_blocking_value(place, expected, response) if response is not None else ABSENT
        return NOTHING_THERE if blocking is ABSENT else [blocking]
    if any(label not in others for label in relation.of):
        return NO_TWIN
    theirs = _compared_with(relation, expected, exchange, others)
    if not theirs.values and relation.kind != "non_empty":
        return NOTHING_TO_COMPARE
    # Whole bodies are compared without their ids and times: no two answers are the same to the letter.
    if code_of(relation) is FindingCode.BODIES_DIFFER or (relation.kind, relation.at) == ("differs", ""):
        ours, theirs = (each._replace(values=[steady(value) for value in each.values]) for each in (ours, theirs))
    offending = _KINDS[relation.kind](ours, theirs)
    return NOTHING_TO_COMPARE if offending is None else offending


def _is_of_no_item(relation: Relation, expected: Expected, exchange: Exchange) -> bool:
    response = exchange.response
    return response is not None and shows_no_item(
        expected, answer_body(expected, response), relation.within, relation.at
    )


def _compared_with(relation: Relation, expected: Expected, exchange: Exchange, others: Answers) -> Values:
    if relation.value is not ABSENT:
        several = isinstance(relation.value, list) and relation.kind in ("equals", "differs", "subset", "none")
        return Values(relation.value if several else [relation.value])
    place = Location.parse(relation.other)
    answers = [others[label] for label in relation.of] or [Answer(expected, exchange)]
    found = (value for its in answers for value in values_at(place, its.expected, its.exchange, relation.path))
    return Values(list(found), place.is_text)


def _equal(ours: Values, theirs: Values) -> list[Json]:
    left, right = _named(ours, theirs)
    return [] if left == right else list(ours.values)


def _differing(ours: Values, theirs: Values) -> list[Json]:
    left, right = _named(ours, theirs)
    return list(ours.values) if left == right else []


def _beyond(ours: Values, theirs: Values) -> list[Json]:
    left, right = _named(ours, theirs)
    among = frozenset(right)
    return [value for value, name in zip(ours.values, left, strict=True) if name not in among]


def _remaining(ours: Values, theirs: Values) -> list[Json]:
    left, right = _named(ours, theirs)
    among = frozenset(right)
    return [value for value, name in zip(ours.values, left, strict=True) if name in among]


def _above(ours: Values, theirs: Values) -> list[Json] | None:
    return _out_of_bounds(ours, theirs, lambda size, bound: size > bound)


def _below(ours: Values, theirs: Values) -> list[Json] | None:
    return _out_of_bounds(ours, theirs, lambda size, bound: size < bound)


def _out_of_bounds(ours: Values, theirs: Values, beyond: Callable[[float, float], bool]) -> list[Json] | None:
    """The values whose size is beyond a bound; of a list and of text that size itself. None where one has no size."""
    found: list[Json] = []
    for bound in theirs.values:
        limit = _instant(bound) if isinstance(bound, str) else None
        if limit is not None:
            sizes = [_instant(value) for value in ours.values]
        else:
            limit = _number(bound, as_text=theirs.as_text)
            sizes = [_size(value, as_text=ours.as_text) for value in ours.values]
        if limit is None or not any(_is_something(value) for value in ours.values):
            return None
        unsized = [value for value, size in zip(ours.values, sizes, strict=True) if size is None]
        if wrong := [value for value in unsized if not ours.as_text and _is_of_wrong_type(value)]:
            return wrong
        # A bound that some value has no size for is no bound of these values: said to be unseen, never passed over.
        if unsized:
            return None
        for value, size in zip(ours.values, sizes, strict=True):
            if size is not None and beyond(size, limit):
                found.append(size if isinstance(value, list | dict) else value)
    return found


def _otherwise_named(ours: Values, theirs: Values) -> list[Json]:
    return [value for value in ours.values if not any(is_version_of(value, each) for each in theirs.values)]


def _invalid(ours: Values, theirs: Values) -> list[Json]:
    return [value for value in ours.values if not is_valid(theirs.values[0], value)]


def _without_prefix(ours: Values, theirs: Values) -> list[Json]:
    beginning = str(theirs.values[0])
    return [value for value in ours.values if not (isinstance(value, str) and value.startswith(beginning))]


def _not_matching(ours: Values, theirs: Values) -> list[Json]:
    pattern = str(theirs.values[0])
    return [value for value in ours.values if not (isinstance(value, str) and re.search(pattern, value[:MAX_TEXT]))]


def _out_of_order(ours: Values, theirs: Values) -> list[Json] | None:
    """The first two neighbours that stand the wrong way round; alike ones stand well either way."""
    keys = _comparable(ours)
    if keys is None:
        wrong = len(ours.values) > 1 and all(map(_is_of_wrong_type, ours.values))
        return list(ours.values) if wrong else None
    if len(keys) < 2:
        return None
    descending = theirs.values[0] == "descending"
    for number in range(1, len(keys)):
        earlier, later = keys[number - 1], keys[number]
        if earlier < later if descending else earlier > later:
            return [ours.values[number - 1], ours.values[number]]
    return []


def _nothing(ours: Values, _theirs: Values) -> list[Json]:
    return [] if any(_is_something(value) for value in ours.values) else [*ours.values] or ["absent"]


_KINDS: Mapping[str, Callable[[Values, Values], list[Json] | None]] = {
    "equals": _equal,
    "differs": _differing,
    "subset": _beyond,
    "none": _remaining,
    "at_most": _above,
    "at_least": _below,
    "version_of": _otherwise_named,
    "every": _invalid,
    "prefix": _without_prefix,
    "pattern": _not_matching,
    "ordered": _out_of_order,
    "non_empty": _nothing,
}


def _named(ours: Values, theirs: Values) -> tuple[list[str], list[str]]:
    """A text for each value, alike for values that are the same; what is text on one side is compared as text."""
    as_text = ours.as_text or theirs.as_text
    left, right = ([_name(value, as_text=as_text) for value in each.values] for each in (ours, theirs))
    return left, right


def _name(value: Json, *, as_text: bool) -> str:
    if as_text and isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def steady(value: Json) -> Json:
    """An object or a list without the fields that differ from answer to answer."""
    if isinstance(value, dict):
        return {key: steady(inner) for key, inner in value.items() if key not in VOLATILE}
    return [steady(item) for item in value] if isinstance(value, list) else value


def _comparable(ours: Values) -> list[tuple[float, str]] | None:
    """What the values are ordered by: instants in seconds, else numbers, else texts, where all are of one kind."""
    for read in (_instant, lambda value: _number(value, as_text=ours.as_text)):
        numbers = [read(value) for value in ours.values]
        if None not in numbers:
            return [(each, "") for each in numbers if each is not None]
    all_text = [each for each in ours.values if isinstance(each, str)]
    return [(0, each) for each in all_text] if len(all_text) == len(ours.values) else None


def _instant(value: Json) -> float | None:
    """An RFC 3339 instant in seconds since the epoch."""
    found: datetime | None = formats.parse_instant(value) if isinstance(value, str) else None
    return found.timestamp() if found is not None else None


_NUMBER = re.compile(r"-?[0-9]{1,300}(\.[0-9]{1,6})?", re.ASCII)


def _number(value: Json, *, as_text: bool) -> float | None:
    if as_text and isinstance(value, str):
        return (float(value) if "." in value else int(value)) if _NUMBER.fullmatch(value) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _size(value: Json, *, as_text: bool) -> float | None:
    """A number is its own size; a list has so many items, a text so many bytes, an object those of its JSON.

    A value that is text by nature, as a header's is, and says no number has none.
    """
    number = _number(value, as_text=as_text)
    if number is not None or (as_text and isinstance(value, str)):
        return number
    if isinstance(value, list):
        return len(value)
    if isinstance(value, dict):
        return len(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode(errors="replace"))
    return len(value.encode(errors="replace")) if isinstance(value, str) else None


def _is_of_wrong_type(value: Json) -> bool:
    """Whether a value that has no size or order has none by its JSON type; null is no value."""
    return value is not None


def _is_something(value: Json) -> bool:
    return value not in (None, "", [], {})


def _told(offending: list[Json]) -> Json:
    """The value that offends, or the first few of them and how many there are more."""
    if len(offending) == 1:
        return offending[0]
    more = len(offending) - _FEW
    return [*offending[:_FEW], f"and {more} more"] if more > 0 else offending
