"""Turns a record into the expectations that an exchange of each label is compared with."""

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
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.reading.headers import header_labels, header_rules, limit_header_rules, raw_header_rules
from catalog_probe.catalog.reading.relations import Relation, parse_relation, relations_of
from catalog_probe.catalog.reading.statuses import STREAM_START_STATUS, documented_status
from catalog_probe.catalog.reading.streams import parse_stream_rule

CACHE_SIZE = 1024
"""Records whose expectations are kept: a run asks for them in planning, judging, recognition and write-back."""

CONTINUE_STATUS = 100
"""The HTTP status of a body that was announced and is wanted: nothing has come of the request yet."""

Lookup = Callable[[str], Record]
"""Finds the error record that an endpoint's rules name by its address."""


def expectations(record: Record, lookup: Lookup) -> tuple[Expected, ...]:
    """The expectations of a record by label; `lookup` finds the error records that an endpoint's rules name.

    Raises:
        KeyError: an address or a surface that the record names does not exist.
    """
    if record.kind == "endpoints":
        return tuple(_of_endpoint(record, lookup))
    if record.kind == "rate_limits":
        return (*_of_itself(record), *_of_limit_rules(record, lookup))
    return _of_itself(record)


def documented_labels(record: Record, lookup: Lookup) -> frozenset[str]:
    """The labels under which a record documents an answer.

    Raises:
        KeyError: an address or a surface that the record names does not exist.
    """
    return frozenset(expected.label for expected in expectations(record, lookup))


def rules_of(record: Record) -> tuple[Mapping[str, Json], ...]:
    """The rules that a record states: of an endpoint's requests, or of what a limit allows and what not."""
    holder = record.data if record.kind == "rate_limits" else record.data.get("request") or {}
    return tuple(holder.get("rules", ())) if record.kind != "errors" else ()


def success_rule_labels(record: Record) -> frozenset[str]:
    """The labels of the rules that allow something: what is said of `success` holds for each of them."""
    return frozenset(rule["label"] for rule in rules_of(record) if rule.get("answer") == SUCCESS)


def expectation(record: Record, label: str) -> Expected | None:
    """What the record itself states of the exchange with this label; of an endpoint, its success alone.

    None for any other label: an endpoint's refusals are stated by the error records that it names.
    """
    return next((each for each in _of_itself(record) if each.label == label), None)


@lru_cache(maxsize=CACHE_SIZE)
def documented_answers(record: Record) -> tuple[Expected, ...]:
    """The answers that an error record documents: one, or one for each member of its group of statuses."""
    status = documented_status(record)
    if len(status.members) < 2:
        return (_error(record, ANSWER, *status.members),)
    return tuple(_error(record, str(member), member) for member in status.members)


@lru_cache(maxsize=CACHE_SIZE)
def _of_itself(record: Record) -> tuple[Expected, ...]:
    match record.kind:
        case "errors":
            return _of_error(record)
        case "endpoints":
            return (_success(record, SUCCESS),)
        case _:
            return _of_rate_limits(record)


def _of_error(record: Record) -> tuple[Expected, ...]:
    """One for each member of its group, or for each of its causes."""
    answers = documented_answers(record)
    causes = tuple(record.data.get("causes") or ())
    if len(answers) > 1 or not causes:
        return answers
    same = causes[0] if record.data.get("same_body") else None
    return tuple(
        replace(
            answers[0],
            label=each,
            relations=(
                *answers[0].relations,
                *relations_of(record, each),
                *([Relation("equals", of=(same,), source="; ".join(record.sources))] if same and each != same else []),
            ),
        )
        for each in causes
    )


def _error(record: Record, label: str, status: int | None = None) -> Expected:
    data = record.data
    shape = envelope(data["surface"])
    wording = data.get("message_pattern") or {}
    stream = parse_stream_rule(data.get("stream"))
    return Expected(
        label=label,
        address=str(record.address),
        envelope=shape,
        status=STREAM_START_STATUS.get(stream.protocol) if stream is not None else status,
        told_status=status,
        status_class=documented_status(record).hundreds,
        wire={aspect: data.get(aspect) for aspect in WIRE_ASPECTS if aspect in shape.wire and aspect in data},
        message_pattern=wording.get("pattern"),
        message_source=wording.get("source", ""),
        headers=header_rules(data.get("response_headers")),
        fields=data.get("fields") or {},
        stream=stream,
        relations=(*_of_surface(shape), *relations_of(record, label)),
        failure=data.get("failure"),
        claimed=tuple(data.get("endpoints") or ()),
    )


