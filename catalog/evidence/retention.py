"""What is kept of an answer once it is judged: bodies and event data whole up to a size, beyond that what shows them.

What came from outside may be as large as the wire allows; a run keeps hundreds of answers, and in all no more than an
allowance. What we sent is kept whole:
it is ours, small, and wanted to send it again. Pure.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog.envelopes.pointer import ABSENT, find
from catalog.envelopes.projection import unwrapped
from catalog.model.exchange import Cut
from catalog.model.json_tree import map_texts
from catalog.model.text import ELLIPSIS, brief

if TYPE_CHECKING:
    from catalog.model import Attempt, Event, Exchange, Finding, Json
    from catalog.model.look import Look
    from catalog.reading.expected import Expected

WHOLE = 64 * 1024
"""Bytes of a body, and of all event data of an exchange together, that are kept as they came."""

A_RUN = 20_000_000
"""Bytes of bodies, event data and headers, in all that is large, that a run keeps; beyond it each keeps LITTLE."""

LITTLE = 1024
"""Bytes that are kept of each body however much the run has kept; a smaller one is no part of A_RUN."""

HEADERS = 16 * 1024
"""Characters of an answer's headers that are kept."""

ALWAYS = 256
"""Bytes of an event's data that are kept however many events there are: a digest would be no shorter."""

POINTED = 2000
"""Characters of a value that is shown of a body that is not kept whole, or in a finding."""


@dataclass(slots=True)
class Allowance:
    """What a run, or its share of one, may still keep of what is large, in bytes."""

    left: int = A_RUN

    @property
    def whole(self) -> int:
        """Bytes of the next body that may be kept."""
        return WHOLE if self.left > 0 else LITTLE

    @property
    def pointed(self) -> int:
        """Characters of a value that is kept beside the next body."""
        return POINTED if self.left > 0 else POINTED // 10

    def spend(self, size: int) -> None:
        """Note what is kept."""
        if size > LITTLE:
            self.left -= size


def kept_attempt(attempt: Attempt, expected: Iterable[Expected], allowance: Allowance | None = None) -> Attempt:
    """An attempt as it is kept; of what is cut, the values that these expectations point at are kept beside."""
    by_label = {each.label: each for each in expected}
    kept = (kept_exchange(each, by_label.get(each.label), allowance) for each in attempt.exchanges)
    return replace(attempt, exchanges=tuple(kept))


def kept_exchange(exchange: Exchange, expected: Expected | None = None, allowance: Allowance | None = None) -> Exchange:
    """An exchange as it is kept; one in which nothing is too large is returned as it is."""
    response = exchange.response
    if response is None or response.cut is not None:
        return exchange
    allowance = allowance or Allowance()
    headers = _headers(response.headers)
    allowance.spend(sum(len(name) + len(value) for name, value in headers.items()))
    body, cut = _cut(response.body, allowance.whole, expected, allowance)
    events = response.events and tuple(_events(response.events, expected, allowance))
    if cut is None and events == response.events and headers == response.headers:
        return exchange
    return replace(exchange, response=replace(response, headers=headers, body=body, cut=cut, events=events))


def in_short(exchange: Exchange) -> Exchange:
    """An exchange whose answer has no text longer than WHOLE; each that was longer says so, and its shape stays."""
    response = exchange.response
    if response is None:
        return exchange
    events = response.events and tuple(
        replace(each, event=_in_short(each.event), data=short(each.data)) for each in response.events
    )
    return replace(exchange, response=replace(response, body=short(response.body), events=events))


def short(value: Json) -> Json:
    """A value whose long texts are in short: so are values compared, of which some may be in short already.

    What was the same stays the same, and what differed differs still: a digest stands for what is left out.
    """
    return map_texts(value, _in_short)


def is_short(text: str) -> bool:
    """Whether it is the beginning of a longer text, as `short` leaves it."""
    return text[WHOLE : WHOLE + len(_AND)] == _AND and _SHORT.fullmatch(text, WHOLE) is not None


def _in_short(text: str) -> str:
    if len(text) <= WHOLE or is_short(text):
        return text
    # Without an ellipsis: one character that is no ASCII makes all the others take two bytes.
    digest = hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:16]
    return f"{text[:WHOLE]}{_AND}{len(text) - WHOLE} characters more ({digest})"


_AND = " and "
_SHORT = re.compile(rf"{_AND}[0-9]+ characters more \([0-9a-f]{{16}}\)")
"""What stands behind the beginning of a text that is in short."""


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


def _headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Headers, each in short where it is long, and the last left out where they are too many; `…` says how many."""
    left = HEADERS
    kept: dict[str, str] = {}
    for name, value in headers.items():
        shown = brief(value, POINTED)
        left -= len(name) + len(shown)
        if left < 0:
            kept[ELLIPSIS] = f"{len(headers) - len(kept)} more"
            break
        kept[name] = shown
    return headers if kept == headers else kept


def _events(events: Iterable[Event], expected: Expected | None, allowance: Allowance) -> Iterator[Event]:
    left = allowance.whole
    for each in events:
        if each.sent or each.cut is not None:
            yield each
            continue
        event = each if len(each.event) <= POINTED else replace(each, event=brief(each.event, POINTED))
        data, cut = _cut(event.data, max(left, ALWAYS), expected, allowance)
        left -= WHOLE if cut is not None else _size(data)
        yield event if cut is None else replace(event, data=data, cut=cut)


def _cut(value: Json, limit: int, expected: Expected | None, allowance: Allowance) -> tuple[Json, Cut | None]:
    """The value, or where it takes more than `limit` bytes its beginning and what is kept beside."""
    if value is None:
        return value, None
    raw = _raw(value)
    if len(raw) <= limit:
        allowance.spend(len(raw))
        return value, None
    at = dict(_pointed(value, expected, allowance.pointed)) if expected is not None else {}
    allowance.spend(limit + _size(at))
    return raw[:limit].decode(errors="ignore"), Cut(len(raw), hashlib.sha256(raw).hexdigest(), at)


def _pointed(value: Json, expected: Expected, limit: int) -> Iterator[tuple[str, Json]]:
    body = unwrapped(expected.envelope, value)
    for pointer in pointers(expected):
        found = find(body, pointer)
        if found is not ABSENT:
            yield pointer, found if _size(found) <= limit else brief(found, limit)


def _size(value: Json) -> int:
    return len(_raw(value))


def _raw(value: Json) -> bytes:
    """A text as it is, anything else as the JSON that results.jsonl holds."""
    text = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    )
    return text.encode(errors="backslashreplace")
