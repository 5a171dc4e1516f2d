"""Answer patterns: what error records document, and which of them look alike."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Self

from catalog_probe.catalog.envelopes import Shape, load_shape
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Address, Json, Record
from catalog_probe.catalog.model.assertion import AssertionKey
from catalog_probe.catalog.observed import cells_of, live_messages
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.record_fields import classification, meaning, occurs_on, retry_advice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.reading.response_headers import HeaderRule


HTTP, GRPC, CLIENT = "http", "grpc", "client"
"""Protocols of answers, in addition to a stream's `sse` and `websocket`. A client error has no answer at all."""

_FAMILY_WORDS = 3  # last words that codes of a family share: integer_below_min_value, decimal_below_min_value

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
    wire: Mapping[str, tuple[Json, ...]]
    """Aspect -> the values that conform, for the aspects that the envelope carries and the record states."""
    message: re.Pattern[str] | None
    constants: Mapping[str, tuple[Json, ...]]
    """JSON pointer -> the values that conform there."""
    absent: tuple[str, ...]
    """JSON pointers of members that must be absent."""
    wording: re.Pattern[str] | None
    """The wording of published answers, searched in every text of a body."""
    headers: Mapping[str, HeaderRule]
    """Header -> its rule, if the documents say that it is present, absent, or has one value."""
    event: str | None
    close: tuple[int, int] | None
    grpc: int | None
    observed_values: Mapping[str, frozenset[str]]
    """Aspect -> the values that live runs observed instead of the documented one."""
    typed: bool
    """Whether the documents give a type, in the envelope or not."""
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
        """Whether something in the answer identifies it. A success of any shape has nothing."""
        return (
            any(value is not None for aspect in ("type", "code") for value in self.wire.get(aspect, ()))
            or bool(self.constants)
            or self.grpc is not None
            or self.close is not None
            or not (self.statuses and all(status < 300 for status in self.statuses))
            or (self.shape.body == "empty" and self.statuses != frozenset({200}))
        )


def compile_patterns(records: Iterable[Record]) -> tuple[AnswerPattern, ...]:
    """Return the patterns of the error records. Errors without an answer of the server are left out.

    Raises:
        KeyError: a surface that a record names does not exist.
    """
    error_records = [record for record in records if record.kind == "errors"]
    return tuple(_deduplicate(pattern for record in error_records for pattern in _make_patterns(record)))


def code_family(code: str) -> str:
    """Return the last words of a code, such as `below_min_value`; empty if the code is too short for a family."""
    tail = code.split("_")[-_FAMILY_WORDS:]
    return "_".join(tail) if len(tail) == _FAMILY_WORDS else ""


def extract_words(text: str) -> frozenset[str]:
    """Return the words of a text that tell two messages apart, in lower case."""
    return frozenset(_WORD.findall(text.lower().replace("_", " "))) - _COMMON_WORDS


def _make_patterns(record: Record) -> Iterator[AnswerPattern]:
    if record.surface == CLIENT:
        return
    texts = (record.address.slug, meaning(record), retry_advice(record).action, *live_messages(record))
    words = extract_words(" ".join(texts))
    expectations = asserted_expectations(record, {str(record.address): record}.__getitem__)
    observed_values = _collect_observed_values(record, expectations)
    for expected in expectations:
        pattern = _make_pattern(record, expected, words, observed_values)
        if pattern.is_recognizable:
            yield pattern


def _collect_observed_values(record: Record, expectations: Iterable[Expected]) -> Mapping[str, frozenset[str]]:
    """Return the values that live runs observed instead of the documented ones, by aspect."""
    assertions = tuple(assertion for expected in expectations for assertion in expected.assertions.values())
    values: dict[str, set[str]] = {}
    for (_, key), cell in cells_of(record, assertions).items():
        if cell.mismatch:
            values.setdefault(AssertionKey.parse(key).local_key, set()).add(cell.mismatch)
    for assertion in assertions:
        if assertion.resolved:
            values.setdefault(assertion.key.local_key, set()).add(assertion.resolved)
    return {aspect: frozenset(aspect_values) for aspect, aspect_values in values.items()}


def _make_pattern(
    record: Record, expected: Expected, words: frozenset[str], observed_values: Mapping[str, frozenset[str]]
) -> AnswerPattern:
    stream = expected.stream
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
        absent=tuple(pointer for pointer, schema in expected.fields.items() if schema is False),
        wording=manifest(record.provider).wording.get(expected.address),
        headers={rule.name: rule for rule in expected.headers if _is_distinctive(rule, record)},
        event=stream.event if stream is not None else None,
        close=stream.close_code if stream is not None else None,
        grpc=stream.grpc_status if stream is not None else None,
        observed_values=observed_values,
        typed=bool(classification(record).type),
        endpoints=occurs_on(record),
        words=words,
    )


def _is_distinctive(rule: HeaderRule, record: Record) -> bool:
    """Whether a header tells errors apart. A header that names the account does not: every known account has it."""
    names_account = rule.name in manifest(record.provider).account_headers
    return rule.rule in ("absent", "equals") or (rule.rule == "present" and not names_account)


@cache
def _compile(pattern: str | None) -> re.Pattern[str] | None:
    return re.compile(pattern) if pattern else None


def _constant_values(schema: Json) -> tuple[Json, ...]:
    if not isinstance(schema, dict):
        return ()
    return (schema["const"],) if "const" in schema else tuple(schema.get("enum", ()))


def conforming_values(expected: Expected, aspect: str, documented: Json) -> tuple[Json, ...]:
    """Return the documented value and its documented alternatives."""
    assertion = expected.assertions.get(str(AssertionKey(expected.label, aspect)))
    return (assertion.alternatives if assertion is not None else ()) or (documented,)


def _deduplicate(patterns: Iterable[AnswerPattern]) -> Iterator[AnswerPattern]:
    """Leave out patterns that differ only in the cause of the error."""
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
    """For each error record, the others with the same documented answer."""

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
