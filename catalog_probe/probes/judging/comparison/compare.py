"""Compares an exchange with what is documented of it: the differences, and what no document names. Pure.

`compare` looks at one part of the answer after the other: status, headers, stream, body, relations. Each difference is
a finding; `basis` decides afterwards which of them are drift. `find_undocumented` notes what no record names.

Some headers belong together, such as limit, remaining and reset of one rate limit. Which ones is data of the rate-limit
record: its rules name a family and a part.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.envelopes import unwrap, wire_values
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Aspect, Event, Exchange, Finding, Json, Response, Severity
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.reading import response_headers
from catalog_probe.catalog.reading.expectations import Expected, answer_body
from catalog_probe.catalog.recognition.vocabulary import ORDINARY_HEADERS, ProviderVocabulary
from catalog_probe.catalog.text.json_values import ABSENT, find_value, find_values, iterate_repeated_members
from catalog_probe.probes.judging.comparison.findings import abbreviate, is_short, mismatch
from catalog_probe.probes.judging.comparison.locations import (
    find_renamed_value,
    is_nowhere,
    is_valid,
    is_within_empty_list,
    nearest_error,
    validator,
)
from catalog_probe.probes.judging.comparison.relations import NO_OTHER_ANSWERS, OtherAnswers, find_broken_relations

if TYPE_CHECKING:
    from catalog_probe.catalog.reading.expectations import StreamRule
    from catalog_probe.catalog.reading.response_headers import HeaderRule


# Part -> the rule of its header.
HeaderFamily = Mapping[str, "HeaderRule"]


class HeaderContradiction(NamedTuple):
    """How one header contradicts the others of its family, e.g. 5001 remaining of the limit 5000."""

    code: FindingCode
    header: str
    documented: str
    observed: str


def find_contradictions(rules: Sequence[HeaderRule], headers: Mapping[str, str]) -> Iterator[HeaderContradiction]:
    """Yield every contradiction among the headers that these rules name."""
    for family in _group_families(rules):
        yield from _find_missing_parts(family, headers)
        yield from _find_excess_remaining(family, headers)
    for rule in rules:
        number = _read_number(rule, headers)
        if number is not None and number % rule.multiple_of:
            yield HeaderContradiction(
                FindingCode.HEADER_MALFORMED, rule.name, f"a multiple of {rule.multiple_of}", str(number)
            )


def _group_families(rules: Sequence[HeaderRule]) -> list[HeaderFamily]:
    families: dict[str, dict[str, HeaderRule]] = {}
    for rule in rules:
        if rule.family:
            families.setdefault(rule.family, {})[rule.part] = rule
    return list(families.values())


def _find_missing_parts(family: HeaderFamily, headers: Mapping[str, str]) -> Iterator[HeaderContradiction]:
    """Yield the missing headers of a family that is optional: it must come as a whole, or not at all."""
    present = [rule.name for rule in family.values() if rule.name in headers]
    for rule in family.values():
        if rule.optional and present and rule.name not in headers:
            yield HeaderContradiction(FindingCode.HEADER_MISSING, rule.name, f"present, as {present[0]} is", "absent")


def _find_excess_remaining(family: HeaderFamily, headers: Mapping[str, str]) -> Iterator[HeaderContradiction]:
    """Yield the header of what remains of a limit, if more remains than the limit."""
    if "limit" not in family or "remaining" not in family:
        return
    rule = family["remaining"]
    limit, remaining = _read_number(family["limit"], headers), _read_number(rule, headers)
    # A rounded number may exceed the limit by half of its step.
    if limit is not None and remaining is not None and remaining > limit + rule.multiple_of // 2:
        yield HeaderContradiction(
            FindingCode.HEADER_INCONSISTENT, rule.name, f"at most the limit {limit}", str(remaining)
        )


def _read_number(rule: HeaderRule, headers: Mapping[str, str]) -> int | None:
    return response_headers.parse_integer(headers.get(rule.name, "")) if rule.format == "integer" else None


MAX_SHAPE_FINDINGS = 6  # a body of another kind breaks every rule of the envelope
MAX_SHAPE_ERRORS = 100  # a large body could break one rule a million times
MAX_PATTERN_TEXT = 2_000  # characters; a pattern on megabytes of text would never end

_ENVELOPE_CODES = {
    "type": FindingCode.TYPE_DIFFERS,
    "code": FindingCode.CODE_DIFFERS,
    "param": FindingCode.PARAM_DIFFERS,
}


def compare(
    expected: Expected, exchange: Exchange, other_answers: OtherAnswers = NO_OTHER_ANSWERS
) -> Iterator[Finding]:
    """Yield every difference between what is documented and this exchange; `other_answers` are for relations.

    Example: 410 in place of 404 without `x-should-retry` -> a finding on the status and a finding on the header.
    """
    if expected.failure is not None:
        yield from _compare_client_failure(expected, exchange)
        return
    response = exchange.response
    if response is None:
        return
    yield from _compare_status(expected, response)
    yield from _compare_headers(expected, response)
    if expected.stream is not None:
        yield from compare_stream(expected, expected.stream, response)
    if expected.stream is None or expected.stream.event is not None:
        body = answer_body(expected, response)
        if body is not ABSENT:
            yield from _compare_body(expected, response, body)
    if expected.is_answered_by(response):
        yield from _compare_relations(expected, exchange, other_answers)


def _compare_client_failure(expected: Expected, exchange: Exchange) -> Iterator[Finding]:
    status = exchange.response.status if exchange.response is not None else None
    observed = exchange.failure.code if exchange.failure else f"HTTP {status}"
    if observed != expected.failure:
        yield mismatch(expected, "state", FindingCode.STATE_DIFFERS, Aspect.STATE, "", expected.failure, observed)


def _compare_status(expected: Expected, response: Response) -> Iterator[Finding]:
    if not expected.allows(response.status):
        documented = f"{expected.status_class}xx" if expected.status is None else expected.status
        yield mismatch(expected, "status", FindingCode.STATUS_DIFFERS, Aspect.STATUS, "", documented, response.status)


def _compare_headers(expected: Expected, response: Response) -> Iterator[Finding]:
    for rule in expected.headers:
        name = rule.name_in(response.headers)
        value = response.headers.get(name)
        code = _check_header(rule, value)
        if code is not None:
            documented = rule.value or rule.format or rule.rule
            observed = "absent" if value is None else value
            yield mismatch(expected, f"header:{rule.name}", code, Aspect.HEADER, name, documented, observed)
    for contradiction in find_contradictions(expected.headers, response.headers):
        name = contradiction.header
        yield mismatch(
            expected,
            f"header:{name}",
            contradiction.code,
            Aspect.HEADER,
            name,
            contradiction.documented,
            contradiction.observed,
        )


def _check_header(rule: HeaderRule, value: str | None) -> FindingCode | None:
    if rule.rule == "absent":
        return None if value is None else FindingCode.HEADER_UNEXPECTED
    if value is None:
        return None if rule.optional else FindingCode.HEADER_MISSING
    if rule.rule == "present" and not value.strip():
        return FindingCode.HEADER_MALFORMED  # an empty header is not what the documents promise
    if rule.rule == "equals" and value != rule.value:
        return FindingCode.HEADER_DIFFERS
    if rule.rule == "format" and not response_headers.is_in_format(rule.format, value):
        return FindingCode.HEADER_MALFORMED
    return None


def _compare_body(expected: Expected, response: Response, body: Json) -> Iterator[Finding]:
    kind = expected.envelope.body
    if kind == "any":
        yield from _compare_fields(expected, response, body)
        return
    if kind == "empty":
        if response.body_type != "empty":
            yield mismatch(expected, "body", FindingCode.BODY_NOT_EMPTY, Aspect.BODY, "", "empty", abbreviate(body))
        return
    if kind == "json" and expected.stream is None and response.body_type != "json":
        observed = f"{response.body_type}: {abbreviate(body)}"
        yield mismatch(expected, "body", FindingCode.BODY_MALFORMED, Aspect.BODY, "", "JSON", observed)
        return
    yield from _compare_shape(expected, body)
    body = unwrap(expected.envelope, body)
    yield from _compare_members(expected, body)
    yield from _compare_envelope_values(expected, body)
    yield from _compare_message(expected, body)
    yield from _compare_fields(expected, response, body)


def _compare_shape(expected: Expected, body: Json) -> Iterator[Finding]:
    """Compare the body with the envelope's schema; of several allowed forms, with the nearest."""
    errors = islice(validator(expected.envelope.schema).iter_errors(body), MAX_SHAPE_ERRORS)
    by_path = sorted(errors, key=lambda error: error.json_path)
    for error in map(nearest_error, by_path[:MAX_SHAPE_FINDINGS]):
        documented = {error.validator: error.validator_value} if is_short(error.validator_value) else error.validator
        observed = abbreviate(error.instance)
        yield mismatch(expected, "body", FindingCode.BODY_SHAPE, Aspect.BODY, error.json_path, documented, observed)


