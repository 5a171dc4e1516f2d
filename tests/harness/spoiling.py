"""Spoils a conforming exchange in one asserted aspect at a time, to prove that each check can fail."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from catalog_probe.catalog.model import Aspect, Event, Exchange, Reason, Response
from catalog_probe.catalog.model.assertion import WILDCARD
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.reading.expectations import Expected, answer_body
from catalog_probe.catalog.reading.relations import Location
from catalog_probe.catalog.text.json_values import ABSENT, find_value
from catalog_probe.probes.judging.comparison.locations import is_valid, values_at
from catalog_probe.probes.judging.comparison.relations import finding_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from catalog_probe.catalog.reading.relations import Relation
    from catalog_probe.catalog.reading.response_headers import HeaderRule


SPOILED = "spoiled-by-the-test"


@dataclass(frozen=True)
class SpoiledExchange:
    """An exchange with one mistake, and the aspect under which the judge must find it."""

    what: str
    aspect: Aspect
    exchange: Exchange


def spoil(expected: Expected, exchange: Exchange) -> Iterator[SpoiledExchange]:
    """Yield the exchange with each mistake that its record's assertions must find."""
    if expected.failure is not None:
        yield SpoiledExchange("failure", Aspect.STATE, replace(exchange, failure=Reason(SPOILED), response=None))
        return
    response = exchange.response
    assert response is not None
    for what, aspect, changed in _spoil_response(expected, response):
        yield SpoiledExchange(what, aspect, replace(exchange, response=changed))


SpoiledResponse = tuple[str, Aspect, Response]


def _spoil_response(expected: Expected, response: Response) -> Iterator[SpoiledResponse]:
    if expected.status is not None or expected.status_class is not None:
        yield "status", Aspect.STATUS, replace(response, status=_wrong_status(expected, response))
    for rule in expected.headers:
        yield f"header {rule.name}", Aspect.HEADER, replace(response, headers=_break_header(response.headers, rule))
        if rule.rule == "present":
            emptied = {**response.headers, rule.name: " "}
            yield f"header {rule.name} emptied", Aspect.HEADER, replace(response, headers=emptied)
    for what, headers in spoil_limit_headers(expected.headers, response.headers):
        yield what, Aspect.HEADER, replace(response, headers=headers)
    if expected.stream is not None:
        yield from _spoil_stream(expected, response)
    body = answer_body(expected, response)
    if expected.stream is not None and expected.stream.event is None:
        return
    if expected.envelope.body == "empty":
        yield "a body", Aspect.BODY, replace(response, body=SPOILED, body_type="text")
        return
    if expected.envelope.body == "json" and expected.stream is None:
        yield "not JSON", Aspect.BODY, replace(response, body=SPOILED, body_type="text")
    for what, aspect, changed in _spoil_body(expected, body):
        yield what, aspect, replace_body(expected, response, changed)


def _wrong_status(expected: Expected, response: Response) -> int:
    """Return a success for a class of errors, or for a page, which with an error would be a gateway's; else 418."""
    is_page = isinstance(response.body, str) and response.body.startswith("<")
    return 218 if expected.status_class or is_page else 418


def _spoil_body(expected: Expected, body: Any) -> Iterator[tuple[str, Aspect, Any]]:
    item = "/0" if expected.envelope.unwrap and isinstance(body, list) else ""
    wire = {aspect: item + pointer for aspect, pointer in expected.envelope.wire.items()}
    for aspect in expected.wire:
        yield aspect, Aspect(aspect), set_value(body, wire[aspect], SPOILED)
    if "http_status" in wire and (expected.body_status or 0) >= 400:
        yield "status in the envelope", Aspect.CODE, set_value(body, wire["http_status"], 418)
    if expected.message_pattern is not None:
        yield "message", Aspect.MESSAGE, set_value(body, wire["message"], SPOILED)
    for pointer in expected.assumed_members:
        if find_value(body, item + pointer) is not ABSENT:
            yield f"envelope without assumed {pointer}", Aspect.BODY, remove_value(body, item + pointer)
    for pointer in _required_pointers(expected.envelope.schema, body, ""):
        yield f"envelope without {pointer}", Aspect.BODY, remove_value(body, pointer)
    if "not" in expected.envelope.schema:
        yield "a forbidden body", Aspect.BODY, make_forbidden_body(expected.envelope.schema["not"])
    yield from _spoil_fields(expected, body)


