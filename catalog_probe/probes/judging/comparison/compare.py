"""Projects an expectation and an exchange onto the documented aspects and tells where they differ."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes import formats
from catalog_probe.catalog.envelopes.projection import unwrap
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Aspect, Event, Exchange, Finding, Json, Response, Severity
from catalog_probe.catalog.model.codes import FindingCode as Code
from catalog_probe.catalog.reading.expected import Expected, answer_body
from catalog_probe.catalog.text.json_pointer import ABSENT, find_value, find_values
from catalog_probe.catalog.text.phrases import quote_if_ambiguous, shorten
from catalog_probe.probes.judging.comparison import limit_headers
from catalog_probe.probes.judging.comparison.places import shows_no_item, under_another_name
from catalog_probe.probes.judging.comparison.relations import NO_OTHERS, Answers, broken
from catalog_probe.probes.judging.comparison.validators import is_valid, nearest, validator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.reading.headers import HeaderRule
    from catalog_probe.catalog.reading.streams import StreamRule

MAX_SHAPE_FINDINGS = 6
"""A body of another kind altogether breaks every rule of the envelope; this many say so."""

MAX_SHAPE_ERRORS = 100
"""A large body could break one rule a million times; the first ones tell."""

MAX_QUOTED = 240
"""Characters of a value's JSON that a finding keeps of either side."""

MAX_SAID = 120
"""Characters of either side in the sentence that a finding is told by."""

MAX_MESSAGE = 2_000
"""Documented wording is looked for in so many characters: a pattern on megabytes of text would never end."""


def compare(expected: Expected, exchange: Exchange, others: Answers = NO_OTHERS) -> Iterator[Finding]:
    """Every difference between what the documents assert and this exchange, beside the answers of other labels."""
    if expected.failure is not None:
        yield from _client_side(expected, exchange)
        return
    response = exchange.response
    if response is None:
        return
    yield from _status(expected, response)
    yield from _header_rules(expected, response)
    if expected.stream is not None:
        yield from _stream(expected, expected.stream, response)
    if expected.stream is None or expected.stream.event is not None:
        body = answer_body(expected, response)
        if body is not ABSENT:
            yield from _body(expected, response, body)
    if expected.is_answered_by(response):
        yield from _relations(expected, exchange, others)


def _status(expected: Expected, response: Response) -> Iterator[Finding]:
    if not expected.allows(response.status):
        documented = f"{expected.status_class}xx" if expected.status is None else expected.status
        yield _finding(expected, "status", Code.STATUS_DIFFERS, Aspect.STATUS, "", documented, response.status)


def _header_rules(expected: Expected, response: Response) -> Iterator[Finding]:
    for rule in expected.headers:
        name = rule.name_in(response.headers)
        seen = response.headers.get(name)
        code = _header_code(rule, seen)
        if code is not None:
            documented = rule.value or rule.format or rule.rule
            observed = "absent" if seen is None else seen
            yield _finding(expected, f"header:{rule.name}", code, Aspect.HEADER, name, documented, observed)
    for code, name, documented, observed in limit_headers.contradictions(expected.headers, response.headers):
        yield _finding(expected, f"header:{name}", code, Aspect.HEADER, name, documented, observed)


def _header_code(rule: HeaderRule, seen: str | None) -> Code | None:
    if rule.rule == "absent":
        return None if seen is None else Code.HEADER_UNEXPECTED
    if seen is None:
        return None if rule.optional else Code.HEADER_MISSING
    if rule.rule == "present" and not seen.strip():
        return Code.HEADER_MALFORMED  # a header that says nothing is not what the documents promise
    if rule.rule == "equals" and seen != rule.value:
        return Code.HEADER_DIFFERS
    if rule.rule == "format" and not formats.is_valid(rule.format, seen):
        return Code.HEADER_MALFORMED
    return None


def _body(expected: Expected, response: Response, body: Json) -> Iterator[Finding]:
    kind = expected.envelope.body
    if kind == "any":
        yield from _fields(expected, body)
        return
    if kind == "empty":
        if response.body_type != "empty":
            yield _finding(expected, "body", Code.BODY_NOT_EMPTY, Aspect.BODY, "", "empty", _brief(body))
        return
    in_stream = expected.stream is not None
    if kind == "json" and not in_stream and response.body_type != "json":
        yield _finding(
            expected, "body", Code.BODY_MALFORMED, Aspect.BODY, "", "JSON", f"{response.body_type}: {_brief(body)}"
        )
        return
    yield from _shape(expected, body)
    body = unwrap(expected.envelope, body)
    yield from _members(expected, body)
    yield from _wire(expected, body)
    yield from _message(expected, body)
    yield from _fields(expected, body)


