"""Compares an exchange with what is documented of it: status, headers, body, relations and streams. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import unwrap
from catalog_probe.catalog.model import Aspect, Exchange, Finding, Json, Response
from catalog_probe.catalog.model.outcome import FindingCode as Code
from catalog_probe.catalog.reading import response_headers
from catalog_probe.catalog.reading.expectations import Expected, answer_body
from catalog_probe.catalog.text.json_values import ABSENT, find_value, find_values
from catalog_probe.probes.judging.comparison import limit_headers
from catalog_probe.probes.judging.comparison.compare_stream import compare_stream
from catalog_probe.probes.judging.comparison.locations import find_renamed_value, is_within_empty_list
from catalog_probe.probes.judging.comparison.mismatch import abbreviate, is_short, mismatch
from catalog_probe.probes.judging.comparison.relations import NO_OTHER_ANSWERS, OtherAnswers, find_broken_relations
from catalog_probe.probes.judging.comparison.validators import is_valid, nearest_error, validator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.reading.response_headers import HeaderRule

MAX_SHAPE_FINDINGS = 6  # a body of another kind altogether breaks every rule of the envelope
MAX_SHAPE_ERRORS = 100  # a large body could break one rule a million times
MAX_PATTERN_TEXT = 2_000  # characters; a pattern on megabytes of text would never end

_ENVELOPE_CODES = {"type": Code.TYPE_DIFFERS, "code": Code.CODE_DIFFERS, "param": Code.PARAM_DIFFERS}


def compare(
    expected: Expected, exchange: Exchange, other_answers: OtherAnswers = NO_OTHER_ANSWERS
) -> Iterator[Finding]:
    """Yield every difference between what is documented and this exchange; `other_answers` are for relations."""
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
        yield mismatch(expected, "state", Code.STATE_DIFFERS, Aspect.STATE, "", expected.failure, observed)


def _compare_status(expected: Expected, response: Response) -> Iterator[Finding]:
    if not expected.allows(response.status):
        documented = f"{expected.status_class}xx" if expected.status is None else expected.status
        yield mismatch(expected, "status", Code.STATUS_DIFFERS, Aspect.STATUS, "", documented, response.status)


def _compare_headers(expected: Expected, response: Response) -> Iterator[Finding]:
    for rule in expected.headers:
        name = rule.name_in(response.headers)
        value = response.headers.get(name)
        code = _check_header(rule, value)
        if code is not None:
            documented = rule.value or rule.format or rule.rule
            observed = "absent" if value is None else value
            yield mismatch(expected, f"header:{rule.name}", code, Aspect.HEADER, name, documented, observed)
    for contradiction in limit_headers.find_contradictions(expected.headers, response.headers):
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


def _check_header(rule: HeaderRule, value: str | None) -> Code | None:
    if rule.rule == "absent":
        return None if value is None else Code.HEADER_UNEXPECTED
    if value is None:
        return None if rule.optional else Code.HEADER_MISSING
    if rule.rule == "present" and not value.strip():
        return Code.HEADER_MALFORMED  # an empty header is not what the documents promise
    if rule.rule == "equals" and value != rule.value:
        return Code.HEADER_DIFFERS
    if rule.rule == "format" and not response_headers.is_in_format(rule.format, value):
        return Code.HEADER_MALFORMED
    return None


def _compare_body(expected: Expected, response: Response, body: Json) -> Iterator[Finding]:
    kind = expected.envelope.body
    if kind == "any":
        yield from _compare_fields(expected, body)
        return
    if kind == "empty":
        if response.body_type != "empty":
            yield mismatch(expected, "body", Code.BODY_NOT_EMPTY, Aspect.BODY, "", "empty", abbreviate(body))
        return
    if kind == "json" and expected.stream is None and response.body_type != "json":
        observed = f"{response.body_type}: {abbreviate(body)}"
        yield mismatch(expected, "body", Code.BODY_MALFORMED, Aspect.BODY, "", "JSON", observed)
        return
    yield from _compare_shape(expected, body)
    body = unwrap(expected.envelope, body)
    yield from _compare_members(expected, body)
    yield from _compare_envelope_values(expected, body)
    yield from _compare_message(expected, body)
    yield from _compare_fields(expected, body)


def _compare_shape(expected: Expected, body: Json) -> Iterator[Finding]:
    """Validate the body as a whole; if it has none of several forms, say how it differs from the nearest."""
    errors = islice(validator(expected.envelope.schema).iter_errors(body), MAX_SHAPE_ERRORS)
    by_path = sorted(errors, key=lambda error: error.json_path)
    for error in map(nearest_error, by_path[:MAX_SHAPE_FINDINGS]):
        documented = {error.validator: error.validator_value} if is_short(error.validator_value) else error.validator
        observed = abbreviate(error.instance)
        yield mismatch(expected, "body", Code.BODY_SHAPE, Aspect.BODY, error.json_path, documented, observed)


def _compare_members(expected: Expected, body: Json) -> Iterator[Finding]:
    for pointer in expected.assumed_members:
        if find_value(body, pointer) is ABSENT:
            yield mismatch(expected, f"body:{pointer}", Code.FIELD_MISSING, Aspect.BODY, pointer, "present", "absent")


def _compare_envelope_values(expected: Expected, body: Json) -> Iterator[Finding]:
    """Compare type, code and param, and the HTTP status that an envelope repeats."""
    for aspect, documented in expected.wire.items():
        value = find_value(body, expected.envelope.wire[aspect])
        if not _is_same_value(documented, value):
            code = _ENVELOPE_CODES[aspect]
            yield mismatch(expected, aspect, code, Aspect(aspect), aspect, documented, abbreviate(value))
    pointer, status = expected.envelope.wire.get("http_status"), expected.body_status
    if pointer is not None and status is not None and status >= 400:
        value = find_value(body, pointer)
        if value != status:
            yield mismatch(expected, f"status:{pointer}", Code.CODE_DIFFERS, Aspect.CODE, pointer, status, value)


def _is_same_value(documented: Json, value: Json) -> bool:
    """Whether a value is the documented one. A number may stand for its text; null and a missing field are the same."""
    if documented is None:
        return value is None or value is ABSENT
    return bool(value == documented) or (isinstance(value, int) and str(value) == documented)


def _compare_message(expected: Expected, body: Json) -> Iterator[Finding]:
    pattern, pointer = expected.message_pattern, expected.envelope.wire.get("message")
    if pattern is None or pointer is None:
        return
    message = find_value(body, pointer)
    if not isinstance(message, str) or re.search(pattern, message[:MAX_PATTERN_TEXT]) is None:
        yield mismatch(expected, "message", Code.MESSAGE_DIFFERS, Aspect.MESSAGE, "", pattern, abbreviate(message))


def _compare_fields(expected: Expected, body: Json) -> Iterator[Finding]:
    for pointer, schema in expected.fields.items():
        local_key = f"body:{pointer}"
        values = list(find_values(body, pointer)) if body is not None else []
        if schema is False:  # must be absent
            if values:
                observed = abbreviate(values[0])
                yield mismatch(expected, local_key, Code.FIELD_UNEXPECTED, Aspect.BODY, pointer, "absent", observed)
        elif not values:
            if is_within_empty_list(expected, body, local_key, pointer):
                continue
            renamed = find_renamed_value(expected, body, local_key, pointer)
            code = Code.FIELD_MISSING if renamed is ABSENT else Code.FIELD_DIFFERS
            yield mismatch(expected, local_key, code, Aspect.BODY, pointer, schema, abbreviate(renamed))
        elif not any(is_valid(schema, value) for value in values):
            observed = abbreviate(values[0])
            yield mismatch(expected, local_key, Code.FIELD_DIFFERS, Aspect.BODY, pointer, schema, observed)


def _compare_relations(expected: Expected, exchange: Exchange, other_answers: OtherAnswers) -> Iterator[Finding]:
    for broken in find_broken_relations(expected, exchange, other_answers):
        relation = broken.relation
        aspect, location = Aspect.RELATION, relation.key_location
        if broken.code is Code.BODIES_DIFFER:
            aspect, location = Aspect.BODY, "+".join(relation.of)
        documented = relation.description
        if broken.compared_with is not ABSENT:
            documented = f"{relation.description} ({_to_text(broken.compared_with)})"
        observed = abbreviate(broken.observed)
        finding = mismatch(expected, relation.local_key, broken.code, aspect, location, documented, observed)
        # The message shows the compared value, which changes from answer to answer; the finding's identity must not.
        yield replace(finding, documented=relation.description)


def _to_text(value: Json) -> str:
    text = abbreviate(value)
    return text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, default=str)