def _compare_members(expected: Expected, body: Json) -> Iterator[Finding]:
    for pointer in expected.assumed_members:
        if find_value(body, pointer) is ABSENT:
            yield mismatch(
                expected, f"body:{pointer}", FindingCode.FIELD_MISSING, Aspect.BODY, pointer, "present", "absent"
            )


def _compare_envelope_values(expected: Expected, body: Json) -> Iterator[Finding]:
    """Compare type, code and param, and the HTTP status that some envelopes repeat in the body."""
    for aspect, documented in expected.wire.items():
        value = find_value(body, expected.envelope.wire[aspect])
        if not _is_same_value(documented, value):
            code = _ENVELOPE_CODES[aspect]
            yield mismatch(expected, aspect, code, Aspect(aspect), aspect, documented, abbreviate(value))
    pointer, status = expected.envelope.wire.get("http_status"), expected.body_status
    if pointer is not None and status is not None and status >= 400:
        value = find_value(body, pointer)
        if value != status:
            yield mismatch(expected, f"status:{pointer}", FindingCode.CODE_DIFFERS, Aspect.CODE, pointer, status, value)


def _is_same_value(documented: Json, value: Json) -> bool:
    """Whether a value is the documented value. A missing field equals null, and the number 404 the text "404"."""
    if documented is None:
        return value is None or value is ABSENT
    return bool(value == documented) or (isinstance(value, int) and str(value) == documented)


