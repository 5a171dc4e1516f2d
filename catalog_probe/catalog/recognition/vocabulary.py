"""What the documents name anywhere for a provider, to recognise an answer that another record documents."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.projection import find_message, wire_values
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.reading.annotations import request_assumptions
from catalog_probe.catalog.reading.classification import classification
from catalog_probe.catalog.reading.expectations import documented_answers
from catalog_probe.catalog.reading.headers import header_names
from catalog_probe.catalog.reading.retry import retry_advice
from catalog_probe.catalog.reading.streams import event_names
from catalog_probe.catalog.recognition.endpoint_index import EndpointIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.envelopes.envelope import Envelope
    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.reading.expected import Expected

MAX_CANDIDATES = 3
"""An answer that fits more records than this says nothing about which one it is."""

TRANSIENT_CATEGORIES: Mapping[str, ReasonCode] = {
    "rate_limit": ReasonCode.UNASKED_RATE_LIMIT,
    "capacity": ReasonCode.UNASKED_OVERLOAD,
    "overload": ReasonCode.UNASKED_OVERLOAD,
    "timeout": ReasonCode.UNASKED_TIMEOUT,
    "server": ReasonCode.SERVER_FAULT,
    "server_error": ReasonCode.SERVER_FAULT,
}
"""Categories (1:2.2) of what may break off any stream, and what it is called where nobody asked for it."""

ORDINARY_HEADERS = frozenset(
    """
    accept-ranges access-control-allow-credentials access-control-allow-headers access-control-allow-methods
    access-control-allow-origin access-control-expose-headers access-control-max-age age allow alt-svc cache-control
    cf-cache-status cf-ray connection content-disposition content-encoding content-language content-length
    content-security-policy content-type cross-origin-opener-policy date etag expires keep-alive last-modified
    location nel pragma referrer-policy report-to retry-after sec-websocket-accept sec-websocket-extensions
    sec-websocket-protocol server server-timing set-cookie strict-transport-security traceresponse trailer
    transfer-encoding upgrade vary via www-authenticate x-content-type-options x-envoy-upstream-service-time
    x-frame-options x-robots-tag x-xss-protection
    """.split()
)
"""Headers of HTTP itself and of the edges in front of it: never news about an API."""


@dataclass(frozen=True, slots=True)
class DocumentedAnswer:
    """The documented look of one error record on the wire."""

    expected: Expected
    """Everything that its record asserts of it."""
    message: re.Pattern[str] | None
    """The documented wording, compiled."""
    is_permission_refusal: bool
    """Whether it refuses what this account may not do."""
    is_key_refusal: bool
    """Whether it refuses a key that is no good: it is wrong, revoked, or of somebody else."""
    account_reason: ReasonCode | None = None
    """Why it says nothing of what was asked: it tells of the account's credit, or of a place that is not served."""
    transient_reason: ReasonCode | None = None
    """Why it says nothing of what was asked where it breaks off a stream: it tells of a moment, and may be retried."""

    @property
    def address(self) -> str:
        return self.expected.address

    @property
    def status(self) -> int | None:
        """The HTTP status of the answer itself: a stream's is that with which it begins."""
        return self.expected.status


