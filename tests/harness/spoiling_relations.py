"""Breaks each relation of a clean exchange in turn: the proof that what is stated of values together can fail."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from catalog_probe.catalog.envelopes.location import Location
from catalog_probe.catalog.model import Aspect, Event, Exchange, Response
from catalog_probe.catalog.model.assertion import WILDCARD
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.reading.expected import Expected, answer_body
from catalog_probe.catalog.text.json_pointer import ABSENT, find_value
from catalog_probe.probes.judging.comparison.locations import values_at
from catalog_probe.probes.judging.comparison.relations import finding_code
from catalog_probe.probes.judging.comparison.validators import is_valid
from tests.harness.spoiling import (
    LONG_AGO,
    SPOILED,
    SpoiledExchange,
    make_forbidden_body,
    remove_value,
    replace_body,
    set_value,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.reading.relations import Relation

FAR_AHEAD = "9998-01-01T00:00:00Z"
FAR = 10**9
"""Beyond the numbers beside it: those that are alike are in order."""


def spoil_relations(
    expected: Expected, exchange: Exchange, others: Mapping[str, Exchange]
) -> Iterator[SpoiledExchange]:
    """For each relation that this exchange shows, an exchange in which it is broken."""
    for relation in expected.relations:
        place = Location.parse(relation.at)
        ours = values_at(place, expected, exchange, relation.path)
        theirs = _other_values(relation, expected, exchange, others)
        if not ours or (not theirs and relation.kind not in ("ordered", "non_empty")):
            continue
        aspect = Aspect.BODY if finding_code(relation) is FindingCode.BODIES_DIFFER else Aspect.RELATION
        if place.kind.startswith("ask/"):
            yield SpoiledExchange(f"relation {relation.key_location}", aspect, _spoil_request(exchange, place, ours[0]))
            continue
        assert exchange.response is not None
        changed = _break_response(relation, place, expected, exchange.response, theirs)
        yield SpoiledExchange(f"relation {relation.key_location}", aspect, replace(exchange, response=changed))


def _spoil_request(exchange: Exchange, place: Location, value: Any) -> Exchange:
    """The exchange as if it had asked for another thing: in its path, its query or its body."""
    request = exchange.request
    if place.kind == "ask/body":
        changed = replace(request, body=set_value(request.body, place.pointer.replace("*", "0"), SPOILED))
    else:
        changed = replace(request, url=request.url.replace(quote(str(value)), SPOILED))
    return replace(exchange, request=changed)


def _other_values(
    relation: Relation, expected: Expected, exchange: Exchange, others: Mapping[str, Exchange]
) -> list[Any]:
    if relation.kind == "non_empty":
        return []
    if relation.value is not ABSENT:
        return relation.value if isinstance(relation.value, list) else [relation.value]
    exchanges = [others[label] for label in relation.of if label in others] if relation.of else [exchange]
    place = Location.parse(relation.other)
    return [value for each in exchanges for value in values_at(place, expected, each, relation.path)]


def _break_response(
    relation: Relation, place: Location, expected: Expected, response: Response, theirs: list[Any]
) -> Response:
    if place.kind == "header":
        return replace(response, headers={**response.headers, place.name: _wrong_header_value(relation, theirs)})
    if place.kind == "event" and not place.name:
        kept = () if relation.kind == "non_empty" else (response.events or ())
        others = [Event(str(value)) for value in theirs if relation.kind == "none"]
        return replace(response, events=(*(each for each in kept if each.sent or others), *others))
    if place.kind == "event":
        named = next(each for each in response.events or () if _is_at_location(place, each))
        changed = replace(named, data=_break_body(relation, place.pointer, named.data, theirs))
        events = [changed if each is named else each for each in response.events or ()]
        return replace(response, events=tuple(events))
    return replace_body(
        expected, response, _break_body(relation, place.pointer, answer_body(expected, response), theirs)
    )


def _is_at_location(place: Location, event: Event) -> bool:
    """Whether an event that was received is one of those meant, and has something at the pointer."""
    if event.sent or place.name not in (event.event, WILDCARD):
        return False
    return find_value(event.data, place.pointer.replace("*", "0")) is not ABSENT


def _wrong_header_value(relation: Relation, theirs: list[Any]) -> str:
    if relation.kind in ("at_most", "at_least"):
        return str(int(theirs[0]) + (1 if relation.kind == "at_most" else -1))
    if relation.kind in ("differs", "none"):
        return str(theirs[0])
    return " " if relation.kind == "non_empty" else SPOILED


def _break_body(relation: Relation, pointer: str, body: Any, theirs: list[Any]) -> Any:
    """The body with other values at the pointer, for which the relation does not hold."""
    if relation.kind == "non_empty":
        return remove_value(body, pointer.removesuffix("/*"))
    if relation.kind in ("differs", "none"):
        return _set_all_values(body, pointer, theirs)
    first = _find_first_pointer(body, pointer)
    return set_value(body, first, _wrong_value(relation, find_value(body, first), theirs))


def _find_first_pointer(body: Any, pointer: str) -> str:
    """The pointer to the first value of those meant: not each item of a list has one."""
    before, star, after = pointer.partition("/*")
    if not star:
        return pointer
    items = find_value(body, before)
    each = (f"{before}/{index}{after}" for index in range(len(items) if isinstance(items, list) else 0))
    return next(
        (found for one in each if find_value(body, found := _find_first_pointer(body, one)) is not ABSENT),
        f"{before}/0{after}",
    )


def _set_all_values(body: Any, pointer: str, values: list[Any]) -> Any:
    """The body with these values at the pointer, of whose list each item is the first one but for its value."""
    before, star, after = pointer.partition("/*")
    if not star:
        return set_value(body, pointer, values[0]) if pointer else values[0]
    item = find_value(body, f"{before}/0")
    return set_value(body, before, [set_value(item, after, value) if after else value for value in values])


def _wrong_value(relation: Relation, value: Any, theirs: list[Any]) -> Any:
    match relation.kind:
        case "every":
            forbidden = [make_forbidden_body(theirs[0]["not"])] if "not" in theirs[0] else []
            candidates: tuple[Any, ...] = (*forbidden, SPOILED, {"spoiled": SPOILED}, None, -(10**9), [], [SPOILED])
            return next(each for each in candidates if not is_valid(theirs[0], each))
        case "at_most":
            return _larger_value(value, theirs[0])
        case "at_least":
            return _smaller_value(value, theirs[0])
        case "ordered":
            if isinstance(value, int):
                return -FAR if relation.value == "descending" else FAR
            return _smaller_value(value, value) if relation.value == "descending" else _larger_value(value, value)
        case _:
            return {"spoiled": SPOILED} if relation.at == "" else SPOILED


def _larger_value(value: Any, bound: Any) -> Any:
    if _is_time(value):
        return FAR_AHEAD
    if isinstance(bound, str) and not bound.isdigit():
        return f"{bound}~"
    limit = int(bound)
    if isinstance(value, list):
        return [*value, *[value[0] if value else SPOILED] * (limit + 1)]
    return "x" * (limit + 1) if isinstance(value, str) else {"x": "x" * limit} if isinstance(value, dict) else limit + 1


def _smaller_value(value: Any, bound: Any) -> Any:
    if _is_time(value):
        return LONG_AGO
    return [] if isinstance(value, list) else "" if isinstance(value, str) else int(bound) - 1


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and value[4:5] == "-" and "T" in value
