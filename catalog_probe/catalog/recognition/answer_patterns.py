"""What an error record's answer looks like, reduced to what tells one answer from another: compiled once."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model.assertion import AssertionKey
from catalog_probe.catalog.observed.cells import cells_of
from catalog_probe.catalog.observed.last_seen import live_messages
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.classification import classification
from catalog_probe.catalog.reading.record_fields import meaning, occurs_on
from catalog_probe.catalog.reading.retry import retry_advice
from catalog_probe.catalog.recognition.shapes import Shape, load_shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.reading.headers import HeaderRule

HTTP, GRPC, CLIENT = "http", "grpc", "client"
"""Ways in which an answer travels, beside the `sse` and `websocket` of a record's stream; a client's is none."""

_FAMILY_TAIL = 3
"""Words that the codes of a family end with: integer_below_min_value, and decimal_below_min_value."""

_WORD = re.compile(r"[a-z][a-z0-9]{2,}")
_COMMON = frozenset("the and for not with that this from your you are was has have its but may can".split())


@dataclass(frozen=True, slots=True)
class AnswerPattern:
    """One documented answer of an error record."""

    address: str
    surface: str
    protocol: str
    """`http`, `sse`, `websocket` or `grpc`."""
    shape: Shape
    statuses: frozenset[int]
    """The HTTP statuses that conform; empty where the documents give none, or only a class."""
    hundreds: int | None
    wire: Mapping[str, tuple[Json, ...]]
    """Each aspect that the envelope carries and the record states, with the values that conform."""
    message: re.Pattern[str] | None
    constants: Mapping[str, tuple[Json, ...]]
    """Values that stand at a JSON pointer, any of them."""
    absent: tuple[str, ...]
    """JSON pointers at which nothing may stand."""
    wording: re.Pattern[str] | None
    """The words that published answers to it have, searched in every text of a body."""
    headers: Mapping[str, HeaderRule]
    """Header -> its rule, where the documents say that it is there, is not there, or has one value."""
    event: str | None
    close: tuple[int, int] | None
    grpc: int | None
    seen: Mapping[str, frozenset[str]]
    """Aspect -> what was seen live in place of what is documented."""
    typed: bool
    """Whether the row gives a type, carried by the envelope or not."""
    endpoints: frozenset[str]
    """Those that the record names; empty where it may occur on any."""
    words: frozenset[str] = field(repr=False)
    """What its message may speak of: the words of what the documents say of it, and of messages that were seen."""

    @property
    def has_words(self) -> bool:
        """Whether it is known by what words its message has."""
        return self.wording is not None or self.message is not None

    @property
    def says_something(self) -> bool:
        """Whether there is anything in the answer by which to know it; a success of any shape has nothing."""
        return (
            any(value is not None for aspect in ("type", "code") for value in self.wire.get(aspect, ()))
            or bool(self.constants)
            or self.grpc is not None
            or self.close is not None
            or not (self.statuses and all(status < 300 for status in self.statuses))
            or (self.shape.body == "empty" and self.statuses != frozenset({200}))
        )


def compile_patterns(records: Iterable[Record]) -> tuple[AnswerPattern, ...]:
    """The patterns of the error records among these; those that no answer of a server can show are left out.

    Raises:
        KeyError: a surface that a record names does not exist.
    """
    return tuple(_distinct(each for record in records if record.kind == "errors" for each in _of(record)))


def code_family(code: str) -> str:
    """What the codes of a family end with, `below_min_value`; empty where a code is too short to belong to one."""
    tail = code.split("_")[-_FAMILY_TAIL:]
    return "_".join(tail) if len(tail) == _FAMILY_TAIL else ""


def extract_words(text: str) -> frozenset[str]:
    """The words of a message by which two of them can be told apart, in small letters."""
    return frozenset(_WORD.findall(text.lower().replace("_", " "))) - _COMMON


def _of(record: Record) -> Iterator[AnswerPattern]:
    if record.surface == CLIENT:
        return
    told = (record.address.slug, meaning(record), retry_advice(record).action, *live_messages(record))
    words = extract_words(" ".join(told))
    stated = asserted_expectations(record, {str(record.address): record}.__getitem__)
    seen = _seen_otherwise(record, stated)
    for expected in stated:
        made = _make_pattern(record, expected, words, seen)
        if made.says_something:
            yield made


def _seen_otherwise(record: Record, stated: Iterable[Expected]) -> Mapping[str, frozenset[str]]:
    """What live runs saw of it, aspect by aspect, where that is another value than the documents state."""
    assertions = tuple(each for expected in stated for each in expected.assertions.values())
    found: dict[str, set[str]] = {}
    for (_, key), cell in cells_of(record, assertions).items():
        if cell.mismatch:
            found.setdefault(AssertionKey.parse(key).local_key, set()).add(cell.mismatch)
    for each in assertions:
        if each.resolved:
            found.setdefault(each.key.local_key, set()).add(each.resolved)
    return {within: frozenset(values) for within, values in found.items()}


def _make_pattern(
    record: Record, expected: Expected, words: frozenset[str], seen: Mapping[str, frozenset[str]]
) -> AnswerPattern:
    stream = expected.stream
    told = expected.body_status if stream is not None else expected.status
    constants = {pointer: _constant(schema) for pointer, schema in expected.fields.items()}
    return AnswerPattern(
        address=expected.address,
        surface=expected.envelope.name,
        protocol=stream.protocol if stream is not None else HTTP,
        shape=load_shape(expected.envelope.name),
        statuses=frozenset({each for each in (told, *expected.alternative_statuses) if isinstance(each, int)}),
        hundreds=expected.status_class,
        wire={aspect: _conforming(expected, aspect, value) for aspect, value in expected.wire.items()},
        message=_compiled(expected.message_pattern) if "message" in expected.envelope.wire else None,
        constants={pointer: values for pointer, values in constants.items() if values},
        absent=tuple(pointer for pointer, schema in expected.fields.items() if schema is False),
        wording=manifest(record.provider).wording.get(expected.address),
        headers={rule.name: rule for rule in expected.headers if _is_telling(rule, record)},
        event=stream.event if stream is not None else None,
        close=stream.close_code if stream is not None else None,
        grpc=stream.grpc_status if stream is not None else None,
        seen=seen,
        typed=bool(classification(record).type),
        endpoints=occurs_on(record),
        words=words,
    )


def _is_telling(rule: HeaderRule, record: Record) -> bool:
    """Whether a header tells errors apart. That the account is named tells none: whoever is known is named."""
    names_account = rule.name in manifest(record.provider).account_headers
    return rule.rule in ("absent", "equals") or (rule.rule == "present" and not names_account)


@cache
def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    return re.compile(pattern) if pattern else None


def _constant(schema: Json) -> tuple[Json, ...]:
    if not isinstance(schema, dict):
        return ()
    return (schema["const"],) if "const" in schema else tuple(schema.get("enum", ()))


def _conforming(expected: Expected, aspect: str, documented: Json) -> tuple[Json, ...]:
    stated = expected.assertions.get(str(AssertionKey(expected.label, aspect)))
    return (stated.alternatives if stated is not None else ()) or (documented,)


def _distinct(found: Iterable[AnswerPattern]) -> Iterator[AnswerPattern]:
    """Each look once: a record's causes are answered alike."""
    known: set[tuple[Json, ...]] = set()
    for each in found:
        look = (each.address, each.surface, each.statuses, str(each.wire), str(each.constants), each.grpc, each.close)
        if look not in known:
            known.add(look)
            yield each
