"""Turn a record into assertions: its statements, each with key and basis."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model.assertion import REQUEST_LABEL, Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.exchange import ANSWER, MISSING_CREDENTIAL, SUCCESS, WRONG_CREDENTIAL
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.observed import matched_keys, resolved_assumptions
from catalog_probe.catalog.reading.expectations import Lookup, expectations, success_rule_labels

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

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
    """Yield everything that is compared under one label, in the order of comparison.

    Example: a 429 with `"type": "rate_limit_error"` on surface `pa` -> `status`, `body` (its shape), and `type`.
    """
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
    if envelope.body != "any":  # of a body that the documents leave open, a record may still state single members
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
    """The fields of a record that annotate its assertions by their keys, in which `*` may stand for a part.

    Example: `"assumed": {"answer/status": "the documents name no status"}` is why that status is assumed.
    """

    def __init__(self, record: Record, error: Record | None = None) -> None:
        """Read the annotations of a record; those of the `error` that states the answer apply where it has none."""
        self._data = record.data
        self._success_labels = success_rule_labels(record)
        self._error_annotations = Annotations(error) if error is not None else None
        self._entries_by_field: dict[str, list[tuple[AssertionKey, Json]]] = {}

    def assumption(self, key: AssertionKey) -> str:
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
        """Return the value of the first entry for a key, in the order of the record.

        Example: `{"success/*": "a", "top_k_low/status": "b"}` -> for the key `top_k_low/status`, `a` if the answer to
        the rule `top_k_low` is a success, else `b`.
        """
        value = next((value for pattern, value in self._entries(field) if pattern.covers(key)), None)
        if not value and self._error_annotations is not None:
            # The error's own record states the answer under another label.
            return self._error_annotations._find(field, AssertionKey(ANSWER, key.aspect, key.location))
        return value

    def _entries(self, field: str) -> list[tuple[AssertionKey, Json]]:
        """Return the parsed keys of a field with their values; every statement of the record looks them up."""
        if field not in self._entries_by_field:
            entries: Mapping[str, Json] = self._data.get(field) or {}
            self._entries_by_field[field] = [
                (key, value) for text, value in entries.items() for key in self._keys_of(AssertionKey.parse(text))
            ]
        return self._entries_by_field[field]

    def _keys_of(self, written: AssertionKey) -> Iterator[AssertionKey]:
        """Yield a key as written; one of `success` also for each rule whose answer is a success."""
        yield written
        if written.label == SUCCESS:
            yield from (AssertionKey(label, written.aspect, written.location) for label in self._success_labels)


def assumed_keys(record: Record) -> tuple[AssertionKey, ...]:
    """Return the keys of `assumed`, some with a `*`, e.g. `answer/*`; a key that cannot be parsed is skipped."""
    keys = []
    for text in record.data.get("assumed") or ():
        with suppress(ValueError):
            keys.append(AssertionKey.parse(text))
    return tuple(keys)


def request_assumptions(record: Record) -> Mapping[AssertionKey, str]:
    """Return what is assumed of the request, each key with its reason.

    Example: `{"ask/path": "no document shows it", "answer/status": "…"}` -> only `ask/path`.
    """
    reasons = {AssertionKey.parse(text): str(reason) for text, reason in (record.data.get("assumed") or {}).items()}
    return {key: reason for key, reason in reasons.items() if key.label == REQUEST_LABEL}


TRIGGER = "trigger"
"""The aspect of an assumption about which request provokes an error: `ask/trigger`."""

ANOTHER_REVISION = str(ReasonCode.ANOTHER_REVISION)
"""Why an assertion is out of reach that does not hold under the default revision."""


def assertions(record: Record, lookup: Lookup) -> tuple[Assertion, ...]:
    """Return everything that a record asserts of answers, by label in the order of comparison.

    Example: `pa/errors/general/rate_limit` -> `answer/status` 429, `answer/type` `rate_limit_error`, and so on.

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
    pairs = [(expected, _assert_label(record, expected, lookup)) for expected in expectations(record, lookup)]
    every_assertion = [assertion for _, label_assertions in pairs for assertion in label_assertions]
    # Evidence names all statements of a record together, so they are collected before it is read.
    resolved = resolved_assumptions(record, every_assertion)
    matched = matched_keys(record, every_assertion)
    is_documented = any(assertion.basis is Basis.DOCUMENTED for assertion in every_assertion)
    return tuple(
        replace(
            expected,
            assertions=_by_key(_fill_in_evidence(assertion, resolved, matched) for assertion in label_assertions),
            request_assumptions=_request_assumptions_of_label(record, expected, lookup),
            is_documented=is_documented,
            alternative=_assert_alternative(record, expected.alternative, lookup),
        )
        for expected, label_assertions in pairs
    )


