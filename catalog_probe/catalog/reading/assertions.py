"""What a record asserts, one thing at a time, each with its basis: the unit in which evidence is kept."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model.assertion import REQUEST_LABEL, WILDCARD, Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import ANSWER, MISSING_CREDENTIAL, SUCCESS, WRONG_CREDENTIAL
from catalog_probe.catalog.observed.cells import resolved_assumptions
from catalog_probe.catalog.reading.expectations import Lookup, expectations, success_rule_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.observed.cells import Resolved
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.reading.streams import StreamRule


class Statement(NamedTuple):
    """One thing that is compared with an answer: the aspect and place of its key, and what is stated."""

    aspect: str
    place: str
    documented: Json
    source: str = ""
    """Where it is said, if that is more than the sources of the whole record."""
    optional: bool = False
    """Whether nothing is missing where it is not there."""
    others: tuple[str, ...] = ()
    """Labels of the exchanges with whose values it is compared."""


TRIGGER = "trigger"
"""The aspect of `ask` under which it is assumed which request provokes an error."""

ANOTHER_REVISION = str(ReasonCode.ANOTHER_REVISION)
"""Why an assertion is out of reach that holds under another revision than the usual one, or is not seen under one."""


def assertions(record: Record, lookup: Lookup) -> tuple[Assertion, ...]:
    """Everything that a record asserts of answers, by label in the order in which they are compared.

    Raises:
        KeyError: an address or a surface that the record names does not exist.
    """
    return tuple(each for expected in asserted_expectations(record, lookup) for each in expected.assertions.values())


def asserted_expectations(record: Record, lookup: Lookup) -> tuple[Expected, ...]:
    """The expectations of a record by label, each with the assertions that it makes and their basis.

    Raises:
        KeyError: an address or a surface that the record names does not exist.
    """
    own = _Told.of(record)
    found = [(each, tuple(_assertions(record, own, each, lookup))) for each in expectations(record, lookup)]
    every = [each for _, made in found for each in made]
    resolved = resolved_assumptions(record, every)
    is_documented = any(each.basis is Basis.DOCUMENTED for each in every)
    return tuple(
        replace(
            expected,
            assertions=_by_key(_with_what_they_turned_out_to_be(made, resolved)),
            asked=_asked_under(record, expected, lookup),
            is_documented=is_documented,
            instead=_with_its_assertions(record, own, expected.instead, lookup),
        )
        for expected, made in found
    )


def _asked_under(record: Record, expected: Expected, lookup: Lookup) -> dict[str, str]:
    """What is assumed of the requests of one label. A trigger may be assumed of one label alone (`ask/trigger:LABEL`).

    An endpoint states of a bad credential no more than which error it gets, so that error's trigger is assumed there.
    Its rules say themselves what provokes the error that they name.
    """
    assumed = dict(request_assumptions(record))
    if expected.label in (MISSING_CREDENTIAL, WRONG_CREDENTIAL):
        error = request_assumptions(lookup(expected.address))
        assumed |= {key: reason for key, reason in error.items() if key.aspect == TRIGGER}
    return {
        TRIGGER if key.aspect == TRIGGER else key.local_key: reason
        for key, reason in assumed.items()
        if key.aspect != TRIGGER or key.location in ("", expected.label)
    }


def _with_its_assertions(record: Record, own: _Told, instead: Expected | None, lookup: Lookup) -> Expected | None:
    if instead is None:
        return None
    return replace(instead, assertions=_by_key(_assertions(record, own, instead, lookup)))


def _by_key(made: Iterable[Assertion]) -> dict[str, Assertion]:
    return {str(each.key): each for each in made}


def _with_what_they_turned_out_to_be(
    made: Iterable[Assertion], resolved: Mapping[str, Resolved]
) -> Iterable[Assertion]:
    if not resolved:
        return made
    known = ((each, resolved.get(str(each.key))) for each in made)
    return (replace(each, resolved=str(was.observed)) if was is not None else each for each, was in known)


def _assertions(record: Record, own: _Told, expected: Expected, lookup: Lookup) -> Iterator[Assertion]:
    # a rule's violation gets an error that has a record, and a basis, of its own
    error = lookup(expected.address) if expected.address != str(record.address) else None
    its = _Told.of(error) if error is not None else None
    sources = "; ".join((error or record).sources)
    address, depends = str(record.address), own.depends(expected.label)
    for statement in statements(expected):
        key = AssertionKey(expected.label, statement.aspect, statement.place)
        its_key = AssertionKey(ANSWER, key.aspect, key.location)
        of_record = own.assumed(key) or (its.assumed(its_key) if its is not None else "")
        assumed = of_record or _assumed_of_its_surface(expected, key)
        since, until = own.revision("since", key), own.revision("until", key)
        yield Assertion(
            address=address,
            key=key,
            documented=statement.documented,
            basis=Basis.ASSUMED if assumed else Basis.DOCUMENTED,
            source=_source(statement, sources, is_assumed=bool(assumed)),
            assumed=assumed,
            alternatives=own.alternatives(key)
            or (its.alternatives(its_key) if its is not None else _left_to_the_account(expected, key)),
            out_of_reach=own.out_of_reach(key)
            or (its.out_of_reach(its_key) if its is not None else "")
            or _not_usual(record, since, until),
            since=since,
            until=until,
            from_envelope=bool(assumed and key.location) and not of_record,
            optional=statement.optional,
            depends_on=depends,
            compared_labels=statement.others,
        )


def _not_usual(record: Record, since: str, until: str) -> str:
    """Why no night sees what holds under other revisions than the usual one; empty of all else."""
    known = manifest(record.provider).revisions if since or until else None
    return "" if known is None or known.is_in_force(since, until, known.default) else ANOTHER_REVISION


def _assumed_of_its_surface(expected: Expected, key: AssertionKey) -> str:
    """Why the envelope has the whole shape, this member, or the place of a relation, though the documents show none."""
    place = key.location
    if key.aspect == "relation":
        place = next((each.at for each in expected.relations if each.place == key.location and each.at), "/")
    elif key.aspect != "body" or place in expected.fields:
        return ""
    return expected.envelope.assumed.get(place, "")


def _source(statement: Statement, sources: str, *, is_assumed: bool) -> str:
    """The rows that say it: its own, else the record's. A relation has its own alone, though its place be assumed."""
    if statement.aspect == "relation":
        return statement.source
    return "" if is_assumed else statement.source or sources