def _compare_message(expected: Expected, body: Json) -> Iterator[Finding]:
    pattern, pointer = expected.message_pattern, expected.envelope.wire.get("message")
    if pattern is None or pointer is None:
        return
    message = find_value(body, pointer)
    if not isinstance(message, str) or re.search(pattern, message[:MAX_PATTERN_TEXT]) is None:
        yield mismatch(
            expected, "message", FindingCode.MESSAGE_DIFFERS, Aspect.MESSAGE, "", pattern, abbreviate(message)
        )


def _compare_fields(expected: Expected, response: Response, body: Json) -> Iterator[Finding]:
    for pointer, schema in expected.fields.items():
        local_key = f"body:{pointer}"
        values = list(find_values(body, pointer)) if body is not None else []
        if schema is False:  # the field must be absent
            if values:
                observed = abbreviate(values[0])
                yield mismatch(
                    expected, local_key, FindingCode.FIELD_UNEXPECTED, Aspect.BODY, pointer, "absent", observed
                )
        elif not values:
            if is_within_empty_list(expected, body, local_key, pointer):
                continue  # a list without items does not show the fields of an item
            renamed = find_renamed_value(expected, body, local_key, pointer)
            code = FindingCode.FIELD_MISSING if renamed is ABSENT else FindingCode.FIELD_DIFFERS
            if is_nowhere(expected, response, local_key):
                code = FindingCode.VALUE_NOWHERE
            yield mismatch(expected, local_key, code, Aspect.BODY, pointer, schema, abbreviate(renamed))
        elif not any(is_valid(schema, value) for value in values):
            observed = abbreviate(values[0])
            yield mismatch(expected, local_key, FindingCode.FIELD_DIFFERS, Aspect.BODY, pointer, schema, observed)


def _compare_relations(expected: Expected, exchange: Exchange, other_answers: OtherAnswers) -> Iterator[Finding]:
    for broken in find_broken_relations(expected, exchange, other_answers):
        relation = broken.relation
        aspect, location = Aspect.RELATION, relation.key_location
        if broken.code is FindingCode.BODIES_DIFFER:
            aspect, location = Aspect.BODY, "+".join(relation.of)
        documented = relation.description
        if broken.compared_with is not ABSENT:
            documented = f"{relation.description} ({_to_text(broken.compared_with)})"
        observed = abbreviate(broken.observed)
        finding = mismatch(expected, relation.local_key, broken.code, aspect, location, documented, observed)
        # The remark shows the compared value, which changes from answer to answer; the finding's identity must not.
        yield replace(finding, documented=relation.description, remark=finding.message)