def _spoil_fields(expected: Expected, body: Any) -> Iterator[tuple[str, Aspect, Any]]:
    for pointer, schema in expected.fields.items():
        if schema is False:
            holder = body if isinstance(body, dict | list) else {}  # a text or no body cannot have the field
            yield f"field {pointer} present", Aspect.BODY, set_value(holder, pointer, SPOILED)
        elif schema is not True:
            yield f"field {pointer} absent", Aspect.BODY, remove_value(body, pointer)
            if isinstance(schema, dict) and isinstance(schema.get("const"), str):
                yield (
                    f"field {pointer} renamed",
                    Aspect.BODY,
                    set_value(remove_value(body, pointer), f"{pointer}_", schema["const"]),
                )
            if schema:
                yield f"field {pointer} wrong", Aspect.BODY, set_value(body, pointer, [{"spoiled": SPOILED}])


def _spoil_stream(expected: Expected, response: Response) -> Iterator[SpoiledResponse]:
    rule = expected.stream
    assert rule is not None
    events = response.events or ()
    if rule.protocol == "grpc":
        assert response.grpc is not None
        if rule.grpc_status is not None:
            yield "grpc status", Aspect.STATUS, replace(response, grpc=replace(response.grpc, status=2))
        return
    yield "no stream", Aspect.EVENT, replace(response, events=None)
    for name in {*rule.events, *([rule.event] if rule.event else [])}:
        kept = tuple(event for event in events if event.event != name)
        yield f"event {name} missing", Aspect.EVENT, replace(response, events=kept)
        renamed = tuple(replace(event, event=SPOILED) if event.event == name else event for event in events)
        yield f"event {name} renamed", Aspect.EVENT, replace(response, events=renamed)
    if rule.terminal:
        kept = tuple(event for event in events if event.event != rule.terminal)
        yield "terminal event missing", Aspect.EVENT, replace(response, events=kept)
    if len(rule.events) > 1 or (rule.events and rule.event and rule.event not in rule.events):
        yield "events in another order", Aspect.EVENT, replace(response, events=tuple(reversed(events)))
    yield "malformed stream", Aspect.EVENT, replace(response, ended="malformed")
    received = [event for event in events if not event.sent]
    of_json = expected.envelope.body == "json" or (rule.protocol == "sse" and expected.envelope.body == "any")
    if of_json and received:
        broken = (*events, replace(received[-1], data="not json"))
        yield "malformed event", Aspect.EVENT, replace(response, events=broken)
    if rule.close_code is not None:
        assert response.close is not None
        yield "close code", Aspect.CLOSE, replace(response, close=replace(response.close, code=4999))
    if rule.close_clean:
        assert response.close is not None
        yield "unclean close", Aspect.CLOSE, replace(response, close=replace(response.close, clean=False))
    if rule.close_reason:
        assert response.close is not None
        yield "close without a reason", Aspect.CLOSE, replace(response, close=replace(response.close, reason=""))
    if rule.describes_close:
        yield "no close", Aspect.CLOSE, replace(response, close=None)


LONG_AGO = "2001-01-01T00:00:00Z"
IN_ANOTHER_UNIT = {"integer": "1.5k", "seconds": "1500ms", "rfc3339": "6m0s", "duration": "2026-11-21T00:00:00Z"}
"""For each format, a well-formed value in another unit."""