def _left_to_the_account(expected: Expected, key: AssertionKey) -> tuple[Json, ...]:
    """The statuses of a success and of the refusal that conforms in its place."""
    if expected.instead is None or key.local_key != "status":
        return ()
    return expected.status, expected.instead.status


def statements(expected: Expected) -> Iterator[Statement]:
    """Everything that is compared under one label."""
    if expected.failure is not None:
        yield Statement("state", "", expected.failure)
        return
    if expected.status is not None:
        yield Statement("status", "", expected.status, expected.status_source)
    elif expected.status_class is not None:
        yield Statement("status", "", f"{expected.status_class}xx")
    for rule in expected.headers:
        yield Statement("header", rule.name, rule.value or rule.format or rule.rule, rule.source, rule.optional)
    if expected.stream is not None:
        yield from _of_stream(expected.stream)
    if expected.stream is None or expected.stream.event is not None:
        yield from _of_body(expected)
    for relation in expected.relations:
        yield Statement("relation", relation.place, relation.words, relation.source, others=relation.of)


def _of_body(expected: Expected) -> Iterator[Statement]:
    envelope = expected.envelope
    if envelope.body != "any":
        yield Statement("body", "", envelope.name, "; ".join(envelope.sources))
    if envelope.body == "empty":
        return
    if envelope.body != "any":
        for aspect, documented in expected.wire.items():
            yield Statement(aspect, "", documented)
        told = envelope.wire.get("http_status")
        if told is not None and (expected.told_status or 0) >= 400:
            yield Statement("status", told, expected.told_status)
        if expected.message_pattern is not None and "message" in envelope.wire:
            yield Statement("message", "", expected.message_pattern, expected.message_source)
        yield from (Statement("body", pointer, "present") for pointer in expected.members)
    for pointer, schema in expected.fields.items():
        yield Statement("body", pointer, "absent" if schema is False else schema)


