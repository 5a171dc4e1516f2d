"""The values at a location of an exchange, and whether they fit a schema. Pure."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from catalog_probe.catalog.envelopes import unwrap
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.reading.expectations import Expected, answer_body
from catalog_probe.catalog.reading.relations import ANY_EVENT, Location
from catalog_probe.catalog.text.json_values import (
    ABSENT,
    find_blocking,
    find_values,
    iterate_strings_with_pointers,
    list_strings_and_names,
    points_into_empty_list,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

    from catalog_probe.catalog.model import Event, Exchange, Json, Response


def validator(schema: Json) -> Validator:
    """Return the 2020-12 validator of a schema."""
    return _compile(json.dumps(schema, sort_keys=True))


def is_valid(schema: Json, value: Json) -> bool:
    """Whether a value follows a schema."""
    return bool(validator(schema).is_valid(value))


def is_somewhere_in(value: Json, text: str) -> bool:
    """Whether a text is in any name or string of a value: `req_1` is in `{"error": {"message": "See req_1."}}`.

    For what the documents say is in an answer, and not where. A text that is there by chance hides that it is missing.
    """
    return any(text in string for string in list_strings_and_names(value))


def nearest_error(error: ValidationError) -> ValidationError:
    """Return how a value differs from the nearest of the forms of a `oneOf`; return any other error unchanged."""
    from jsonschema.exceptions import best_match  # slow to import; a plan validates nothing

    return best_match([error]) or error


@lru_cache(maxsize=2048)
def _compile(schema_text: str) -> Validator:
    from jsonschema import Draft202012Validator  # slow to import; a plan validates nothing

    return Draft202012Validator(json.loads(schema_text))


_ESCAPED_PARAMETER = re.compile(r"\\\{([a-z0-9_]+)\\\}")


def values_at(location: Location, expected: Expected, exchange: Exchange, path: str = "") -> tuple[Json, ...]:
    """Return every value at a location, in order; none if nothing is there, or the answer was not kept whole.

    `path` is the endpoint's: the location `ask/path:id` means the `{id}` of `/v1/models/{id}`. Example: the location
    `/data/*/id` of `{"data": [{"id": "a"}, {"id": "b"}]}` -> `("a", "b")`.
    """
    if location.kind.startswith("ask/"):
        return tuple(_values_in_request(location, exchange, path))
    if exchange.response is None:
        return ()
    return tuple(_values_in_response(location, expected, exchange.response))


def find_blocking_value(location: Location, expected: Expected, response: Response) -> Json:
    """Return the value at which the way to a location ends too early; ABSENT if the way is free.

    Example: the location `/usage/tokens` of `{"usage": 7}` -> 7, which is neither object nor list.
    """
    documents: list[Json] = []
    if location.kind == "event" and location.name:
        documents = [event.data for event in _select_events(location, response, sent=False)]
    elif location.kind == "body" and response.cut is None:
        documents = [unwrap(expected.envelope, answer_body(expected, response))]
    values = (find_blocking(document, location.pointer) for document in documents if document is not ABSENT)
    return next((value for value in values if value is not ABSENT), ABSENT)


def is_within_empty_list(expected: Expected, body: Json, local_key: str, pointer: str) -> bool:
    """Whether an assumed assertion on the items of a list cannot be observed, since the lists are empty.

    An account need not have any items, and without items nothing resolves our assumption. A documented item that is
    missing is a difference all the same. Example: the assumed field `/data/*/id`, and `{"data": []}`.
    """
    assertion = expected.assertions.get(f"{expected.label}/{local_key}")
    is_assumed = assertion is not None and assertion.basis is Basis.ASSUMED
    return is_assumed and points_into_empty_list(unwrap(expected.envelope, body), pointer)


def find_renamed_value(expected: Expected, body: Json, local_key: str, pointer: str) -> Json:
    """Return a documented value with another name under which the body has it, or ABSENT.

    Only for a value that is documented while its location is assumed, and only if the body does not have the assumed
    name anywhere. Example: the documented id `msg_…` is assumed at `/id`, and the body is `{"name": "msg_1"}` ->
    `{"name": "msg_1"}`.
    """
    assertion = expected.assertions.get(f"{expected.label}/{local_key}")
    if assertion is None or not assertion.is_only_location_assumed:
        return ABSENT
    # If the name is anywhere in the body, the value was moved and not renamed.
    assumed_name = pointer.rpartition("/")[2]
    strings = [(place.rpartition("/")[2], text) for place, text in iterate_strings_with_pointers(body)]
    if any(name == assumed_name for name, _ in strings):
        return ABSENT
    for name, text in strings:
        if name != "*" and is_valid(assertion.documented, text):
            return {name: text}
    return ABSENT


def is_nowhere(expected: Expected, response: Response, local_key: str) -> bool:
    """Whether an answer has a documented text nowhere, of which only the location is assumed.

    Example: the error code `max_uses_exceeded` is assumed at `/content/*/content/error_code`, and the answer says
    "This did not work." An answer that was not kept whole shows nothing.
    """
    assertion = expected.assertions.get(f"{expected.label}/{local_key}")
    if assertion is None or not assertion.is_only_location_assumed or response.cut is not None:
        return False
    allowed = assertion.documented.get("enum", [assertion.documented.get("const")])
    events = [event for event in response.events or () if not event.sent]
    if any(event.cut is not None for event in events) or not all(isinstance(value, str) for value in allowed):
        return False
    answer = [response.body, *(event.data for event in events)]
    return not any(is_somewhere_in(answer, text) for text in allowed)


def _path_parameters(path: str) -> tuple[str, ...]:
    """List the names in braces in an endpoint's path: `/v1/models/{id}` -> `("id",)`."""
    return tuple(re.findall(r"\{([a-z0-9_]+)\}", path))