def _to_text(value: Json) -> str:
    text = abbreviate(value)
    return text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, default=str)


_LAST_EVENTS = 8  # names that a finding lists of a stream without the documented event
_FIRST_EVENTS = 20  # names that a finding lists of a stream in another order


def compare_stream(expected: Expected, rule: StreamRule, response: Response) -> Iterator[Finding]:
    """Yield every difference between a documented stream and what came: its start, events, last event and close."""
    if rule.protocol == "grpc":
        yield from _compare_grpc_status(expected, rule, response)
        return
    if response.events is None:
        documented = rule.event or rule.terminal or rule.protocol
        observed = f"HTTP {response.status}, no stream"
        yield mismatch(expected, "event", FindingCode.STREAM_NOT_STARTED, Aspect.EVENT, "", documented, observed)
    else:
        if response.ended == "malformed":
            documented = f"{rule.protocol} as specified"
            yield mismatch(expected, "event", FindingCode.STREAM_MALFORMED, Aspect.EVENT, "", documented, "broken")
        yield from _compare_events(expected, rule, response.events)
        yield from _compare_last_event(expected, rule, response.events)
    yield from _compare_close(expected, rule, response)


def _compare_grpc_status(expected: Expected, rule: StreamRule, response: Response) -> Iterator[Finding]:
    if rule.grpc_status is None:
        return
    observed = "no gRPC status" if response.grpc is None else response.grpc.status
    if observed != rule.grpc_status:
        yield mismatch(
            expected, "grpc", FindingCode.GRPC_STATUS_DIFFERS, Aspect.STATUS, "grpc", rule.grpc_status, observed
        )


def _compare_events(expected: Expected, rule: StreamRule, events: tuple[Event, ...]) -> Iterator[Finding]:
    """Compare the names of the events, their order, and whether their data is JSON."""
    received = _received_names(events)
    documented = list(rule.events)
    if rule.event and rule.event not in documented:
        documented.append(rule.event)
    missing = [name for name in documented if name not in received]
    for name in missing:
        observed = received[-_LAST_EVENTS:]
        yield mismatch(expected, f"event:{name}", FindingCode.EVENT_MISSING, Aspect.EVENT, name, name, observed)
    if not missing and not _is_in_order(documented, received):
        yield mismatch(
            expected, "order", FindingCode.EVENT_ORDER, Aspect.EVENT, "", documented, received[:_FIRST_EVENTS]
        )
    end_marks = {*manifest(expected.provider).stream_end, rule.terminal}
    for event in events:
        is_text = isinstance(event.data, str) and event.data not in end_marks
        if is_text and not event.sent and _has_json_events(expected, rule):
            observed_data = abbreviate(event.data)
            yield mismatch(
                expected, "event", FindingCode.STREAM_MALFORMED, Aspect.EVENT, event.event, "JSON data", observed_data
            )


def _has_json_events(expected: Expected, rule: StreamRule) -> bool:
    """Whether the data of events is JSON: by the envelope or, if it allows anything, since SSE has JSON (1:1)."""
    return expected.envelope.body == "json" or (rule.protocol == "sse" and expected.envelope.body == "any")


def _is_in_order(documented: list[str], received: list[str]) -> bool:
    """Whether the documented events came in this order, perhaps with others between: `["a", "c"]` in a, b, c."""
    remaining = iter(received)
    return all(name in remaining for name in documented)  # `in` consumes the iterator up to the name


def _compare_last_event(expected: Expected, rule: StreamRule, events: tuple[Event, ...]) -> Iterator[Finding]:
    """Compare the end of a stream: an event's name, or data that is no JSON, as in `data: [DONE]`."""
    received = [event for event in events if not event.sent]
    last = received[-1] if received else None
    if rule.terminal is not None and (last is None or rule.terminal not in (last.event, last.data)):
        observed = last.event if last is not None else "nothing"
        yield mismatch(
            expected,
            "order:last",
            FindingCode.STREAM_UNTERMINATED,
            Aspect.EVENT,
            rule.terminal,
            rule.terminal,
            observed,
        )


def _received_names(events: tuple[Event, ...]) -> list[str]:
    return [event.event for event in events if not event.sent]


