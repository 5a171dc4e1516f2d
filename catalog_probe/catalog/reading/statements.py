"""Cut an expectation into statements: the things that are compared with an answer, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.model import Json
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.reading.streams import StreamRule


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