def _shape(expected: Expected, body: Json) -> Iterator[Finding]:
    """What is wrong with the body as a whole; of several forms that it may have, what parts it from the nearest."""
    every = validator(expected.envelope.schema).iter_errors(body)
    errors = sorted(islice(every, MAX_SHAPE_ERRORS), key=lambda error: error.json_path)
    for error in map(nearest, errors[:MAX_SHAPE_FINDINGS]):
        documented = {error.validator: error.validator_value} if _is_small(error.validator_value) else error.validator
        yield _finding(
            expected, "body", Code.BODY_SHAPE, Aspect.BODY, error.json_path, documented, _brief(error.instance)
        )


def _members(expected: Expected, body: Json) -> Iterator[Finding]:
    for pointer in expected.members:
        if find_value(body, pointer) is ABSENT:
            yield _finding(expected, f"body:{pointer}", Code.FIELD_MISSING, Aspect.BODY, pointer, "present", "absent")


_WIRE_CODES = {"type": Code.TYPE_DIFFERS, "code": Code.CODE_DIFFERS, "param": Code.PARAM_DIFFERS}


def _wire(expected: Expected, body: Json) -> Iterator[Finding]:
    for aspect, documented in expected.wire.items():
        seen = find_value(body, expected.envelope.wire[aspect])
        if not _same_value(documented, seen):
            yield _finding(expected, aspect, _WIRE_CODES[aspect], Aspect(aspect), aspect, documented, _brief(seen))
    pointer = expected.envelope.wire.get("http_status")
    if pointer is not None and expected.told_status is not None and expected.told_status >= 400:
        seen = find_value(body, pointer)
        if seen != expected.told_status:
            yield _finding(
                expected, f"status:{pointer}", Code.CODE_DIFFERS, Aspect.CODE, pointer, expected.told_status, seen
            )


def _same_value(documented: Json, seen: Json) -> bool:
    if documented is None:
        return seen is None or seen is ABSENT
    return bool(seen == documented) or (isinstance(seen, int) and str(seen) == documented)


def _message(expected: Expected, body: Json) -> Iterator[Finding]:
    pattern, pointer = expected.message_pattern, expected.envelope.wire.get("message")
    if pattern is None or pointer is None:
        return
    seen = find_value(body, pointer)
    if not isinstance(seen, str) or re.search(pattern, seen[:MAX_MESSAGE]) is None:
        yield _finding(expected, "message", Code.MESSAGE_DIFFERS, Aspect.MESSAGE, "", pattern, _brief(seen))


def _fields(expected: Expected, body: Json) -> Iterator[Finding]:
    for pointer, schema in expected.fields.items():
        seen = list(find_values(body, pointer)) if body is not None else []
        within = f"body:{pointer}"
        if schema is False:
            if seen:
                yield _finding(
                    expected, f"body:{pointer}", Code.FIELD_UNEXPECTED, Aspect.BODY, pointer, "absent", _brief(seen[0])
                )
        elif not seen:
            if shows_no_item(expected, body, within, pointer):
                continue
            renamed = under_another_name(expected, body, within, pointer)
            code = Code.FIELD_MISSING if renamed is ABSENT else Code.FIELD_DIFFERS
            yield _finding(expected, within, code, Aspect.BODY, pointer, schema, _brief(renamed))
        elif not any(is_valid(schema, value) for value in seen):
            yield _finding(expected, within, Code.FIELD_DIFFERS, Aspect.BODY, pointer, schema, _brief(seen[0]))


def _stream(expected: Expected, rule: StreamRule, response: Response) -> Iterator[Finding]:
    if rule.protocol == "grpc":
        yield from _grpc(expected, rule, response)
        return
    if response.events is None:
        asked = rule.event or rule.terminal or rule.protocol
        yield _finding(
            expected, "event", Code.STREAM_NOT_STARTED, Aspect.EVENT, "", asked, f"HTTP {response.status}, no stream"
        )
    else:
        if response.ended == "malformed":
            yield _finding(
                expected, "event", Code.STREAM_MALFORMED, Aspect.EVENT, "", f"{rule.protocol} as specified", "broken"
            )
        yield from _events(expected, rule, response.events)
        yield from _ending(expected, rule, response)
    yield from _closing(expected, rule, response)


def _events(expected: Expected, rule: StreamRule, events: tuple[Event, ...]) -> Iterator[Finding]:
    received = [event.event for event in events if not event.sent]
    wanted = [*rule.events, *([rule.event] if rule.event and rule.event not in rule.events else [])]
    missing = [name for name in wanted if name not in received]
    for name in missing:
        yield _finding(expected, f"event:{name}", Code.EVENT_MISSING, Aspect.EVENT, name, name, received[-8:])
    if not missing and not _in_order(wanted, received):
        yield _finding(expected, "order", Code.EVENT_ORDER, Aspect.EVENT, "", wanted, received[:20])
    marks = manifest(expected.provider).stream_end
    for event in events:
        malformed = isinstance(event.data, str) and event.data not in marks
        if malformed and not event.sent and _is_of_json(expected, rule):
            yield _finding(
                expected, "event", Code.STREAM_MALFORMED, Aspect.EVENT, event.event, "JSON data", _brief(event.data)
            )