@dataclass(frozen=True)
class ProviderVocabulary:
    """Everything one provider's records name."""

    answers: tuple[DocumentedAnswer, ...] = ()
    headers: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    endpoints: EndpointIndex = field(default_factory=EndpointIndex)
    events: frozenset[str] = frozenset()
    """Events of streams, and frames of WebSockets."""
    no_credit_message: str = ""
    """How refusals that no record documents say that the account has no credit, as a regular expression."""
    assumed_paths: Mapping[str, str] = field(default_factory=dict)
    """The endpoints whose path no document shows, each with what its record says of that."""

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> ProviderVocabulary:
        records = tuple(records)
        answers: list[DocumentedAnswer] = []
        headers: set[str] = set()
        types: set[str] = set()
        codes: set[str] = set()
        for record in records:
            headers.update(header_names(record))
            if record.kind == "errors":
                named = classification(record)
                answers.extend(_answers(record))
                types.add(named.type)
                codes.add(named.code)
        named_types, named_codes = frozenset(types - {""}), frozenset(codes - {""})
        events = frozenset().union(*map(event_names, records))
        return cls(
            tuple(answers),
            frozenset(headers),
            named_types,
            named_codes,
            EndpointIndex.from_records(records),
            events,
            next((manifest(record.provider).no_credit_message for record in records), ""),
            dict(_assumed_paths(records)),
        )

    @cached_property
    def _by_status(self) -> Mapping[int | None, Sequence[DocumentedAnswer]]:
        found: dict[int | None, list[DocumentedAnswer]] = {}
        for answer in self.answers:
            found.setdefault(answer.status, []).append(answer)
        return found

    @cached_property
    def _of_accounts(self) -> frozenset[int | None]:
        """The statuses of the answers that tell of an account."""
        return frozenset(answer.status for answer in self.answers if answer.account_reason is not None)

    @cached_property
    def refusal_addresses(self) -> frozenset[str]:
        """The addresses of the records of which an answer refuses a key, or what it may not do."""
        return frozenset(
            answer.address for answer in self.answers if answer.is_permission_refusal or answer.is_key_refusal
        )

    @cached_property
    def _of_streams(self) -> Mapping[str, Sequence[Envelope]]:
        """The error envelopes of event streams, by the name of the event that carries them."""
        found: dict[str, list[DocumentedAnswer]] = {}
        for answer in self.answers:
            rule = answer.expected.stream
            if rule is not None and rule.protocol == "sse" and rule.event is not None:
                found.setdefault(rule.event, []).append(answer)
        return {event: tuple(_envelopes(answers)) for event, answers in found.items()}

    @cached_property
    def _all_envelopes(self) -> Sequence[Envelope]:
        return tuple(_envelopes(self.answers))

    def has_status(self, status: int | None) -> bool:
        """Whether any record documents an answer with this status."""
        return status in self._by_status

    def is_in_envelope(self, body: Json) -> bool:
        """Whether a body stands in an error envelope of the provider: whether any of them finds its message in it."""
        return self.find_message(body) is not None

    def find_message(self, body: Json) -> str | None:
        """The message that a body carries in one of the provider's error envelopes; None where it stands in none."""
        if not isinstance(body, dict | list):
            return None
        found = (find_message(envelope, body) for envelope in self._all_envelopes)
        return next((message for message in found if message is not None), None)

    def match_answers(self, status: int | None, body: Json) -> tuple[DocumentedAnswer, ...]:
        """The records that an answer with this status and body could be; those alone whose wording it has, if any."""
        alike = self._by_status.get(status, ())
        # Hundreds of records share a handful of envelopes: each of these is looked into once.
        seen = {each.name: (wire_values(each, body), find_message(each, body)) for each in _envelopes(alike)}
        fits = [answer for answer in alike if _fits(answer, *seen[answer.expected.envelope.name])]
        quoting = [answer for answer in fits if answer.message is not None]
        return tuple(quoting or fits)

    def match_stream_failure(self, event: str, data: Json) -> tuple[DocumentedAnswer, ...]:
        """The records of a passing failure (an overload, a fault) of which an event of a stream tells.

        The status line of a stream is told before its failure is known: so here the status says nothing.
        """
        seen = [wire_values(each, data) for each in self._of_streams.get(event, ())]
        alike = (answer for answer in self.answers if answer.transient_reason is not None) if any(seen) else ()
        return tuple(answer for answer in alike if any(_has_wire(answer, each) for each in seen))

    def match_account_trouble(self, status: int | None, body: Json) -> tuple[DocumentedAnswer, ...]:
        """The records that an answer could be, if each of them tells of the account; else none."""
        if status not in self._of_accounts:  # asked of each answer: most statuses say nothing of an account anywhere
            return ()
        found = self.match_answers(status, body)
        return found if all(answer.account_reason is not None for answer in found) else ()

    def says_no_credit(self, expected: Expected, message: str | None) -> bool:
        """Whether a refusal says that the account has no credit, where the record is about nothing of that kind."""
        said = bool(self.no_credit_message and message and re.search(self.no_credit_message, message))
        return said and expected.address not in self._of_no_credit

    @cached_property
    def _of_no_credit(self) -> frozenset[str]:
        return frozenset(answer.address for answer in self.answers if answer.account_reason is ReasonCode.NO_CREDIT)

    def match_account_trouble_by_code(self, status: int | None, body: Json) -> tuple[DocumentedAnswer, ...]:
        """The records that tell of the account and whose code an answer that is no record has.

        The code tells it, whatever the type beside it is: services change that one.
        """
        if status not in self._of_accounts:
            return ()
        alike = (answer for answer in self._by_status[status] if answer.account_reason is not None)
        found = tuple(answer for answer in alike if _has_code(answer, body))
        return () if found and self.match_answers(status, body) else found

    def match_moved_account_trouble(self, status: int | None, body: Json) -> tuple[DocumentedAnswer, ...]:
        """The records that tell of the account and whose code stands under another status than any of them has.

        Services move such an answer (a hard billing limit is a 400 in the field). Only a code counts that is no other
        record's, whatever the type beside it is.
        """
        if status is None or status < 400 or not self._codes_of_accounts:
            return ()
        codes = (wire_values(each, body).get("code") for each in self._all_envelopes)
        said = {code for code in codes if isinstance(code, str)}
        found = [answer for code in said for answer in self._codes_of_accounts.get(code, ())]
        return () if any(answer.status == status for answer in found) else tuple(found)

    @cached_property
    def _codes_of_accounts(self) -> Mapping[str, Sequence[DocumentedAnswer]]:
        """The records that tell of the account by the code that they alone have."""
        found: dict[str, list[DocumentedAnswer]] = {}
        for answer in self.answers:
            code = answer.expected.wire.get("code")
            if isinstance(code, str):
                found.setdefault(code, []).append(answer)
        return {code: each for code, each in found.items() if all(answer.account_reason is not None for answer in each)}