def spoil_limit_headers(
    rules: Sequence[HeaderRule], headers: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield headers of limits with each mistake other than an absent or malformed header."""
    families: dict[str, dict[str, str]] = {}
    for rule in rules:
        if rule.rule == "format":
            yield f"{rule.name} in another unit", {**headers, rule.name: IN_ANOTHER_UNIT[rule.format]}
        if rule.multiple_of > 1:
            yield f"{rule.name} not rounded", {**headers, rule.name: str(int(headers[rule.name]) - 1)}
        if rule.family and not (rule.optional and rule.name not in headers):
            families.setdefault(rule.family, {})[rule.part] = rule.name
    for family, names in families.items():
        yield f"{family} missing", {name: value for name, value in headers.items() if name not in names.values()}
        above = str(2 * int(headers[names["limit"]]) + 2_000)
        yield f"{family}: more left than there is", {**headers, names["remaining"]: above}
        yield f"{family} in part", {name: value for name, value in headers.items() if name != names["reset"]}


def _break_header(headers: Any, rule: HeaderRule) -> dict[str, str]:
    changed = dict(headers)
    if rule.rule == "present":
        del changed[rule.name]
    else:
        changed[rule.name.replace("*", "-")] = SPOILED
    return changed


def replace_body(expected: Expected, response: Response, body: Any) -> Response:
    """Replace the body, or the data of the event that holds it."""
    if expected.stream is None or expected.stream.event is None:
        return replace(response, body=body)
    name = expected.stream.event
    events = [replace(event, data=body) if event.event == name else event for event in response.events or ()]
    return replace(response, events=tuple(events))


def make_forbidden_body(schema: Any) -> dict[str, Any]:
    """Return the smallest object that matches the `not` of an envelope."""
    inner: dict[str, Any] = schema.get("properties", {})
    return {name: _make_forbidden_value(inner.get(name, {})) for name in schema["required"]}


def _make_forbidden_value(schema: dict[str, Any]) -> Any:
    return make_forbidden_body(schema) if "required" in schema else schema.get("const", SPOILED)


def _required_pointers(schema: Any, body: Any, place: str) -> Iterator[str]:
    """Yield the pointers of all members of this body that the envelope requires."""
    if not isinstance(schema, dict) or not isinstance(body, dict | list):
        return
    for part in schema.get("allOf", ()):
        yield from _required_pointers(part, body, place)
    if isinstance(body, list):
        for index, item in enumerate(body):
            inner = (schema.get("prefixItems") or [])[index : index + 1]
            yield from _required_pointers(inner[0] if inner else schema.get("items"), item, f"{place}/{index}")
        return
    for name in schema.get("required", ()):
        yield f"{place}/{name}"
    for name, inner in schema.get("properties", {}).items():
        yield from _required_pointers(inner, body.get(name), f"{place}/{name}")


def set_value(document: Any, pointer: str, value: Any) -> Any:
    """Return a copy of the document with a value at a pointer; `*` means every item, missing objects are made."""
    changed = copy.deepcopy(document)
    if pointer == "":
        return value
    for parent, name in _parents(changed, pointer[1:].split("/")):
        parent[name] = value
    return changed


def remove_value(document: Any, pointer: str) -> Any:
    """Return a copy of the document without the value at a pointer."""
    changed = copy.deepcopy(document)
    if pointer == "":
        return None
    for parent, name in _parents(changed, pointer[1:].split("/"), make=False):
        if isinstance(parent, dict):
            parent.pop(name, None)
        else:
            parent[name] = None
    assert find_value(changed, pointer) in (ABSENT, None)
    return changed


def _parents(document: Any, names: list[str], *, make: bool = True) -> Iterator[tuple[Any, Any]]:
    name, *rest = names
    keys: list[Any] = [name.replace("~1", "/").replace("~0", "~")]
    if isinstance(document, list):
        keys = list(range(len(document))) if name == "*" else [int(name)] if name.isdigit() else []
    for key in keys:
        if not rest:
            if isinstance(document, dict | list):
                yield document, key
            continue
        if isinstance(document, dict) and key not in document:
            if not make:
                continue
            document[key] = {}
        if isinstance(document, dict | list):
            yield from _parents(document[key], rest, make=make)


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
    if relation.kind == "at_least" and _is_time(other_values[0]):
        return LONG_AGO
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
