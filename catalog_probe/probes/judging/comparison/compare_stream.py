"""Compares a stream or a WebSocket with what is documented: its events, its end and its close. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Aspect, Event, Finding, Json, Response
from catalog_probe.catalog.model.outcome import FindingCode as Code
from catalog_probe.probes.judging.comparison.mismatch import abbreviate, mismatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.reading.expectations import Expected, StreamRule

_LAST_EVENTS = 8  # names that a finding lists of a stream without the documented event
_FIRST_EVENTS = 20  # and of a stream in another order


def compare_stream(expected: Expected, rule: StreamRule, response: Response) -> Iterator[Finding]:
    """Yield every difference between a documented stream and what came; its close is compared by itself."""
    if rule.protocol == "grpc":
        yield from _compare_grpc_status(expected, rule, response)
        return
    if response.events is None:
        documented = rule.event or rule.terminal or rule.protocol
        observed = f"HTTP {response.status}, no stream"
        yield mismatch(expected, "event", Code.STREAM_NOT_STARTED, Aspect.EVENT, "", documented, observed)
    else:
        if response.ended == "malformed":
            documented = f"{rule.protocol} as specified"
            yield mismatch(expected, "event", Code.STREAM_MALFORMED, Aspect.EVENT, "", documented, "broken")
        yield from _compare_events(expected, rule, response.events)
        yield from _compare_last_event(expected, rule, response.events)
    yield from _compare_close(expected, rule, response)


def _compare_grpc_status(expected: Expected, rule: StreamRule, response: Response) -> Iterator[Finding]:
    if rule.grpc_status is None:
        return
    observed = "no gRPC status" if response.grpc is None else response.grpc.status
    if observed != rule.grpc_status:
        yield mismatch(expected, "grpc", Code.GRPC_STATUS_DIFFERS, Aspect.STATUS, "grpc", rule.grpc_status, observed)


def _compare_events(expected: Expected, rule: StreamRule, events: tuple[Event, ...]) -> Iterator[Finding]:
    received = _received_names(events)
    documented = list(rule.events)
    if rule.event and rule.event not in documented:
        documented.append(rule.event)
    missing = [name for name in documented if name not in received]
    for name in missing:
        observed = received[-_LAST_EVENTS:]
        yield mismatch(expected, f"event:{name}", Code.EVENT_MISSING, Aspect.EVENT, name, name, observed)
    if not missing and not _is_in_order(documented, received):
        yield mismatch(expected, "order", Code.EVENT_ORDER, Aspect.EVENT, "", documented, received[:_FIRST_EVENTS])
    end_marks = manifest(expected.provider).stream_end
    for event in events:
        is_text = isinstance(event.data, str) and event.data not in end_marks
        if is_text and not event.sent and _has_json_events(expected, rule):
            observed_data = abbreviate(event.data)
            yield mismatch(
                expected, "event", Code.STREAM_MALFORMED, Aspect.EVENT, event.event, "JSON data", observed_data
            )


def _has_json_events(expected: Expected, rule: StreamRule) -> bool:
    """Whether the events hold JSON: as the envelope says, and if it says nothing, as on all SSE interfaces (1:1)."""
    return expected.envelope.body == "json" or (rule.protocol == "sse" and expected.envelope.body == "any")


def _is_in_order(documented: list[str], received: list[str]) -> bool:
    remaining = iter(received)
    return all(name in remaining for name in documented)  # `in` consumes the iterator up to the name


def _compare_last_event(expected: Expected, rule: StreamRule, events: tuple[Event, ...]) -> Iterator[Finding]:
    received = _received_names(events)
    last = received[-1] if received else None
    if rule.terminal is not None and last != rule.terminal:
        observed = last if received else "nothing"
        yield mismatch(
            expected, "order:last", Code.STREAM_UNTERMINATED, Aspect.EVENT, rule.terminal, rule.terminal, observed
        )


def _received_names(events: tuple[Event, ...]) -> list[str]:
    return [event.event for event in events if not event.sent]


def _compare_close(expected: Expected, rule: StreamRule, response: Response) -> Iterator[Finding]:
    if not rule.describes_close:
        return
    close, documented_code = response.close, _describe_close_code(rule)
    if close is None:
        local_key = _first_close_key(rule)
        yield mismatch(expected, local_key, Code.CLOSE_MISSING, Aspect.CLOSE, "", documented_code, "still open")
        return
    if rule.close_code is not None and not rule.close_code[0] <= (close.code or 0) <= rule.close_code[1]:
        yield mismatch(
            expected, "close:code", Code.CLOSE_CODE_DIFFERS, Aspect.CLOSE, "code", documented_code, close.code
        )
    if rule.close_clean and not close.clean:
        yield mismatch(
            expected, "close:clean", Code.CLOSE_UNCLEAN, Aspect.CLOSE, "clean", "a closing handshake", "none"
        )
    if rule.close_reason and not close.reason.strip():
        yield mismatch(expected, "close:reason", Code.CLOSE_REASON_MISSING, Aspect.CLOSE, "reason", "a reason", "none")


def _first_close_key(rule: StreamRule) -> str:
    """Return the first assertion on the close: the one that mismatches if the socket stays open."""
    if rule.close_code is not None:
        return "close:code"
    return "close:clean" if rule.close_clean else "close:reason"


def _describe_close_code(rule: StreamRule) -> Json:
    if rule.close_code is None:
        return "closed"
    low, high = rule.close_code
    return low if low == high else f"{low} to {high}"