def _compare_close(expected: Expected, rule: StreamRule, response: Response) -> Iterator[Finding]:
    if not rule.describes_close:
        return
    close, documented_code = response.close, _describe_close_code(rule)
    if close is None:
        local_key = _first_close_key(rule)
        yield mismatch(expected, local_key, FindingCode.CLOSE_MISSING, Aspect.CLOSE, "", documented_code, "still open")
        return
    if rule.close_code is not None and not rule.close_code[0] <= (close.code or 0) <= rule.close_code[1]:
        yield mismatch(
            expected, "close:code", FindingCode.CLOSE_CODE_DIFFERS, Aspect.CLOSE, "code", documented_code, close.code
        )
    if rule.close_clean and not close.clean:
        yield mismatch(
            expected, "close:clean", FindingCode.CLOSE_UNCLEAN, Aspect.CLOSE, "clean", "a closing handshake", "none"
        )
    if rule.close_reason and not close.reason.strip():
        yield mismatch(
            expected, "close:reason", FindingCode.CLOSE_REASON_MISSING, Aspect.CLOSE, "reason", "a reason", "none"
        )


def _first_close_key(rule: StreamRule) -> str:
    """Return the key of the first assertion on the close, which mismatches if the socket stays open."""
    if rule.close_code is not None:
        return "close:code"
    return "close:clean" if rule.close_clean else "close:reason"


def _describe_close_code(rule: StreamRule) -> Json:
    if rule.close_code is None:
        return "closed"
    low, high = rule.close_code
    return low if low == high else f"{low} to {high}"


MAX_NOTES = 100  # of headers, and of fields, of one answer


def find_undocumented(expected: Expected, response: Response, vocabulary: ProviderVocabulary) -> Iterator[Finding]:
    """Note the headers, envelope fields and error codes of an answer that no record of its provider names.

    Example: the header `x-novelty: yes` -> a note `undocumented-header`, which is no drift.
    """
    yield from find_duplicate_names(expected, response)
    for name in sorted(response.headers.keys() - vocabulary.headers - ORDINARY_HEADERS)[:MAX_NOTES]:
        yield _note(expected, FindingCode.UNDOCUMENTED_HEADER, Aspect.HEADER, name, response.headers[name])
    for pointer, value in islice(_find_extra_fields(expected.envelope.schema, response.body, ""), MAX_NOTES):
        yield _note(expected, FindingCode.UNDOCUMENTED_FIELD, Aspect.BODY, pointer, value)
    if (response.status or 0) >= 400:
        values = wire_values(expected.envelope, response.body)
        for aspect, documented in (("type", vocabulary.types), ("code", vocabulary.codes)):
            value = values.get(aspect)
            if isinstance(value, str) and value not in documented:
                yield _note(expected, FindingCode.UNDOCUMENTED_CODE, Aspect(aspect), aspect, value)


def find_duplicate_names(expected: Expected, response: Response) -> Iterator[Finding]:
    """Note the names that a JSON object of an answer has more than once: no document allows it (RFC 8259, 4)."""
    values = [response.body, *(event.data for event in response.events or () if not event.sent)]
    duplicates = {pointer: member for value in values for pointer, member in iterate_repeated_members(value)}
    for pointer, member in islice(duplicates.items(), MAX_NOTES):
        yield _note(expected, FindingCode.DUPLICATE_NAME, Aspect.BODY, pointer, member, "more than once in its object")


def _find_extra_fields(schema: Mapping[str, Json], body: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yield the pointers and values of the fields that an object's schema does not list, if it lists any."""
    properties = schema.get("properties")
    if not isinstance(body, dict) or not isinstance(properties, dict):
        return
    for name, value in body.items():
        property_schema = properties.get(name)
        if property_schema is None:
            yield f"{pointer}/{name}", value
        elif isinstance(property_schema, dict):
            yield from _find_extra_fields(property_schema, value, f"{pointer}/{name}")


def _note(
    expected: Expected,
    code: FindingCode,
    aspect: Aspect,
    location: str,
    observed: Json,
    description: str = "not named by the documents",
) -> Finding:
    return Finding(
        code=code,
        aspect=aspect,
        severity=Severity.INFO,
        remark=f"{location}: {description}",
        label=expected.label,
        location=location,
        observed=type(observed).__name__ if isinstance(observed, dict | list) else observed,
    )
