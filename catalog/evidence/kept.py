"""What is kept of an answer once it is judged: bodies and event data whole up to a size, beyond that what shows them.

What came from outside may be as large as the wire allows; a run keeps hundreds of answers. What we sent is kept whole:
it is ours, small, and wanted to send it again. Pure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog.envelopes.pointer import ABSENT, find
from catalog.envelopes.projection import unwrapped
from catalog.model.exchange import Cut
from catalog.model.text import brief

if TYPE_CHECKING:
    from catalog.model import Attempt, Event, Exchange, Finding, Json
    from catalog.model.look import Look
    from catalog.reading.expected import Expected

WHOLE = 64 * 1024
"""Bytes of a body, and of all event data of an exchange together, that are kept as they came."""

ALWAYS = 256
"""Bytes of an event's data that are kept however many events there are: a digest would be no shorter."""

POINTED = 2000
"""Characters of a value that is shown of a body that is not kept whole, or in a finding."""


def kept_attempt(attempt: Attempt, expected: Iterable[Expected]) -> Attempt:
    """An attempt as it is kept; of what is cut, the values that these expectations point at are kept beside."""
    by_label = {each.label: each for each in expected}
    return replace(
        attempt, exchanges=tuple(kept_exchange(each, by_label.get(each.label)) for each in attempt.exchanges)
    )


def kept_exchange(exchange: Exchange, expected: Expected | None = None) -> Exchange:
    """An exchange as it is kept; one in which nothing is too large is returned as it is."""
    response = exchange.response
    if response is None or response.cut is not None:
        return exchange
    body, cut = _cut(response.body, WHOLE, expected)
    events = response.events and tuple(_events(response.events, expected))
    if cut is None and events == response.events:
        return exchange
    return replace(exchange, response=replace(response, body=body, cut=cut, events=events))


def kept_finding(finding: Finding) -> Finding:
    """A finding with no more of what was seen than a person reads."""
    observed = finding.observed if _size(finding.observed) <= POINTED else brief(finding.observed, POINTED)
    if observed is finding.observed and len(finding.message) <= POINTED:
        return finding
    return replace(finding, observed=observed, message=brief(finding.message, POINTED))


def kept_look(look: Look) -> Look:
    """A look with no more of a value that was seen than a person reads."""
    if all(len(each) <= POINTED for each in look.otherwise.values()):
        return look
    return replace(look, otherwise={key: brief(value, POINTED) for key, value in look.otherwise.items()})


def pointers(expected: Expected) -> tuple[str, ...]:
    """The JSON pointers at which something is asserted of the answer, or its message and field would stand."""
    places = (each.key.place for each in expected.assertions.values())
    named = (*expected.envelope.wire.values(), *expected.fields, *places)
    return tuple(dict.fromkeys(each for each in named if each.startswith("/") and each != "/"))


def _events(events: Iterable[Event], expected: Expected | None) -> Iterator[Event]:
    left = WHOLE
    for event in events:
        if event.sent or event.cut is not None:
            yield event
            continue
        data, cut = _cut(event.data, max(left, ALWAYS), expected)
        left -= WHOLE if cut is not None else _size(data)
        yield event if cut is None else replace(event, data=data, cut=cut)


def _cut(value: Json, limit: int, expected: Expected | None) -> tuple[Json, Cut | None]:
    """The value, or where it takes more than `limit` bytes its beginning and what is kept beside."""
    if value is None:
        return value, None
    raw = _raw(value)
    if len(raw) <= limit:
        return value, None
    at = dict(_pointed(value, expected)) if expected is not None else {}
    return raw[:limit].decode(errors="ignore"), Cut(len(raw), hashlib.sha256(raw).hexdigest(), at)


def _pointed(value: Json, expected: Expected) -> Iterator[tuple[str, Json]]:
    body = unwrapped(expected.envelope, value)
    for pointer in pointers(expected):
        found = find(body, pointer)
        if found is not ABSENT:
            yield pointer, found if _size(found) <= POINTED else brief(found, POINTED)


def _size(value: Json) -> int:
    return len(_raw(value))


def _raw(value: Json) -> bytes:
    """A text as it is, anything else as the JSON that results.jsonl holds."""
    text = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    )
    return text.encode(errors="backslashreplace")