def _of_endpoint(record: Record, lookup: Lookup) -> Iterator[Expected]:
    """Its success, the refusals of a missing and a wrong credential, the answer to each rule, and the stream."""
    data = record.data
    yield from _of_itself(record)
    auth = data.get("auth")
    for label, key in ((MISSING_CREDENTIAL, "missing"), (WRONG_CREDENTIAL, "wrong")):
        if isinstance(auth, dict) and auth.get(key):
            yield _refused(lookup(auth[key]), label, record)
    for rule in rules_of(record):
        if rule["answer"] == SUCCESS:
            yield replace(
                _success(record, rule["label"]),
                instead=_refused(lookup(rule["or"]), rule["label"], record) if "or" in rule else None,
            )
        elif rule["answer"] == CONTINUE:
            yield _asked_for(record, rule)
        else:
            yield _refused(lookup(rule["answer"]), rule["label"], record)
    if parse_stream_rule(data.get("streaming")) is not None:
        yield _streamed(record, data["streaming"])


def _refused(error: Record, label: str, endpoint: Record) -> Expected:
    """An error record's answer under a label of the endpoint that names it; the first of a group.

    What it must be to other answers of the error record's own probe is left out, for they are not made here.
    """
    answer = documented_answers(error)[0]
    alone = [each for each in answer.relations if not each.of]
    return replace(answer, label=label, relations=(*alone, *relations_of(endpoint, label)))


def _asked_for(record: Record, rule: Mapping[str, Json]) -> Expected:
    """The status by which a body that was announced is asked for, whatever else the answer holds."""
    return Expected(
        label=rule["label"],
        address=str(record.address),
        envelope=envelope("any"),
        status=CONTINUE_STATUS,
        status_source=rule.get("source", ""),
        relations=relations_of(record, rule["label"]),
    )


_WITHOUT_BODY = frozenset({"GET", "DELETE"})


def _of_surface(shape: Envelope, method: str = "") -> Iterator[Relation]:
    """What all answers of a surface are to their requests; a request without a body has nothing to hold them to."""
    made = map(parse_relation, shape.relations)
    return (each for each in made if method not in _WITHOUT_BODY or not each.other.startswith("ask/body"))


def _success(record: Record, label: str) -> Expected:
    response = record.data.get("response") or {}
    shape = envelope(response.get("surface") or record.data["surface"])
    return Expected(
        label=label,
        address=str(record.address),
        envelope=shape,
        status=response.get("status"),
        headers=header_rules(response.get("headers")),
        fields=response.get("fields") or {},
        stream=parse_stream_rule(response.get("stream")),
        relations=(*_of_surface(shape, str(record.data.get("method", ""))), *relations_of(record, label)),
    )


def _streamed(record: Record, streaming: Mapping[str, Json]) -> Expected:
    response = record.data.get("response") or {}
    shape = envelope(streaming.get("surface", "any"))
    return Expected(
        label=STREAM,
        address=str(record.address),
        envelope=shape,
        status=response.get("status", 200),
        headers=header_rules(response.get("headers")),
        stream=parse_stream_rule(streaming),
        relations=(*_of_surface(shape), *relations_of(record, STREAM)),
    )


def _of_rate_limits(record: Record) -> tuple[Expected, ...]:
    """One expectation for each label that a header is documented for; an ordinary answer is always looked at."""
    rules = raw_header_rules(record.data.get("headers")).values()
    labels = dict.fromkeys([ANSWER, *(label for rule in rules for label in header_labels(rule))])
    return tuple(
        Expected(
            label=label,
            address=str(record.address),
            envelope=envelope("any"),
            status=429 if label == LIMITED else 200,
            headers=limit_header_rules(record, label),
            relations=relations_of(record, label),
        )
        for label in labels
    )


def _of_limit_rules(record: Record, lookup: Lookup) -> Iterator[Expected]:
    """The answer to each rule of a rate-limit record: what a limit still allows, and what it refuses."""
    for rule in rules_of(record):
        if rule["answer"] == SUCCESS:
            yield Expected(
                label=rule["label"],
                address=str(record.address),
                envelope=envelope("any"),
                status=200,
                status_source=rule.get("source", ""),
                headers=limit_header_rules(record, rule["label"]),
                relations=relations_of(record, rule["label"]),
            )
        elif rule["answer"] == CONTINUE:
            yield _asked_for(record, rule)
        else:
            yield _refused(lookup(rule["answer"]), rule["label"], record)