def _values_in_response(location: Location, expected: Expected, response: Response) -> Iterator[Json]:
    if location.kind == "header":
        trailers = response.grpc.trailers if response.grpc is not None else {}
        # gRPC sends after the answer, as a trailer, what HTTP sends before it.
        value = response.headers.get(location.name, trailers.get(location.name, ""))
        if value.strip():
            yield value
    elif location.kind == "event":
        for event in _select_events(location, response, sent=False):
            yield from find_values(event.data, location.pointer) if location.name else (event.event,)
    elif response.cut is None:
        body = answer_body(expected, response)
        if body is not ABSENT:
            yield from find_values(unwrap(expected.envelope, body), location.pointer)


def _select_events(location: Location, response: Response | None, *, sent: bool) -> Iterator[Event]:
    """Yield the events of a location's name that one side sent, and that were kept whole."""
    for event in (response.events if response is not None else None) or ():
        if event.sent is sent and event.cut is None and location.name in (event.event, ANY_EVENT, ""):
            yield event


def _values_in_request(location: Location, exchange: Exchange, path: str) -> Iterator[Json]:
    request = exchange.request
    if location.kind == "ask/query":
        pairs = parse_qsl(urlsplit(request.url).query, keep_blank_values=True)
        yield from (value for name, value in pairs if name == location.name)
    elif location.kind == "ask/header":
        yield from (value for name, value in request.headers.items() if name.lower() == location.name.lower())
    elif location.kind == "ask/path":
        if location.name in _path_parameters(path):
            match = _path_pattern(path).search(urlsplit(request.url).path)
            if match is not None:
                yield unquote(match[location.name])
    elif location.kind == "ask/event":
        for event in _select_events(location, exchange.response, sent=True):
            yield from find_values(event.data, location.pointer)
    else:
        yield from find_values(request.body, location.pointer)


@lru_cache(maxsize=512)
def _path_pattern(path: str) -> re.Pattern[str]:
    """Return the pattern of the end of a request's path; the first occurrence of each `{name}` is a group."""
    named: set[str] = set()

    def to_group(match: re.Match[str]) -> str:
        name = match[1]
        if name in named:
            return "[^/]+"
        named.add(name)
        return f"(?P<{name}>[^/]+)"

    return re.compile(_ESCAPED_PARAMETER.sub(to_group, re.escape(path)) + "$")
