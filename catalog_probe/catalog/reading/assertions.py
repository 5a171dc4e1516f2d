"""Turn a record into assertions: its statements, each with key and basis."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model.assertion import REQUEST_LABEL, WILDCARD, Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.exchange import ANSWER, MISSING_CREDENTIAL, SUCCESS, WRONG_CREDENTIAL
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.observed import resolved_assumptions
from catalog_probe.catalog.reading.expectations import Lookup, expectations, success_rule_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.observed import ResolvedAssumption
    from catalog_probe.catalog.reading.expectations import Expected, StreamRule


class Statement(NamedTuple):
    """One thing that is compared with an answer: aspect and location of its key, and the stated value."""

    aspect: str
    location: str
    documented: Json
    source: str = ""
    """The rows that say it, if they are not those of the whole record."""
    optional: bool = False
    """Whether its subject may be absent."""
    compared_labels: tuple[str, ...] = ()
    """Labels of the other exchanges whose values it is compared with."""


def statements(expected: Expected) -> Iterator[Statement]:
    """Yield everything that is compared under one label."""
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
        yield from _stream_statements(expected.stream)
    if expected.stream is None or expected.stream.event is not None:
        yield from _body_statements(expected)
    for relation in expected.relations:
        yield Statement(
            "relation", relation.key_location, relation.description, relation.source, compared_labels=relation.of
        )


def _body_statements(expected: Expected) -> Iterator[Statement]:
    envelope = expected.envelope
    if envelope.body != "any":
        yield Statement("body", "", envelope.name, "; ".join(envelope.sources))
    if envelope.body == "empty":
        return
    if envelope.body != "any":
        for aspect, documented in expected.wire.items():
            yield Statement(aspect, "", documented)
        status_pointer = envelope.wire.get("http_status")
        if status_pointer is not None and (expected.body_status or 0) >= 400:
            yield Statement("status", status_pointer, expected.body_status)
        if expected.message_pattern is not None and "message" in envelope.wire:
            yield Statement("message", "", expected.message_pattern, expected.message_source)
        for pointer in expected.assumed_members:
            yield Statement("body", pointer, "present")
    for pointer, schema in expected.fields.items():
        yield Statement("body", pointer, "absent" if schema is False else schema)


def _stream_statements(rule: StreamRule) -> Iterator[Statement]:
    if rule.protocol == "grpc":
        if rule.grpc_status is not None:
            yield Statement("grpc", "", rule.grpc_status)
        return
    yield Statement("event", "", rule.protocol)
    events = list(dict.fromkeys([*rule.events, *([rule.event] if rule.event else [])]))
    for event in events:
        yield Statement("event", event, event)
    if len(events) > 1:
        yield Statement("order", "", events)
    if rule.terminal is not None:
        yield Statement("order", "last", rule.terminal)
    if rule.close_code is not None:
        yield Statement("close", "code", list(rule.close_code))
    if rule.close_clean:
        yield Statement("close", "clean", True)
    if rule.close_reason:
        yield Statement("close", "reason", "a reason")


class Annotations:
    """The fields of one record that annotate its assertions by their keys, in which `*` may stand for a part."""

    def __init__(self, record: Record) -> None:
        self._data = record.data
        self._success_labels = success_rule_labels(record)
        self._parsed_fields: dict[str, _Field] = {}

    def assumed(self, key: AssertionKey) -> str:
        """Return why an assertion is assumed, or an empty string."""
        return str(self._find("assumed", key) or "")

    def source(self, key: AssertionKey) -> str:
        """Return the rows that state an assertion if the record names them for it, or an empty string."""
        return str(self._find("sources_of", key) or "")

    def out_of_reach(self, key: AssertionKey) -> str:
        """Return why no client can cause it, or an empty string."""
        return str(self._find("out_of_reach", key) or "")

    def alternatives(self, key: AssertionKey) -> tuple[Json, ...]:
        """Return all values that conform, if the documents allow several."""
        entry = self._find("alternatives", key)
        return tuple(entry["values"]) if entry else ()

    def revision(self, field: str, key: AssertionKey) -> str:
        """Return the revision that `since` or `until` names for an assertion, or an empty string."""
        entry = self._find(field, key)
        return str(entry["revision"]) if entry else ""

    def depends_on(self, label: str) -> tuple[str, ...]:
        """Return the labels that must have matched before this one means anything."""
        return tuple((self._data.get("depends") or {}).get(label, ()))

    def _find(self, field: str, key: AssertionKey) -> Json:
        """Return the value of the first entry for a key; `success` also covers each rule whose answer is a success."""
        if not self._data.get(field):
            return None
        if field not in self._parsed_fields:  # every statement of the record looks it up
            self._parsed_fields[field] = _Field(self._data[field])
        parsed_field = self._parsed_fields[field]
        match = parsed_field.first_match(key)
        if key.label in self._success_labels:
            success_key = AssertionKey(SUCCESS, key.aspect, key.location)
            match = min(match, parsed_field.first_match(success_key), key=itemgetter(0))
        return match[1]


class _Field:
    """One field, with exact keys in a dictionary because most entries have no `*`."""

    NO_MATCH = (sys.maxsize, None)

    def __init__(self, entries: Mapping[str, Json]) -> None:
        self._exact: dict[AssertionKey, tuple[int, Json]] = {}
        self._patterns: list[tuple[AssertionKey, tuple[int, Json]]] = []
        for position, (text, value) in enumerate(entries.items()):
            key = AssertionKey.parse(text)
            if WILDCARD in (key.label, key.aspect):
                self._patterns.append((key, (position, value)))
            else:
                self._exact[key] = (position, value)

    def first_match(self, key: AssertionKey) -> tuple[int, Json]:
        """Return position and value of the first entry whose key covers this one."""
        by_pattern = next((entry for pattern, entry in self._patterns if pattern.covers(key)), self.NO_MATCH)
        return min(by_pattern, self._exact.get(key, self.NO_MATCH), key=itemgetter(0))


def assumed_keys(record: Record) -> tuple[AssertionKey, ...]:
    """Return the keys of `assumed`, some with a `*`; a key that cannot be parsed is skipped."""
    keys = []
    for text in record.data.get("assumed") or ():
        with suppress(ValueError):
            keys.append(AssertionKey.parse(text))
    return tuple(keys)


def request_assumptions(record: Record) -> Mapping[AssertionKey, str]:
    """Return what is assumed of the request (`ask/path`, `ask/header:…`, `ask/body:…`), each with its reason."""
    reasons = {AssertionKey.parse(text): str(reason) for text, reason in (record.data.get("assumed") or {}).items()}
    return {key: reason for key, reason in reasons.items() if key.label == REQUEST_LABEL}


TRIGGER = "trigger"
"""The aspect of an assumption about which request provokes an error: `ask/trigger`."""

ANOTHER_REVISION = str(ReasonCode.ANOTHER_REVISION)
"""Why an assertion is out of reach that does not hold under the default revision."""


def assertions(record: Record, lookup: Lookup) -> tuple[Assertion, ...]:
    """Return everything that a record asserts of answers, by label in the order of comparison.

    Raises:
        KeyError: an address or a surface that the record names does not exist.
    """
    return tuple(
        assertion for expected in asserted_expectations(record, lookup) for assertion in expected.assertions.values()
    )


def asserted_expectations(record: Record, lookup: Lookup) -> tuple[Expected, ...]:
    """Return the expectations of a record by label, with their assertions filled in.

    Raises:
        KeyError: an address or a surface that the record names does not exist.
    """
    own = Annotations(record)
    # Evidence names all statements of a record together, so they are collected before it is read.
    pairs = [
        (expected, tuple(_assertions_of_label(record, own, expected, lookup)))
        for expected in expectations(record, lookup)
    ]
    every_assertion = [assertion for _, label_assertions in pairs for assertion in label_assertions]
    resolved = resolved_assumptions(record, every_assertion)
    is_documented = any(assertion.basis is Basis.DOCUMENTED for assertion in every_assertion)
    result = []
    for expected, label_assertions in pairs:
        alternative = expected.alternative
        if alternative is not None:
            alternative_assertions = _assertions_of_label(record, own, alternative, lookup)
            alternative = replace(alternative, assertions=_by_key(alternative_assertions))
        result.append(
            replace(
                expected,
                assertions=_by_key(_fill_in_resolved(assertion, resolved) for assertion in label_assertions),
                request_assumptions=_request_assumptions_of_label(record, expected, lookup),
                is_documented=is_documented,
                alternative=alternative,
            )
        )
    return tuple(result)


def _by_key(label_assertions: Iterable[Assertion]) -> dict[str, Assertion]:
    return {str(assertion.key): assertion for assertion in label_assertions}


def _fill_in_resolved(assertion: Assertion, resolved: Mapping[str, ResolvedAssumption]) -> Assertion:
    resolution = resolved.get(str(assertion.key)) if resolved else None
    return replace(assertion, resolved=str(resolution.observed)) if resolution is not None else assertion


def _request_assumptions_of_label(record: Record, expected: Expected, lookup: Lookup) -> dict[str, str]:
    """Return what is assumed of the requests of one label, by key without `ask/`.

    A trigger may be assumed for one label alone (`ask/trigger:LABEL`). An endpoint says only which error a bad
    credential gets, so the trigger that this error assumes applies. Its rules say themselves what provokes their error.
    """
    reasons = dict(request_assumptions(record))
    if expected.label in (MISSING_CREDENTIAL, WRONG_CREDENTIAL):
        error_reasons = request_assumptions(lookup(expected.address))
        reasons |= {key: reason for key, reason in error_reasons.items() if key.aspect == TRIGGER}
    return {
        TRIGGER if key.aspect == TRIGGER else key.local_key: reason
        for key, reason in reasons.items()
        if key.aspect != TRIGGER or key.location in ("", expected.label)
    }


def _assertions_of_label(record: Record, own: Annotations, expected: Expected, lookup: Lookup) -> Iterator[Assertion]:
    # The answer to a broken rule is stated by an error record, whose annotations apply too.
    error = lookup(expected.address) if expected.address != str(record.address) else None
    error_annotations = Annotations(error) if error is not None else None
    sources = "; ".join((error or record).sources)
    depends_on = own.depends_on(expected.label)
    for statement in statements(expected):
        key = AssertionKey(expected.label, statement.aspect, statement.location)
        assumed_by_record, out_of_reach, alternatives = own.assumed(key), own.out_of_reach(key), own.alternatives(key)
        source = own.source(key)
        if error_annotations is not None:
            error_key = AssertionKey(ANSWER, key.aspect, key.location)
            source = source or error_annotations.source(error_key)
            assumed_by_record = assumed_by_record or error_annotations.assumed(error_key)
            out_of_reach = out_of_reach or error_annotations.out_of_reach(error_key)
            alternatives = alternatives or error_annotations.alternatives(error_key)
        else:
            alternatives = alternatives or _statuses_of_either_answer(expected, key)
        assumed = assumed_by_record or _assumed_by_envelope(expected, key)
        since, until = own.revision("since", key), own.revision("until", key)
        yield Assertion(
            address=str(record.address),
            key=key,
            documented=statement.documented,
            basis=Basis.ASSUMED if assumed else Basis.DOCUMENTED,
            source=_source(statement, source or sources, is_assumed=bool(assumed)),
            assumed=assumed,
            alternatives=alternatives,
            out_of_reach=out_of_reach or _reason_not_in_force(record, since, until),
            since=since,
            until=until,
            from_envelope=bool(assumed and key.location) and not assumed_by_record,
            optional=statement.optional,
            depends_on=depends_on,
            compared_labels=statement.compared_labels,
        )


def _reason_not_in_force(record: Record, since: str, until: str) -> str:
    """Return why nobody observes what does not hold under the default revision, or an empty string."""
    revisions = manifest(record.provider).revisions if since or until else None
    if revisions is None or revisions.is_in_force(since, until, revisions.default):
        return ""
    return ANOTHER_REVISION


def _assumed_by_envelope(expected: Expected, key: AssertionKey) -> str:
    """Return why the envelope assumes the shape, a member, or the location of a relation; else an empty string."""
    if key.aspect == "relation":
        locations = (relation.at for relation in expected.relations if relation.key_location == key.location)
        return expected.envelope.assumed.get(next(filter(None, locations), "/"), "")
    if key.aspect != "body" or key.location in expected.fields:
        return ""
    return expected.envelope.assumed.get(key.location, "")


def _source(statement: Statement, sources: str, *, is_assumed: bool) -> str:
    """Return the rows of a statement, by default those that the record gives. An assumed relation keeps its own row."""
    if statement.aspect == "relation":
        return statement.source
    return "" if is_assumed else statement.source or sources


def _statuses_of_either_answer(expected: Expected, key: AssertionKey) -> tuple[Json, ...]:
    """Return the statuses of a success and of the refusal that conforms too (`or` of a rule)."""
    if expected.alternative is None or key.local_key != "status":
        return ()
    return expected.status, expected.alternative.status
