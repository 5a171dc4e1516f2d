"""Turn a record into expectations: for each label, what an exchange is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from catalog_probe.catalog.envelopes.envelope import WIRE_ASPECTS, Envelope, envelope
from catalog_probe.catalog.model import Json, Record
from catalog_probe.catalog.model.labels import (
    ANSWER,
    CONTINUE,
    LIMITED,
    MISSING_CREDENTIAL,
    STREAM,
    SUCCESS,
    WRONG_CREDENTIAL,
)
from catalog_probe.catalog.reading.error_records import STREAM_START_STATUS, documented_status
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.reading.headers import header_labels, header_rules, limit_header_rules, raw_header_rules
from catalog_probe.catalog.reading.relations import Relation, parse_relation, relations_of
from catalog_probe.catalog.reading.streams import parse_stream_rule, parse_streaming

CACHE_SIZE = 1024  # records; planning, judging, recognition and write-back ask for the same expectations

CONTINUE_STATUS = 100
"""The HTTP status that asks for a body which the request announced."""

Lookup = Callable[[str], Record]
"""Finds a record by its address."""


def expectations(record: Record, lookup: Lookup) -> tuple[Expected, ...]:
    """Return the expectations of a record; `lookup` finds the error records that an endpoint's rules name.

    Raises:
        KeyError: an address or a surface that the record names does not exist.
    """
    if record.kind == "endpoints":
        return tuple(_endpoint_expectations(record, lookup))
    if record.kind == "rate_limits":
        return (*_own_expectations(record), *_limit_rule_expectations(record, lookup))
    return _own_expectations(record)


def documented_labels(record: Record, lookup: Lookup) -> frozenset[str]:
    """Return the labels under which a record documents an answer.

    Raises:
        KeyError: an address or a surface that the record names does not exist.
    """
    return frozenset(expected.label for expected in expectations(record, lookup))


def rules_of(record: Record) -> tuple[Mapping[str, Json], ...]:
    """Return the rules for requests that an endpoint states, or the rules of a rate limit."""
    if record.kind == "errors":
        return ()
    parent = record.data if record.kind == "rate_limits" else record.data.get("request") or {}
    return tuple(parent.get("rules", ()))


def success_rule_labels(record: Record) -> frozenset[str]:
    """Return the labels of rules whose answer is a success; what a record says of `success` applies to them."""
    return frozenset(rule["label"] for rule in rules_of(record) if rule.get("answer") == SUCCESS)


def expectation(record: Record, label: str) -> Expected | None:
    """Return the expectation of a label that the record itself states, or None.

    An endpoint itself states only its success; error records state its refusals.
    """
    return next((expected for expected in _own_expectations(record) if expected.label == label), None)


@lru_cache(maxsize=CACHE_SIZE)
def documented_answers(record: Record) -> tuple[Expected, ...]:
    """Return the answers of an error record: one, or one for each status of a group."""
    statuses = documented_status(record).members
    if len(statuses) < 2:
        return (_error(record, ANSWER, *statuses),)
    return tuple(_error(record, str(status), status) for status in statuses)


@lru_cache(maxsize=CACHE_SIZE)
def _own_expectations(record: Record) -> tuple[Expected, ...]:
    match record.kind:
        case "errors":
            return _error_expectations(record)
        case "endpoints":
            return (_success(record, SUCCESS),)
        case _:
            return _rate_limit_expectations(record)


def _error_expectations(record: Record) -> tuple[Expected, ...]:
    """Return one expectation for each status of a group, or for each cause."""
    answers = documented_answers(record)
    causes = tuple(record.data.get("causes") or ())
    if len(answers) > 1 or not causes:
        return answers
    return tuple(
        replace(answers[0], label=cause, relations=(*answers[0].relations, *_cause_relations(record, cause, causes[0])))
        for cause in causes
    )


def _cause_relations(record: Record, cause: str, first_cause: str) -> Iterator[Relation]:
    yield from relations_of(record, cause)
    if record.data.get("same_body") and cause != first_cause:
        yield Relation("equals", of=(first_cause,), source="; ".join(record.sources))


def _error(record: Record, label: str, status: int | None = None) -> Expected:
    data = record.data
    surface = envelope(data["surface"])
    message_pattern = data.get("message_pattern") or {}
    stream = parse_stream_rule(data.get("stream"))
    return Expected(
        label=label,
        address=str(record.address),
        envelope=surface,
        status=STREAM_START_STATUS.get(stream.protocol) if stream is not None else status,
        body_status=status,
        status_class=documented_status(record).hundreds,
        wire={aspect: data.get(aspect) for aspect in WIRE_ASPECTS if aspect in surface.wire and aspect in data},
        message_pattern=message_pattern.get("pattern"),
        message_source=message_pattern.get("source", ""),
        headers=header_rules(data.get("response_headers")),
        fields=data.get("fields") or {},
        stream=stream,
        relations=(*_envelope_relations(surface), *relations_of(record, label)),
        failure=data.get("failure"),
        claimed_endpoints=tuple(data.get("endpoints") or ()),
    )


def _endpoint_expectations(record: Record, lookup: Lookup) -> Iterator[Expected]:
    """Yield the success, the refusals of missing and wrong credentials, the answer to each rule, and the stream."""
    yield from _own_expectations(record)
    auth = record.data.get("auth")
    for label, key in ((MISSING_CREDENTIAL, "missing"), (WRONG_CREDENTIAL, "wrong")):
        if isinstance(auth, dict) and auth.get(key):
            yield _refusal(lookup(auth[key]), label, record)
    for rule in rules_of(record):
        if rule["answer"] == SUCCESS:
            alternative = _refusal(lookup(rule["or"]), rule["label"], record) if "or" in rule else None
            yield replace(_success(record, rule["label"]), alternative=alternative)
        else:
            yield _other_rule_answer(record, rule, lookup)
    if parse_streaming(record.data.get("streaming")) is not None:
        yield _stream(record, record.data["streaming"])


def _other_rule_answer(record: Record, rule: Mapping[str, Json], lookup: Lookup) -> Expected:
    """Return the answer to a rule that is no success: 100 Continue, or the error that the rule names."""
    if rule["answer"] != CONTINUE:
        return _refusal(lookup(rule["answer"]), rule["label"], record)
    return Expected(
        label=rule["label"],
        address=str(record.address),
        envelope=envelope("any"),
        status=CONTINUE_STATUS,
        status_source=rule.get("source", ""),
        relations=relations_of(record, rule["label"]),
    )


def _refusal(error: Record, label: str, endpoint: Record) -> Expected:
    """Return an error record's answer, the first of a group, under a label of the endpoint that names it."""
    answer = documented_answers(error)[0]
    # Relations to other answers hold within the error's own probe, which sends those requests.
    own_relations = [relation for relation in answer.relations if not relation.of]
    return replace(answer, label=label, relations=(*own_relations, *relations_of(endpoint, label)))


