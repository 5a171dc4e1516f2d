"""How much of an answer is kept: sizes, and placeholders for volatile text.

An answer may be as large as the wire allows, and a run keeps thousands of them. Of a value that is too large, the
beginning, the size, a digest and the asserted members are kept. Requests are kept whole: they are ours, small, and
needed to send them again.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import unwrap
from catalog_probe.catalog.model.exchange import Truncation
from catalog_probe.catalog.text.json_values import ABSENT, find_value
from catalog_probe.catalog.text.readable_text import ELLIPSIS, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Attempt, Event, Exchange, Finding, Json
    from catalog_probe.catalog.model.assertion import Observation
    from catalog_probe.catalog.reading.expectations import Expected


MAX_TEXT = 300  # characters

# Placeholders prevent a diff of the records in each night in which only an id, a time or an amount differs. They hide
# that such a value changed its meaning: `retry after 5 s` and `retry after 500 s` are equal.
_PLACEHOLDERS = (
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "{id}"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "{time}"),
    (re.compile(r"\b[A-Za-z]+(?:[_-][A-Za-z]+)*[_-](?=[A-Za-z]*\d)[A-Za-z0-9]{8,}\b"), "{id}"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b", re.IGNORECASE), "{id}"),
    (re.compile(r"\b\d+(?:\.\d+)?(?=\s?(?:ms|s|m|h|seconds?|minutes?|hours?)\b)"), "{n}"),
    (re.compile(r"\b\d+\.\d+\b"), "{n}"),
    (re.compile(r"\b\d[\d,]{4,}\b"), "{n}"),
)


def mask_volatile(text: str) -> str:
    """Put a text on one line, and replace what differs between two answers to the same request."""
    text = " ".join(text.split())
    for pattern, placeholder in _PLACEHOLDERS:
        text = pattern.sub(placeholder, text)
    return shorten(text, MAX_TEXT)


WHOLE_BYTES = 64 * 1024  # of a body, and of all event data of an exchange together, that are kept as they came
RUN_BYTES = 20_000_000  # of bodies and event data that a run keeps; after that MIN_BODY_BYTES of each
MIN_BODY_BYTES = 1024  # of each body, however much the run has kept
MIN_EVENT_BYTES = 256  # of each event's data, however many there are: a digest would hardly be shorter
HEADER_CHARACTERS = 16 * 1024  # of all headers of an answer
VALUE_CHARACTERS = 2000  # of an asserted value in a body that is not kept whole, and of a value in a finding


@dataclass(slots=True)
class RetentionBudget:
    """Bytes of bodies and event data that a run, or its share of one, may still keep."""

    left: int = RUN_BYTES

    @property
    def next_body_bytes(self) -> int:
        """Bytes of the next body that may be kept."""
        return WHOLE_BYTES if self.left > 0 else MIN_BODY_BYTES


def trim_attempt(attempt: Attempt, expected: Iterable[Expected], budget: RetentionBudget | None = None) -> Attempt:
    """Trim the exchanges of an attempt. The values at which `expected` points are kept beside what is cut."""
    expected_by_label = {step.label: step for step in expected}
    exchanges = (trim_exchange(ex, expected_by_label.get(ex.label), budget) for ex in attempt.exchanges)
    return replace(attempt, exchanges=tuple(exchanges))


def trim_exchange(
    exchange: Exchange, expected: Expected | None = None, budget: RetentionBudget | None = None
) -> Exchange:
    """Trim the response of an exchange. An exchange that was cut before is returned as it is."""
    response = exchange.response
    if response is None or response.cut is not None:
        return exchange
    budget = budget or RetentionBudget()
    body, cut = _cut_value(response.body, budget.next_body_bytes, expected, budget)
    events = response.events and tuple(_trim_events(response.events, expected, budget))
    headers = _trim_headers(response.headers)
    return replace(exchange, response=replace(response, headers=headers, body=body, cut=cut, events=events))


def trim_finding(finding: Finding) -> Finding:
    """Shorten the observed value and the remark of a finding to what a person reads."""
    observed = finding.observed
    if len(_encode(observed)) > VALUE_CHARACTERS:
        observed = shorten(observed, VALUE_CHARACTERS)
    return replace(finding, observed=observed, remark=shorten(finding.remark, VALUE_CHARACTERS))


def trim_observation(observation: Observation) -> Observation:
    """Shorten the observed values of an observation to what a person reads."""
    mismatched = {key: shorten(value, VALUE_CHARACTERS) for key, value in observation.mismatched.items()}
    return replace(observation, mismatched=mismatched)


def asserted_pointers(expected: Expected) -> tuple[str, ...]:
    """Return the JSON pointers of the asserted members, and of the error's message and field."""
    locations = [assertion.key.location for assertion in expected.assertions.values()]
    candidates = [*expected.envelope.wire.values(), *expected.fields, *locations]
    return tuple(dict.fromkeys(pointer for pointer in candidates if pointer.startswith("/") and pointer != "/"))


def _trim_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Keep headers up to the limit; a header `…` says how many are left out."""
    left = HEADER_CHARACTERS
    kept: dict[str, str] = {}
    for name, value in headers.items():
        left -= len(name) + len(value)
        if left < 0:
            kept[ELLIPSIS] = f"{len(headers) - len(kept)} more"
            break
        kept[name] = value
    return kept


def _trim_events(events: Iterable[Event], expected: Expected | None, budget: RetentionBudget) -> Iterator[Event]:
    left = budget.next_body_bytes
    for event in events:
        if event.sent or event.cut is not None:
            yield event
            continue
        left_before = budget.left
        data, cut = _cut_value(event.data, max(left, MIN_EVENT_BYTES), expected, budget)
        left -= left_before - budget.left
        yield replace(event, event=shorten(event.event, VALUE_CHARACTERS), data=data, cut=cut)


def _cut_value(
    value: Json, limit: int, expected: Expected | None, budget: RetentionBudget
) -> tuple[Json, Truncation | None]:
    """Return the value, or its first `limit` bytes and a Truncation that describes the whole; reduce the budget."""
    if value is None:
        return value, None
    raw = _encode(value)
    budget.left -= min(len(raw), limit)
    if len(raw) <= limit:
        return value, None
    asserted_values = dict(_find_asserted_values(value, expected)) if expected is not None else {}
    return raw[:limit].decode(errors="ignore"), Truncation(len(raw), hashlib.sha256(raw).hexdigest(), asserted_values)


def _find_asserted_values(value: Json, expected: Expected) -> Iterator[tuple[str, Json]]:
    body = unwrap(expected.envelope, value)
    for pointer in asserted_pointers(expected):
        member = find_value(body, pointer)
        if member is not ABSENT:
            yield pointer, member if len(_encode(member)) <= VALUE_CHARACTERS else shorten(member, VALUE_CHARACTERS)


def _encode(value: Json) -> bytes:
    """Encode a text as it is, and anything else as the JSON that results.jsonl holds."""
    if isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode(errors="backslashreplace")
