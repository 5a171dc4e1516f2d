"""The values that stand at a place of an exchange: in the answer, or in the request that was sent. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from catalog_probe.catalog.envelopes.location import ANY_EVENT, Location
from catalog_probe.catalog.envelopes.projection import unwrap
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.reading.expected import Expected, answer_body
from catalog_probe.catalog.text.json_pointer import ABSENT, find_blocking, find_values, points_into_empty_list
from catalog_probe.catalog.text.json_tree import iterate_strings_with_pointers
from catalog_probe.probes.judging.comparison.validators import is_valid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.model import Event, Exchange, Json, Response

_NAMED = re.compile(r"\\\{([a-z0-9_]+)\\\}")


def values_at(place: Location, expected: Expected, exchange: Exchange, path: str = "") -> tuple[Json, ...]:
    """Every value there, in the order in which it stands; none where nothing is, or the answer was not kept whole.

    `path` is the endpoint's, with a `{name}` for what a place `ask/path:name` means.
    """
    asked = place.kind.startswith("ask/")
    if not asked and exchange.response is None:
        return ()
    return tuple(_asked(place, exchange, path) if asked else _answered(place, expected, exchange.response))


def find_blocking_value(place: Location, expected: Expected, response: Response) -> Json:
    """Return what stands in an answer's body or event where the way to a place goes on; ABSENT if nothing does."""
    documents: list[Json] = []
    if place.kind == "event" and place.name:
        documents = [event.data for event in _events(place, response, sent=False)]
    elif place.kind == "body" and response.cut is None:
        documents = [unwrap(expected.envelope, answer_body(expected, response))]
    values = (find_blocking(document, place.pointer) for document in documents if document is not ABSENT)
    return next((value for value in values if value is not ABSENT), ABSENT)


def shows_no_item(expected: Expected, body: Json, within: str, pointer: str) -> bool:
    """Whether what we assumed of the items of a list cannot be seen, for the lists in a body are empty.

    Nothing need be an account's own; so that it has none settles no assumption.
    """
    assertion = expected.assertions.get(f"{expected.label}/{within}")
    is_ours = assertion is not None and assertion.basis is Basis.ASSUMED
    return is_ours and points_into_empty_list(unwrap(expected.envelope, body), pointer)


def under_another_name(expected: Expected, body: Json, within: str, pointer: str) -> Json:
    """A value stated to the letter that stands elsewhere in a body, and under another name than the documented one.

    Just where such a field stands is what we assumed; nothing is found where its name is somewhere in the body.
    """
    assertion = expected.assertions.get(f"{expected.label}/{within}")
    if assertion is None or not assertion.is_only_location_assumed:
        return ABSENT
    name = pointer.rpartition("/")[2]
    found = [(place.rpartition("/")[2], text) for place, text in iterate_strings_with_pointers(body)]
    if any(other == name for other, _ in found):
        return ABSENT
    return next(
        ({other: text} for other, text in found if other != "*" and is_valid(assertion.documented, text)), ABSENT
    )


def _answered(place: Location, expected: Expected, response: Response | None) -> Iterator[Json]:
    assert response is not None
    if place.kind == "header":
        trailers = response.grpc.trailers if response.grpc is not None else {}
        value = response.headers.get(place.name, trailers.get(place.name, ""))
        if value.strip():
            yield value
    elif place.kind == "event":
        for event in _events(place, response, sent=False):
            yield from find_values(event.data, place.pointer) if place.name else (event.event,)
    elif response.cut is None:
        body = answer_body(expected, response)
        if body is not ABSENT:
            yield from find_values(unwrap(expected.envelope, body), place.pointer)


def _events(place: Location, response: Response | None, *, sent: bool) -> Iterator[Event]:
    """The events of this name that one side sent, and that were kept whole."""
    for event in (response.events if response is not None else None) or ():
        if event.sent is sent and event.cut is None and place.name in (event.event, ANY_EVENT, ""):
            yield event


def _asked(place: Location, exchange: Exchange, path: str) -> Iterator[Json]:
    request = exchange.request
    if place.kind == "ask/query":
        pairs = parse_qsl(urlsplit(request.url).query, keep_blank_values=True)
        yield from (value for name, value in pairs if name == place.name)
    elif place.kind == "ask/header":
        yield from (value for name, value in request.headers.items() if name.lower() == place.name.lower())
    elif place.kind == "ask/path":
        match = _pattern(path).search(urlsplit(request.url).path) if place.name in named_in(path) else None
        if match is not None:
            yield unquote(match[place.name])
    elif place.kind == "ask/event":
        for event in _events(place, exchange.response, sent=True):
            yield from find_values(event.data, place.pointer)
    else:
        yield from find_values(request.body, place.pointer)


def named_in(path: str) -> tuple[str, ...]:
    """What stands in braces in an endpoint's path."""
    return tuple(re.findall(r"\{([a-z0-9_]+)\}", path))


@lru_cache(maxsize=512)
def _pattern(path: str) -> re.Pattern[str]:
    """What a request's path must end with to be of this endpoint; each `{name}` is a group, once."""
    seen: set[str] = set()

    def group(match: re.Match[str]) -> str:
        name = match[1]
        if name in seen:
            return "[^/]+"
        seen.add(name)
        return f"(?P<{name}>[^/]+)"

    return re.compile(_NAMED.sub(group, re.escape(path)) + "$")
