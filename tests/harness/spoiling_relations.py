"""Breaks each relation of a conforming exchange in turn, to prove that each relation check can fail."""

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
LARGE_NUMBER = 10**9
"""Out of order beside any other number of a list; an equal one would be in order."""


def spoil_relations(
    expected: Expected, exchange: Exchange, others: Mapping[str, Exchange]
) -> Iterator[SpoiledExchange]:
    """Yield an exchange for each relation that this exchange shows, with the relation broken."""
    for relation in expected.relations:
        location = Location.parse(relation.at)
        values = values_at(location, expected, exchange, relation.path)
        other_values = _other_values(relation, expected, exchange, others)
        if not values or (not other_values and relation.kind not in ("ordered", "non_empty")):
            continue
        aspect = Aspect.BODY if finding_code(relation) is FindingCode.BODIES_DIFFER else Aspect.RELATION
        if location.kind.startswith("ask/"):
            yield SpoiledExchange(
                f"relation {relation.key_location}", aspect, _spoil_request(exchange, location, values[0])
            )
            continue
        assert exchange.response is not None
        changed = _break_response(relation, location, expected, exchange.response, other_values)
        yield SpoiledExchange(f"relation {relation.key_location}", aspect, replace(exchange, response=changed))


def _spoil_request(exchange: Exchange, location: Location, value: Any) -> Exchange:
    """Replace a value in the path, query or body of the request."""
    request = exchange.request
    if location.kind == "ask/body":
        changed = replace(request, body=set_value(request.body, location.pointer.replace("*", "0"), SPOILED))
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
    location = Location.parse(relation.other)
    return [value for other in exchanges for value in values_at(location, expected, other, relation.path)]


def _break_response(
    relation: Relation, location: Location, expected: Expected, response: Response, other_values: list[Any]
) -> Response:
    if location.kind == "header":
        return replace(
            response, headers={**response.headers, location.name: _wrong_header_value(relation, other_values)}
        )
    if location.kind == "event" and not location.name:
        kept = () if relation.kind == "non_empty" else (response.events or ())
        others = [Event(str(value)) for value in other_values if relation.kind == "none"]
        return replace(response, events=(*(event for event in kept if event.sent or others), *others))
    if location.kind == "event":
        related = next(event for event in response.events or () if _is_at_location(location, event))
        broken = replace(related, data=_break_body(relation, location.pointer, related.data, other_values))
        events = [broken if event is related else event for event in response.events or ()]
        return replace(response, events=tuple(events))
    return replace_body(
        expected, response, _break_body(relation, location.pointer, answer_body(expected, response), other_values)
    )


def _is_at_location(location: Location, event: Event) -> bool:
    """Whether a received event has the name and a value at the pointer of the location."""
    if event.sent or location.name not in (event.event, WILDCARD):
        return False
    return find_value(event.data, location.pointer.replace("*", "0")) is not ABSENT


def _wrong_header_value(relation: Relation, other_values: list[Any]) -> str:
    if relation.kind in ("at_most", "at_least"):
        return str(int(other_values[0]) + (1 if relation.kind == "at_most" else -1))
    if relation.kind in ("differs", "none"):
        return str(other_values[0])
    return " " if relation.kind == "non_empty" else SPOILED


def _break_body(relation: Relation, pointer: str, body: Any, other_values: list[Any]) -> Any:
    """Replace the values at the pointer by others that break the relation."""
    if relation.kind == "non_empty":
        return remove_value(body, pointer.removesuffix("/*"))
    if relation.kind in ("differs", "none"):
        return _set_all_values(body, pointer, other_values)
    first = _find_first_pointer(body, pointer)
    return set_value(body, first, _wrong_value(relation, find_value(body, first), other_values))


def _find_first_pointer(body: Any, pointer: str) -> str:
    """Return the pointer to the first value that a pointer with `*` finds; not every item of a list has one."""
    before, star, after = pointer.partition("/*")
    if not star:
        return pointer
    items = find_value(body, before)
    for index in range(len(items) if isinstance(items, list) else 0):
        item_pointer = _find_first_pointer(body, f"{before}/{index}{after}")
        if find_value(body, item_pointer) is not ABSENT:
            return item_pointer
    return f"{before}/0{after}"


def _set_all_values(body: Any, pointer: str, values: list[Any]) -> Any:
    """Replace a list by copies of its first item, one with each of these values at the pointer."""
    before, star, after = pointer.partition("/*")
    if not star:
        return set_value(body, pointer, values[0]) if pointer else values[0]
    item = find_value(body, f"{before}/0")
    return set_value(body, before, [set_value(item, after, value) if after else value for value in values])


def _wrong_value(relation: Relation, value: Any, other_values: list[Any]) -> Any:
    match relation.kind:
        case "every":
            forbidden = [make_forbidden_body(other_values[0]["not"])] if "not" in other_values[0] else []
            candidates: tuple[Any, ...] = (*forbidden, SPOILED, {"spoiled": SPOILED}, None, -(10**9), [], [SPOILED])
            return next(candidate for candidate in candidates if not is_valid(other_values[0], candidate))
        case "at_most":
            return _larger_value(value, other_values[0])
        case "at_least":
            return _smaller_value(value, other_values[0])
        case "ordered":
            if isinstance(value, int):
                return -LARGE_NUMBER if relation.value == "descending" else LARGE_NUMBER
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
