"""A documented failure as an answer that can be sent: for an app that rehearses what it does about it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from catalog.envelopes.example import example, least, with_value
from catalog.reading.expectations import documented_answers
from catalog.reading.facts import meaning
from catalog.reading.last_seen import messages_seen
from catalog.reading.manifest import manifest

if TYPE_CHECKING:
    from datetime import datetime

    from catalog.model import Json, Record
    from catalog.reading.expected import Expected
    from catalog.reading.headers import HeaderRule

WAIT_S = 1
"""Seconds that a rehearsed answer asks to wait: enough to see that an app waits, and no longer."""

_FIRST_FAILURE = 400

_TEXT = "rehearsed"
_REQUEST_ID = f"req_{_TEXT}"


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """One documented failure, ready to be sent in place of an answer, or in the middle of one that streams."""

    record: str
    """The address of the record that documents it."""
    status: int
    headers: Mapping[str, str]
    """In stand-ins."""
    body: Json
    """None where the documents show an empty one."""
    event: str | None = None
    """The name of the event that carries the body, where it comes inside a stream."""

    @property
    def content(self) -> bytes:
        """The body as it is sent; of an event, the event."""
        if self.body is None:
            return b""
        text = json.dumps(self.body, ensure_ascii=False)
        return (f"event: {self.event}\ndata: {text}\n\n" if self.event is not None else text).encode()


def rehearsed(record: Record, now: datetime) -> tuple[Rehearsed, ...]:
    """The failures that an error record documents over HTTP, inside a stream or not; none where no answer can show it.

    A frame of a socket, a gRPC status, and what a client makes of a success are none. `now` is when it is sent.
    """
    if record.kind != "errors":
        return ()
    made = (_made(record, each, now) for each in documented_answers(record))
    return tuple(each for each in made if each is not None)


def _made(record: Record, expected: Expected, now: datetime) -> Rehearsed | None:
    stream = expected.stream
    inside = stream is not None and stream.protocol == "sse" and stream.event is not None
    if expected.failure is not None or (stream is not None and not inside):
        return None
    status = expected.status or (expected.status_class or 0) * 100
    if not inside and status < _FIRST_FAILURE:
        return None
    headers = {rule.name: _value(rule, now) for rule in expected.headers if rule.rule != "absent"}
    kind = expected.envelope.body
    if kind != "empty":
        headers = {"content-type": "text/event-stream" if inside else "application/json", **headers}
    body = _body(record, expected, headers) if kind == "json" else None
    return Rehearsed(str(record.address), status, headers, body, stream.event if stream is not None else None)


def _value(rule: HeaderRule, now: datetime) -> str:
    if rule.rule == "equals":
        return rule.value
    if "request-id" in rule.name:
        return _REQUEST_ID
    if rule.format == "rfc3339":
        return (now + timedelta(seconds=WAIT_S)).strftime("%Y-%m-%dT%H:%M:%SZ")
    if rule.name == "x-should-retry":
        return "true"
    return {"seconds": str(WAIT_S), "integer": "0", "duration": f"{WAIT_S}s"}.get(rule.format, _TEXT)


def _body(record: Record, expected: Expected, headers: Mapping[str, str]) -> Json:
    envelope = expected.envelope
    message = _message(record, expected)
    if envelope.wire.get("message") == "":
        return message
    said = {**expected.wire, "message": message, "http_status": expected.told_status or expected.status}
    named = {key: value for key, value in said.items() if value is not None or key in expected.wire}
    if "request_id" in envelope.wire and "request-id" in headers:
        named["request_id"] = headers["request-id"]
    body = example(envelope, named)
    places = {**dict.fromkeys(envelope.assumed), **expected.fields}
    for pointer in sorted(filter(None, places), key=len):
        told = any(each == pointer or each.startswith(f"{pointer}/") for each in envelope.wire.values())
        schema = places[pointer] or _schema_at(envelope.schema, pointer)
        if not told and schema is not None and schema is not False:
            body = with_value(body, pointer, least(schema, _TEXT))
    return body


def _schema_at(schema: Json, pointer: str) -> Json:
    for name in pointer.split("/")[1:]:
        schema = schema.get("properties", {}).get(name) if isinstance(schema, dict) else None
    return schema


def _message(record: Record, expected: Expected) -> str:
    """Words that the provider was seen to use, or that say what the record means and what its wording promises."""
    pattern = re.compile(expected.message_pattern or "")
    means = meaning(record) or record.title
    key = manifest(record.provider).stand_ins.key_header
    told = (*messages_seen(record), means, record.title, f"{means} Please retry in {WAIT_S}s.", f"{key}: {means}")
    return next((each for each in told if pattern.search(each)), means)
