"""What is kept of an answer once it is judged: bodies and event data whole up to a size, beyond that what shows them.

An answer may be as large as the wire allows, and a run keeps thousands. A request is kept whole: it is ours, small, and
needed to send it again. Pure.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.projection import unwrapped
from catalog_probe.catalog.model.exchange import Truncation
from catalog_probe.catalog.text.json_pointer import ABSENT, find_value
from catalog_probe.catalog.text.phrases import ELLIPSIS, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Attempt, Event, Exchange, Finding, Json
    from catalog_probe.catalog.model.observation import Observation
    from catalog_probe.catalog.reading.expected import Expected

WHOLE_BYTES = 64 * 1024
"""Bytes of a body, and of all event data of an exchange together, that are kept as they came."""

RUN_BYTES = 20_000_000
"""Bytes of bodies and event data that a run keeps; beyond it each keeps LITTLE."""

MIN_BODY_BYTES = 1024
"""Bytes that are kept of each body however much the run has kept."""

HEADER_CHARACTERS = 16 * 1024
"""Characters of an answer's headers that are kept."""

MIN_EVENT_BYTES = 256
"""Bytes of an event's data that are kept however many events there are: a digest would be no shorter."""

VALUE_CHARACTERS = 2000
"""Characters of a value that is shown of a body that is not kept whole, or in a finding."""


@dataclass(slots=True)
class RetentionBudget:
    """Bytes that a run, or its share of one, may still keep of bodies and event data."""

    left: int = RUN_BYTES

    @property
    def whole(self) -> int:
        """Bytes of the next body that may be kept."""
        return WHOLE_BYTES if self.left > 0 else MIN_BODY_BYTES


def trim_attempt(attempt: Attempt, expected: Iterable[Expected], allowance: RetentionBudget | None = None) -> Attempt:
    """An attempt as it is kept; of what is cut, the values that these expectations point at are kept beside."""
    by_label = {each.label: each for each in expected}
    kept = (trim_exchange(each, by_label.get(each.label), allowance) for each in attempt.exchanges)
    return replace(attempt, exchanges=tuple(kept))


def trim_exchange(
    exchange: Exchange, expected: Expected | None = None, allowance: RetentionBudget | None = None
) -> Exchange:
    """An exchange as it is kept; one that was cut before is returned as it is."""
    response = exchange.response
    if response is None or response.cut is not None:
        return exchange
    allowance = allowance or RetentionBudget()
    body, cut = _cut(response.body, allowance.whole, expected, allowance)
    events = response.events and tuple(_events(response.events, expected, allowance))
    headers = _headers(response.headers)
    return replace(exchange, response=replace(response, headers=headers, body=body, cut=cut, events=events))


def trim_finding(finding: Finding) -> Finding:
    """A finding with no more of what was seen than a person reads."""
    observed = (
        finding.observed
        if len(_raw(finding.observed)) <= VALUE_CHARACTERS
        else shorten(finding.observed, VALUE_CHARACTERS)
    )
    return replace(finding, observed=observed, message=shorten(finding.message, VALUE_CHARACTERS))


def trim_observation(observation: Observation) -> Observation:
    """A look with no more of a value that was seen than a person reads."""
    return replace(
        observation, mismatched={key: shorten(value, VALUE_CHARACTERS) for key, value in observation.mismatched.items()}
    )


def asserted_pointers(expected: Expected) -> tuple[str, ...]:
    """The JSON pointers at which something is asserted of the answer, or its message and field would stand."""
    places = (each.key.location for each in expected.assertions.values())
    named = (*expected.envelope.wire.values(), *expected.fields, *places)
    return tuple(dict.fromkeys(each for each in named if each.startswith("/") and each != "/"))


def _headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Headers, the last left out if they are too many; `…` says how many."""
    left = HEADER_CHARACTERS
    kept: dict[str, str] = {}
    for name, value in headers.items():
        left -= len(name) + len(value)
        if left < 0:
            kept[ELLIPSIS] = f"{len(headers) - len(kept)} more"
            break
        kept[name] = value
    return kept


def _events(events: Iterable[Event], expected: Expected | None, allowance: RetentionBudget) -> Iterator[Event]:
    left = allowance.whole
    for event in events:
        if event.sent or event.cut is not None:
            yield event
            continue
        before = allowance.left
        data, cut = _cut(event.data, max(left, MIN_EVENT_BYTES), expected, allowance)
        left -= before - allowance.left
        yield replace(event, event=shorten(event.event, VALUE_CHARACTERS), data=data, cut=cut)


def _cut(
    value: Json, limit: int, expected: Expected | None, allowance: RetentionBudget
) -> tuple[Json, Truncation | None]:
    """The value, or where it takes more than `limit` bytes its beginning and what is kept beside."""
    if value is None:
        return value, None
    raw = _raw(value)
    allowance.left -= min(len(raw), limit)
    if len(raw) <= limit:
        return value, None
    at = dict(_pointed(value, expected)) if expected is not None else {}
    return raw[:limit].decode(errors="ignore"), Truncation(len(raw), hashlib.sha256(raw).hexdigest(), at)


def _pointed(value: Json, expected: Expected) -> Iterator[tuple[str, Json]]:
    body = unwrapped(expected.envelope, value)
    for pointer in asserted_pointers(expected):
        found = find_value(body, pointer)
        if found is not ABSENT:
            yield pointer, found if len(_raw(found)) <= VALUE_CHARACTERS else shorten(found, VALUE_CHARACTERS)


def _raw(value: Json) -> bytes:
    """A text as it is, anything else as the JSON that results.jsonl holds."""
    text = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    )
    return text.encode(errors="backslashreplace")