def _has_code(answer: DocumentedAnswer, body: Json) -> bool:
    code = answer.expected.wire.get("code")
    return bool(code) and wire_values(answer.expected.envelope, body).get("code") == code


def _envelopes(answers: Iterable[DocumentedAnswer]) -> Iterable[Envelope]:
    return {answer.expected.envelope.name: answer.expected.envelope for answer in answers}.values()


def _fits(answer: DocumentedAnswer, wire: Mapping[str, Json], message: str | None) -> bool:
    """Whether wire values and wording are those of this record; one that carries no values fits nothing."""
    if not wire or not _has_wire(answer, wire):
        return False
    return answer.message is None or (message is not None and answer.message.search(message) is not None)


def _has_wire(answer: DocumentedAnswer, wire: Mapping[str, Json]) -> bool:
    stated = answer.expected.wire
    return bool(stated) and all(wire.get(aspect) == value for aspect, value in stated.items())


def _assumed_paths(records: Iterable[Record]) -> Iterator[tuple[str, str]]:
    for record in records:
        if record.kind == "endpoints":
            yield from (
                (str(record.address), why)
                for key, why in request_assumptions(record).items()
                if key.local_key == "path"
            )


def _answers(record: Record) -> Iterable[DocumentedAnswer]:
    named = classification(record)
    for expected in documented_answers(record):
        pattern = expected.message_pattern
        yield DocumentedAnswer(
            expected=expected,
            message=re.compile(pattern) if pattern else None,
            account_reason=_of_the_account(record),
            is_permission_refusal=expected.body_status == 403 and named.is_permission,
            is_key_refusal=expected.body_status == 401 and named.is_of_the_key,
            transient_reason=TRANSIENT_CATEGORIES.get(named.category) if retry_advice(record).helps else None,
        )


def _of_the_account(record: Record) -> ReasonCode | None:
    address, special = str(record.address), manifest(record.provider)
    if address in special.no_credit:
        return ReasonCode.NO_CREDIT
    if address in special.region_refusals:
        return ReasonCode.REGION_REFUSED
    return ReasonCode.ACCOUNT_TROUBLE if address in special.account_trouble else None