_METHODS_WITHOUT_BODY = frozenset({"GET", "DELETE"})


def _envelope_relations(surface: Envelope, method: str = "") -> Iterator[Relation]:
    """Yield the relations of an envelope, without those to a request body if the method has none."""
    for entry in surface.relations:
        relation = parse_relation(entry)
        if method not in _METHODS_WITHOUT_BODY or not relation.other.startswith("ask/body"):
            yield relation


def _success(record: Record, label: str) -> Expected:
    response = record.data.get("response") or {}
    surface = envelope(response.get("surface") or record.data["surface"])
    method = str(record.data.get("method", ""))
    return Expected(
        label=label,
        address=str(record.address),
        envelope=surface,
        status=response.get("status"),
        headers=header_rules(response.get("headers")),
        fields=response.get("fields") or {},
        stream=parse_stream_rule(response.get("stream")),
        relations=(*_envelope_relations(surface, method), *relations_of(record, label)),
    )


def _stream(record: Record, streaming: Mapping[str, Json]) -> Expected:
    response = record.data.get("response") or {}
    surface = envelope(streaming.get("surface", "any"))
    return Expected(
        label=STREAM,
        address=str(record.address),
        envelope=surface,
        status=response.get("status", 200),
        headers=header_rules(response.get("headers")),
        stream=parse_streaming(streaming),
        relations=(*_envelope_relations(surface), *relations_of(record, STREAM)),
    )


def _rate_limit_expectations(record: Record) -> tuple[Expected, ...]:
    """Return one expectation for each label with a documented header, and always one for an ordinary answer."""
    rules = raw_header_rules(record.data.get("headers")).values()
    labels = dict.fromkeys([ANSWER, *(label for rule in rules for label in header_labels(rule))])
    return tuple(_limit_answer(record, label, status=429 if label == LIMITED else 200) for label in labels)


def _limit_rule_expectations(record: Record, lookup: Lookup) -> Iterator[Expected]:
    """Yield the answer to each rule of a rate-limit record: what a limit still allows, and what it refuses."""
    for rule in rules_of(record):
        if rule["answer"] == SUCCESS:
            yield _limit_answer(record, rule["label"], status=200, status_source=rule.get("source", ""))
        else:
            yield _other_rule_answer(record, rule, lookup)


def _limit_answer(record: Record, label: str, *, status: int, status_source: str = "") -> Expected:
    return Expected(
        label=label,
        address=str(record.address),
        envelope=envelope("any"),
        status=status,
        status_source=status_source,
        headers=limit_header_rules(record, label),
        relations=relations_of(record, label),
    )