def _of_stream(rule: StreamRule) -> Iterator[Statement]:
    if rule.protocol == "grpc":
        if rule.grpc_status is not None:
            yield Statement("grpc", "", rule.grpc_status)
        return
    yield Statement("event", "", rule.protocol)
    named = dict.fromkeys([*rule.events, *([rule.event] if rule.event else [])])
    yield from (Statement("event", name, name) for name in named)
    if len(named) > 1:
        yield Statement("order", "", list(named))
    if rule.terminal is not None:
        yield Statement("order", "last", rule.terminal)
    if rule.close_code is not None:
        yield Statement("close", "code", list(rule.close_code))
    if rule.close_clean:
        yield Statement("close", "clean", True)
    if rule.close_reason:
        yield Statement("close", "reason", "a reason")


class _Told:
    """What a record says of its own assertions."""

    def __init__(self, data: Mapping[str, Json], labels_of_success: frozenset[str]) -> None:
        self._data = data
        self._success = labels_of_success
        self._said: dict[str, _Said] = {}
        """The fields that speak of assertions, each read once: every statement of the record asks for it."""

    @classmethod
    def of(cls, record: Record) -> _Told:
        return cls(record.data, success_rule_labels(record))

    def assumed(self, key: AssertionKey) -> str:
        return str(self._find("assumed", key) or "")

    def out_of_reach(self, key: AssertionKey) -> str:
        return str(self._find("out_of_reach", key) or "")

    def alternatives(self, key: AssertionKey) -> tuple[Json, ...]:
        found = self._find("alternatives", key)
        return tuple(found["values"]) if found else ()

    def revision(self, field: str, key: AssertionKey) -> str:
        """Of `since` or `until`, the revision that is said of an assertion; else nothing."""
        found = self._find(field, key)
        return str(found["revision"]) if found else ""

    def depends(self, label: str) -> tuple[str, ...]:
        return tuple((self._data.get("depends") or {}).get(label, ()))

    def _find(self, field: str, key: AssertionKey) -> Json:
        """What the field says of an assertion. What it says of `success` holds for each rule that allows something."""
        written = self._data.get(field)
        if not written:
            return None
        if field not in self._said:
            self._said[field] = _Said(written)
        found = self._said[field].of(key)
        if key.label in self._success:
            found = min(found, self._said[field].of(AssertionKey(SUCCESS, key.aspect, key.location)), key=itemgetter(0))
        return found[1]


class _Said:
    """What one field says of assertions by their keys, some with a `*`; of two that name one, the first counts."""

    NOTHING = (sys.maxsize, None)

    def __init__(self, written: Mapping[str, Json]) -> None:
        keys = [(at, AssertionKey.parse(text), value) for at, (text, value) in enumerate(written.items())]
        self._exact = {key: (at, value) for at, key, value in keys if WILDCARD not in (key.label, key.aspect)}
        self._wide = [(key, (at, value)) for at, key, value in keys if WILDCARD in (key.label, key.aspect)]

    def of(self, key: AssertionKey) -> tuple[int, Json]:
        """What it says of an assertion, after the place at which it says so."""
        wide = next((said for pattern, said in self._wide if pattern.covers(key)), self.NOTHING)
        return min(wide, self._exact.get(key, self.NOTHING), key=itemgetter(0))


def assumed_keys(record: Record) -> tuple[AssertionKey, ...]:
    """The keys, some with a `*`, of what the record says it assumes; what is written in another way asserts nothing."""
    return tuple(_keys(record.data.get("assumed") or ()))


def _keys(written: Iterable[str]) -> Iterator[AssertionKey]:
    for each in written:
        with suppress(ValueError):
            yield AssertionKey.parse(each)


def request_assumptions(record: Record) -> Mapping[AssertionKey, str]:
    """What is assumed of the request (`ask/path`, `ask/header:…`, `ask/body:…`), each with its reason."""
    said = ((AssertionKey.parse(text), str(reason)) for text, reason in (record.data.get("assumed") or {}).items())
    return {key: reason for key, reason in said if key.label == REQUEST_LABEL}