def _assert_alternative(record: Record, alternative: Expected | None, lookup: Lookup) -> Expected | None:
    if alternative is None:
        return None
    return replace(alternative, assertions=_by_key(_assert_label(record, alternative, lookup)))


def _by_key(label_assertions: Iterable[Assertion]) -> dict[str, Assertion]:
    return {str(assertion.key): assertion for assertion in label_assertions}


def _fill_in_evidence(
    assertion: Assertion, resolved: Mapping[str, ResolvedAssumption], matched: Container[str]
) -> Assertion:
    key = str(assertion.key)
    resolution = resolved.get(key)
    if resolution is None and key not in matched:
        return assertion
    observed = str(resolution.observed) if resolution is not None else ""
    return replace(assertion, resolved=observed, has_matched=key in matched)


def _request_assumptions_of_label(record: Record, expected: Expected, lookup: Lookup) -> dict[str, str]:
    """Return what is assumed of the requests of one label, by key without `ask/`.

    A trigger may be assumed for one label alone: `ask/trigger:LABEL`.
    """
    reasons = dict(request_assumptions(record))
    # An endpoint says only which error a bad credential gets. The error's record says what provokes it. A rule of an
    # endpoint says that itself.
    if expected.label in (MISSING_CREDENTIAL, WRONG_CREDENTIAL):
        error_reasons = request_assumptions(lookup(expected.address))
        reasons |= {key: reason for key, reason in error_reasons.items() if key.aspect == TRIGGER}
    return {
        TRIGGER if key.aspect == TRIGGER else key.local_key: reason
        for key, reason in reasons.items()
        if key.aspect != TRIGGER or key.location in ("", expected.label)
    }


def _assert_label(record: Record, expected: Expected, lookup: Lookup) -> list[Assertion]:
    """Return the assertions of one label."""
    error = lookup(expected.address) if expected.address != str(record.address) else None
    annotations = Annotations(record, error)
    sources = "; ".join((error or record).sources)
    return [_make_assertion(record, annotations, expected, statement, sources) for statement in statements(expected)]


def _make_assertion(
    record: Record, annotations: Annotations, expected: Expected, statement: Statement, sources: str
) -> Assertion:
    key = AssertionKey(expected.label, statement.aspect, statement.location)
    assumed_by_record = annotations.assumption(key)
    assumed = assumed_by_record or _find_assumption_of_envelope(expected, key)
    since, until = annotations.revision("since", key), annotations.revision("until", key)
    return Assertion(
        address=str(record.address),
        key=key,
        documented=statement.documented,
        basis=Basis.ASSUMED if assumed else Basis.DOCUMENTED,
        source=_find_source(statement, annotations.source(key) or sources, is_assumed=bool(assumed)),
        assumed=assumed,
        alternatives=annotations.alternatives(key) or _statuses_of_either_answer(expected, key),
        out_of_reach=annotations.out_of_reach(key) or _reason_not_in_force(record, since, until),
        since=since,
        until=until,
        from_envelope=bool(assumed and key.location) and not assumed_by_record,
        optional=statement.optional,
        depends_on=annotations.depends_on(expected.label),
        compared_labels=statement.compared_labels,
    )


def _reason_not_in_force(record: Record, since: str, until: str) -> str:
    """Return why nobody observes what does not hold under the default revision, or an empty string."""
    revisions = manifest(record.provider).revisions if since or until else None
    if revisions is None or revisions.is_in_force(since, until, revisions.default):
        return ""
    return ANOTHER_REVISION


def _find_assumption_of_envelope(expected: Expected, key: AssertionKey) -> str:
    """Return why the envelope assumes the shape, a member, or the location of a relation; else an empty string.

    Example: `"x-assumed": {"/request_id": "no document shows it"}` is the reason for the key `answer/body:/request_id`,
    unless the record states that member in `fields`.
    """
    if key.aspect == "relation":
        locations = (relation.at for relation in expected.relations if relation.key_location == key.location)
        return expected.envelope.assumed.get(next(filter(None, locations), "/"), "")
    if key.aspect != "body" or key.location in expected.fields:
        return ""
    return expected.envelope.assumed.get(key.location, "")


def _find_source(statement: Statement, sources: str, *, is_assumed: bool) -> str:
    """Return the rows of a statement, by default those that the record gives. An assumed relation keeps its own row."""
    if statement.aspect == "relation":
        return statement.source
    return "" if is_assumed else statement.source or sources


def _statuses_of_either_answer(expected: Expected, key: AssertionKey) -> tuple[Json, ...]:
    """Return the statuses of a success and of the refusal that conforms too (`or` of a rule), e.g. `(200, 400)`."""
    if expected.alternative is None or key.local_key != "status":
        return ()
    return expected.status, expected.alternative.status
