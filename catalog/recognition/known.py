"""What the documents name anywhere for a provider, to recognise an answer that another record documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from catalog.envelopes.envelope import WIRE_ASPECTS, Envelope, envelope
from catalog.envelopes.pointer import find
from catalog.envelopes.projection import unwrapped, wire_of
from catalog.model import Json, Record
from catalog.reading.expectations import BEGUN, Expected, error_expectations, statuses

PERMISSION = ("permission", "auth")
TOO_MANY = 3
"""An answer that fits more records than this says nothing about which one it is."""

ORDINARY_HEADERS = frozenset(
    """
    accept-ranges age allow alt-svc cache-control cf-cache-status cf-ray connection content-disposition
    content-encoding content-language content-length content-security-policy content-type cross-origin-opener-policy
    date etag expires keep-alive last-modified location nel pragma referrer-policy report-to retry-after sec-
    sec-websocket-accept sec-websocket-protocol server server-timing set-cookie strict-transport-security
    traceresponse trailer transfer-encoding upgrade vary via websocket-extensions www-authenticate
    x-content-type-options x-envoy-upstream-service-time x-frame-options x-robots-tag x-xss-protection
    """.split()
)
"""Headers of HTTP itself and of the edges in front of it: never news about an API."""


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """The documented look of one error record on the wire."""

    address: str
    status: int | None
    envelope: Envelope
    wire: Mapping[str, Json]
    message: re.Pattern[str] | None
    permission: bool
    expected: Expected
    """Everything that its record asserts of it."""


@dataclass(frozen=True, slots=True)
class Known:
    """Everything one provider's records name."""

    answers: tuple[KnownAnswer, ...] = ()
    headers: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()

    @classmethod
    def of(cls, records: Iterable[Record]) -> Known:
        answers: list[KnownAnswer] = []
        headers: set[str] = set()
        types: set[str] = set()
        codes: set[str] = set()
        for record in records:
            headers.update(_named_headers(record))
            if record.kind == "errors":
                answers.extend(_answers(record))
                types.update(filter(None, [record.data.get("type")]))
                codes.update(filter(None, [record.data.get("code")]))
        return cls(tuple(answers), frozenset(headers), frozenset(types), frozenset(codes))

    def documents(self, status: int | None) -> bool:
        """Whether any record documents an answer with this status."""
        return any(answer.status == status for answer in self.answers)

    def matching(self, status: int | None, body: Json) -> tuple[KnownAnswer, ...]:
        """The records that an answer with this status and body could be; those alone whose wording it has, if any."""
        fits = [answer for answer in self.answers if _fits(answer, status, body)]
        quoting = [answer for answer in fits if answer.message is not None]
        return tuple(quoting or fits)


def _fits(answer: KnownAnswer, status: int | None, body: Json) -> bool:
    """Whether status, wire values and wording are those of this record; one that carries no values fits nothing."""
    if answer.status != status or not answer.wire:
        return False
    seen = wire_of(answer.envelope, body)
    if not seen or any(seen.get(aspect) != value for aspect, value in answer.wire.items()):
        return False
    if answer.message is None:
        return True
    message = find(unwrapped(answer.envelope, body), answer.envelope.wire.get("message", "/message"))
    return isinstance(message, str) and answer.message.search(message) is not None


def _answers(record: Record) -> Iterable[KnownAnswer]:
    data = record.data
    shape = envelope(data["surface"])
    pattern = (data.get("message_pattern") or {}).get("pattern")
    stream = data.get("stream")
    group = error_expectations(record)
    for number, status in enumerate(statuses(record)):
        yield KnownAnswer(
            address=str(record.address),
            status=BEGUN.get(stream["protocol"]) if stream else status,
            envelope=shape,
            wire={aspect: data.get(aspect) for aspect in WIRE_ASPECTS if aspect in shape.wire and aspect in data},
            message=re.compile(pattern) if pattern else None,
            permission=data.get("category") in PERMISSION and status == 403,
            expected=group[number],
        )


def _named_headers(record: Record) -> Iterable[str]:
    response = record.data.get("response") or {}
    for rules in (record.data.get("response_headers"), response.get("headers"), record.data.get("headers")):
        if isinstance(rules, dict):
            yield from (name.lower() for name in rules)
        elif isinstance(rules, list):
            yield from (str(rule["name"]).lower() for rule in rules if isinstance(rule, dict) and "name" in rule)
