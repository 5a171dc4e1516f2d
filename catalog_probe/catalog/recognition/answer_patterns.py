"""Answer patterns: what error records document, and which of them look alike."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.envelopes import Shape, load_shape
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Address, Json, Record
from catalog_probe.catalog.model.assertion import AssertionKey
from catalog_probe.catalog.observed import live_messages
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.record_fields import meaning, occurs_on, retry_advice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.reading.response_headers import HeaderRule


EVENT_PROTOCOLS = ("sse", "websocket")
"""Protocols of streams and sockets, whose events and frames carry errors."""

HTTP, GRPC, CLIENT = "http", "grpc", "client"
"""Protocols of answers, in addition to a stream's `sse` and `websocket`. A client error has no answer at all."""

_OK, _FIRST_NO_SUCCESS = 200, 300
_ENDING_WORDS = 3  # last words that similar codes share: integer_below_min_value, decimal_below_min_value

_WORD = re.compile(r"[a-z][a-z0-9]{2,}")
_COMMON_WORDS = frozenset("the and for not with that this from your you are was has have its but may can".split())


@dataclass(frozen=True, slots=True)
class AnswerPattern:
    """One documented answer of an error record, reduced to what tells it from others."""

    address: str
    surface: str
    protocol: str
    """`http`, `sse`, `websocket` or `grpc`."""
    shape: Shape
    statuses: frozenset[int]
    """The HTTP statuses that conform; empty if the documents give none, or only a class."""
    hundreds: int | None
    """4 if the documents say only `4xx`."""
    wire: Mapping[str, tuple[Json, ...]]
    """Aspect -> the values that conform, for the aspects that the envelope carries and the record states."""
    message: re.Pattern[str] | None
    constants: Mapping[str, tuple[Json, ...]]
    """JSON pointer -> the values that conform there."""
    wording: re.Pattern[str] | None
    """The wording of published answers, searched in every text of a body."""
    headers: Mapping[str, HeaderRule]
    """Header -> its rule, if the documents say that it is present, absent, or has one value."""
    event: str | None
    close: tuple[int, int] | None
    grpc: int | None
    endpoints: frozenset[str]
    """The endpoints that the record names; empty if it may occur on any."""
    words: frozenset[str] = field(repr=False)
    """Words that its message may have: from the documents, and from messages that live runs observed."""

    @property
    def has_words(self) -> bool:
        """Whether the wording of its message is known."""
        return self.wording is not None or self.message is not None

    @property
    def is_recognizable(self) -> bool:
        """Whether something in the answer identifies it. A success of any shape has nothing.

        Example: PD's 202 without a body is recognizable. A 200 with a deleted chat is not: only the request tells that
        the chat was deleted.
        """
        names = (value for aspect in ("type", "code") for value in self.wire.get(aspect, ()))
        has_name_or_value = any(name is not None for name in names) or bool(self.constants)
        is_only_success = bool(self.statuses) and all(status < _FIRST_NO_SUCCESS for status in self.statuses)
        is_empty_success = is_only_success and self.shape.body == "empty" and self.statuses != frozenset({_OK})
        is_call_or_close = self.grpc is not None or self.close is not None
        return has_name_or_value or is_call_or_close or not is_only_success or is_empty_success


def compile_patterns(records: Iterable[Record]) -> tuple[AnswerPattern, ...]:
    """Return the patterns of the error records. Errors without an answer of the server are left out.

    Example: a record with the statuses `502/503` has two patterns; one of a client's own failure has none.

    Raises:
        KeyError: a surface that a record names does not exist.
    """
    error_records = [record for record in records if record.kind == "errors"]
    return tuple(_deduplicate(pattern for record in error_records for pattern in _make_patterns(record)))


def code_ending(code: str) -> str:
    """Return the last three words of a code, or an empty string if the code has fewer.

    >>> code_ending("decimal_below_min_value"), code_ending("invalid_json")
    ('below_min_value', '')
    """
    ending = code.split("_")[-_ENDING_WORDS:]
    return "_".join(ending) if len(ending) == _ENDING_WORDS else ""


def extract_words(text: str) -> frozenset[str]:
    """Return the words of a text that tell two messages apart, in lower case.

    >>> sorted(extract_words("The model `small-9` was not found."))
    ['found', 'model', 'small']
    """
    return frozenset(_WORD.findall(text.lower().replace("_", " "))) - _COMMON_WORDS


def _make_patterns(record: Record) -> Iterator[AnswerPattern]:
    if record.surface == CLIENT:
        return
    texts = (record.address.slug, meaning(record), retry_advice(record).action, *live_messages(record))
    words = extract_words(" ".join(texts))
    expectations = asserted_expectations(record, {str(record.address): record}.__getitem__)
    for expected in expectations:
        pattern = _make_pattern(record, expected, words)
        if pattern.is_recognizable:
            yield pattern
            yield from _vary_stream_envelope(record, pattern)


