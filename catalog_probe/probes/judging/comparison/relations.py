"""Checks the relations of an answer: between its values, to the request, to other answers. Pure.

Without a value at its location, or anything to compare it with, a relation is not observed: an empty list shows
nothing. Only `non_empty` says that a value must be there. A value whose JSON type cannot have the relation breaks it,
also on the way to the location; the text of a header has no type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.reading.expectations import answer_body
from catalog_probe.catalog.reading.relations import Location
from catalog_probe.catalog.text.json_values import ABSENT
from catalog_probe.probes.judging.comparison.locations import find_blocking_value, is_within_empty_list, values_at
from catalog_probe.probes.judging.comparison.relation_checks import CHECKS, Values, remove_volatile

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Json
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.reading.relations import Relation

# Why a relation was not observed. The codes are part of the format of results.
NOTHING_THERE = "nothing-there"  # no value at its location
NOTHING_TO_COMPARE = "nothing-to-compare"  # no value that it could be compared with
NO_OTHER_ANSWER = "no-twin"  # the other answer did not come, or was not as documented

_SHOWN_VALUES = 3  # offending values that a finding lists


class OtherAnswer(NamedTuple):
    """A conforming answer of another step, with what is expected of it."""

    expected: Expected
    exchange: Exchange


# By label. An answer that differs is not among them: a comparison with it would blame the right one.
OtherAnswers = Mapping[str, OtherAnswer]

NO_OTHER_ANSWERS: OtherAnswers = MappingProxyType({})


class BrokenRelation(NamedTuple):
    """A relation that does not hold, and the values that it does not hold for."""

    relation: Relation
    code: FindingCode
    observed: Json
    compared_with: Json = ABSENT
    """The other side, if it is neither a constant nor a whole body."""


def find_broken_relations(
    expected: Expected, exchange: Exchange, other_answers: OtherAnswers
) -> Iterator[BrokenRelation]:
    """Yield each relation of an answer that does not hold."""
    for relation in expected.relations:
        offending = _check(relation, expected, exchange, other_answers)
        if isinstance(offending, str) or not offending:
            continue
        compared_with: Json = ABSENT
        if relation.value is ABSENT and relation.other:
            compared_with = _limit(list(_other_values(relation, expected, exchange, other_answers).values))
        yield BrokenRelation(relation, finding_code(relation), _limit(offending), compared_with)


def relations_not_observed(expected: Expected, exchange: Exchange, other_answers: OtherAnswers) -> dict[str, str]:
    """Return the relations that this answer does not show, by the key of the assertion without its label, and why."""
    reasons = {}
    for relation in expected.relations:
        offending = _check(relation, expected, exchange, other_answers)
        if isinstance(offending, str):
            reasons[relation.local_key] = offending
    return reasons


def finding_code(relation: Relation) -> FindingCode:
    """Return the code of the finding that a relation does not hold."""
    if (relation.kind, relation.at) == ("equals", ""):
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
    "every": FindingCode.VALUE_INVALID,
    "prefix": FindingCode.PREFIX_DIFFERS,
    "pattern": FindingCode.PATTERN_DIFFERS,
    "ordered": FindingCode.ORDER_DIFFERS,
    "non_empty": FindingCode.VALUES_MISSING,
}


def _check(relation: Relation, expected: Expected, exchange: Exchange, other_answers: OtherAnswers) -> list[Json] | str:
    """Return the values that a relation does not hold for, none if it holds; or why it was not observed."""
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
    """Return what a relation is compared with: a constant, or the values of the other answers, or of this one."""
    if relation.value is not ABSENT:
        is_list_of_constants = isinstance(relation.value, list) and relation.kind in (
            "equals",
            "differs",
            "subset",
            "none",
        )
        return Values(relation.value if is_list_of_constants else [relation.value])
    location = Location.parse(relation.other)
    answers = [other_answers[label] for label in relation.of] or [OtherAnswer(expected, exchange)]
    values = [
        value for answer in answers for value in values_at(location, answer.expected, answer.exchange, relation.path)
    ]
    return Values(values, location.is_text)


def _limit(offending: list[Json]) -> Json:
    """Return the only value, or the first few and how many more there are."""
    if len(offending) == 1:
        return offending[0]
    more = len(offending) - _SHOWN_VALUES
    return [*offending[:_SHOWN_VALUES], f"and {more} more"] if more > 0 else offending