def _is_of_json(expected: Expected, rule: StreamRule) -> bool:
    """Whether its events hold JSON: as the envelope says, and where it says nothing, as all interfaces do (1:1)."""
    return expected.envelope.body == "json" or (rule.protocol == "sse" and expected.envelope.body == "any")


def _ending(expected: Expected, rule: StreamRule, response: Response) -> Iterator[Finding]:
    received = [event.event for event in response.events or () if not event.sent]
    if rule.terminal is not None and (not received or received[-1] != rule.terminal):
        last = received[-1] if received else "nothing"
        yield _finding(
            expected, "order:last", Code.STREAM_UNTERMINATED, Aspect.EVENT, rule.terminal, rule.terminal, last
        )


def _closing(expected: Expected, rule: StreamRule, response: Response) -> Iterator[Finding]:
    """The verdict on how the socket ended stands apart from the one on what it carried."""
    if not rule.closes:
        return
    close = response.close
    if close is None:
        yield _finding(
            expected, _first_of_close(rule), Code.CLOSE_MISSING, Aspect.CLOSE, "", _codes(rule), "still open"
        )
        return
    if rule.close_code is not None and not rule.close_code[0] <= (close.code or 0) <= rule.close_code[1]:
        yield _finding(expected, "close:code", Code.CLOSE_CODE_DIFFERS, Aspect.CLOSE, "code", _codes(rule), close.code)
    if rule.close_clean and not close.clean:
        yield _finding(
            expected, "close:clean", Code.CLOSE_UNCLEAN, Aspect.CLOSE, "clean", "a closing handshake", "none"
        )
    if rule.close_reason and not close.reason.strip():
        yield _finding(expected, "close:reason", Code.CLOSE_REASON_MISSING, Aspect.CLOSE, "reason", "a reason", "none")


def _first_of_close(rule: StreamRule) -> str:
    """What a socket that was not closed differs in: the first thing that is stated of its close."""
    if rule.close_code is not None:
        return "close:code"
    return "close:clean" if rule.close_clean else "close:reason"


def _grpc(expected: Expected, rule: StreamRule, response: Response) -> Iterator[Finding]:
    seen = response.grpc
    if rule.grpc_status is not None and (seen is None or seen.status != rule.grpc_status):
        observed = "no gRPC status" if seen is None else seen.status
        yield _finding(expected, "grpc", Code.GRPC_STATUS_DIFFERS, Aspect.STATUS, "grpc", rule.grpc_status, observed)


def _client_side(expected: Expected, exchange: Exchange) -> Iterator[Finding]:
    seen = exchange.failure.code if exchange.failure else f"HTTP {exchange.response and exchange.response.status}"
    if seen != expected.failure:
        yield _finding(expected, "state", Code.STATE_DIFFERS, Aspect.STATE, "", expected.failure, seen)


def _relations(expected: Expected, exchange: Exchange, others: Answers) -> Iterator[Finding]:
    for relation, code, observed, there in broken(expected, exchange, others):
        aspect, at = Aspect.RELATION, relation.place
        if code is Code.BODIES_DIFFER:
            aspect, at = Aspect.BODY, "+".join(relation.of)
        stated = relation.words if there is ABSENT else f"{relation.words} ({_quoted(there)})"
        found = _finding(expected, relation.within, code, aspect, at, stated, _brief(observed))
        yield replace(found, documented=relation.words)  # what stands there is of this answer, and told alone


def _quoted(value: Json) -> str:
    text = _brief(value)
    return text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, default=str)


def _in_order(wanted: list[str], received: list[str]) -> bool:
    rest = iter(received)
    return all(name in rest for name in wanted)


def _codes(rule: StreamRule) -> Json:
    if rule.close_code is None:
        return "closed"
    low, high = rule.close_code
    return low if low == high else f"{low} to {high}"


def _finding(
    expected: Expected, within: str, code: Code, aspect: Aspect, at: str, documented: Json, observed: Json
) -> Finding:
    """A difference; `within` is the key of the assertion that was seen otherwise, without its label."""
    observed = "absent" if observed is ABSENT else observed
    where = f" {at}" if at and at != aspect else ""
    stated, seen = (
        shorten(quote_if_ambiguous(documented, observed), MAX_SAID),
        shorten(quote_if_ambiguous(observed, documented), MAX_SAID),
    )
    return Finding(
        code=code,
        aspect=aspect,
        severity=Severity.MUST,
        message=f"{aspect}{where}: documented {stated}, observed {seen}",
        label=expected.label,
        location=at,
        documented=documented,
        observed=observed,
        assertion=f"{expected.label}/{within}",
    )


def _brief(value: Json) -> Json:
    """The value, or the beginning of its JSON where it is long: the whole answer is in the exchange."""
    if value is ABSENT or _is_small(value):
        return value
    return shorten(json.dumps(value, ensure_ascii=False, default=str), MAX_QUOTED)


def _is_small(value: Any) -> bool:
    return len(json.dumps(value, ensure_ascii=False, default=str)) <= MAX_QUOTED