def _make_pattern(record: Record, expected: Expected, words: frozenset[str]) -> AnswerPattern:
    stream = expected.stream
    # A stream begins with 200, whatever follows: only the status that the body repeats tells its errors apart.
    status = expected.body_status if stream is not None else expected.status
    constants = {pointer: _constant_values(schema) for pointer, schema in expected.fields.items()}
    return AnswerPattern(
        address=expected.address,
        surface=expected.envelope.name,
        protocol=stream.protocol if stream is not None else HTTP,
        shape=load_shape(expected.envelope.name),
        statuses=frozenset({value for value in (status, *expected.alternative_statuses) if isinstance(value, int)}),
        hundreds=expected.status_class,
        wire={aspect: conforming_values(expected, aspect, value) for aspect, value in expected.wire.items()},
        message=_compile(expected.message_pattern) if "message" in expected.envelope.wire else None,
        constants={pointer: values for pointer, values in constants.items() if values},
        wording=manifest(record.provider).wording.get(expected.address),
        headers={rule.name: rule for rule in expected.headers if _is_distinctive(rule, record)},
        event=stream.event if stream is not None else None,
        close=stream.close_code if stream is not None else None,
        grpc=stream.grpc_status if stream is not None else None,
        endpoints=occurs_on(record),
        words=words,
    )


def _vary_stream_envelope(record: Record, pattern: AnswerPattern) -> Iterator[AnswerPattern]:
    """Yield the pattern in each other envelope in which the provider's streams carry an error's code.

    Example: PC's stream code `image_too_large` is documented for the event `response.failed`, and comes in the flat and
    the nested event `error` as well.
    """
    events = manifest(record.provider).stream_errors
    if pattern.protocol in EVENT_PROTOCOLS and pattern.surface in events and pattern.wire.get("code"):
        for surface, event in events.items():
            if surface != pattern.surface:
                shape = load_shape(surface)
                wire = {aspect: values for aspect, values in pattern.wire.items() if aspect in shape.wire}
                yield replace(pattern, surface=surface, shape=shape, wire=wire, event=event)


def _is_distinctive(rule: HeaderRule, record: Record) -> bool:
    """Whether a header tells errors apart. A header that names the account does not: every known account has it.

    Example: `x-should-retry: false` does, and `pa-organization-id`, which is only present, does not.
    """
    names_account = rule.name in manifest(record.provider).account_headers
    return rule.rule in ("absent", "equals") or (rule.rule == "present" and not names_account)


@cache
def _compile(pattern: str | None) -> re.Pattern[str] | None:
    return re.compile(pattern) if pattern else None


def _constant_values(schema: Json) -> tuple[Json, ...]:
    """Return the values that a schema allows, if it lists them: `{"const": "refusal"}` -> `refusal`."""
    if not isinstance(schema, dict):
        return ()
    return (schema["const"],) if "const" in schema else tuple(schema.get("enum", ()))


def conforming_values(expected: Expected, aspect: str, documented: Json) -> tuple[Json, ...]:
    """Return the documented value and its documented alternatives, e.g. `("invalid_image", "image_parse_error")`."""
    assertion = expected.assertions.get(str(AssertionKey(expected.label, aspect)))
    return (assertion.alternatives if assertion is not None else ()) or (documented,)


def _deduplicate(patterns: Iterable[AnswerPattern]) -> Iterator[AnswerPattern]:
    """Leave out patterns that differ only in the cause of the error: an answer does not tell its cause."""
    seen: set[tuple[Json, ...]] = set()
    for pattern in patterns:
        key = (
            pattern.address,
            pattern.surface,
            pattern.statuses,
            str(pattern.wire),
            str(pattern.constants),
            pattern.grpc,
            pattern.close,
        )
        if key not in seen:
            seen.add(key)
            yield pattern


Look = tuple[Json, ...]
"""Everything that the documents say of one answer, hashable."""


@dataclass(frozen=True, slots=True)
class Lookalikes:
    """For each error record, the others with the same documented answer.

    Example: PA refuses a malformed, a revoked and an expired key and a bad signature alike, so each has three others.
    """

    _lookalikes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> Self:
        """Compare the error records; records of other kinds are ignored."""
        addresses_by_look: dict[Look, list[str]] = defaultdict(list)
        looks_by_address: dict[str, tuple[Look, ...]] = {}
        for record in records:
            if record.kind == "errors":
                address = str(record.address)
                try:
                    looks_by_address[address] = list_looks(record)
                except KeyError:  # a broken record, which `catalog-probe check` reports
                    continue
                for look in looks_by_address[address]:
                    addresses_by_look[look].append(address)
        return cls(
            {
                address: tuple(sorted({other for look in looks for other in addresses_by_look[look]} - {address}))
                for address, looks in looks_by_address.items()
            }
        )

    def __getitem__(self, address: Address | str) -> tuple[str, ...]:
        """Return the sorted addresses of the other records that such an answer may belong to."""
        return self._lookalikes.get(str(address), ())


def list_looks(record: Record) -> tuple[Look, ...]:
    """Return the looks of a record's answers, one for each status and value that the documents allow.

    Headers are left out, because a proxy may add or drop them.

    Raises:
        KeyError: the surface that the record names does not exist.
    """
    expectations = asserted_expectations(record, {str(record.address): record}.__getitem__)
    return tuple(dict.fromkeys(look for expected in expectations for look in _vary_answer(record.provider, expected)))


def _vary_answer(provider: str, expected: Expected) -> Iterator[Look]:
    status = expected.body_status if expected.body_status is not None else expected.status
    for chosen_status in conforming_values(expected, "status", status):
        wire = [
            [(aspect, json.dumps(value)) for value in conforming_values(expected, aspect, documented)]
            for aspect, documented in sorted(expected.wire.items())
        ]
        for chosen_wire in product(*wire):
            yield (
                provider,
                expected.envelope.name,
                chosen_status,
                expected.status_class,
                chosen_wire,
                expected.message_pattern if "message" in expected.envelope.wire else None,
                json.dumps(expected.fields, sort_keys=True),
                expected.stream,
                expected.failure,
            )
