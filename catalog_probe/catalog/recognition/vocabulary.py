"""Everything that a provider's records name, to recognize answers that another record documents."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import find_message, wire_values
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.assertions import request_assumptions
from catalog_probe.catalog.reading.expectations import documented_answers, event_names
from catalog_probe.catalog.reading.record_fields import classification, retry_advice
from catalog_probe.catalog.reading.response_headers import header_names
from catalog_probe.catalog.recognition.endpoints import EndpointIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.envelopes import Envelope
    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.reading.expectations import Expected

MAX_CANDIDATES = 3  # an answer that fits more records does not identify any

TRANSIENT_CATEGORIES: Mapping[str, ReasonCode] = {
    "rate_limit": ReasonCode.UNASKED_RATE_LIMIT,
    "capacity": ReasonCode.UNASKED_OVERLOAD,
    "overload": ReasonCode.UNASKED_OVERLOAD,
    "timeout": ReasonCode.UNASKED_TIMEOUT,
    "server": ReasonCode.SERVER_FAULT,
    "server_error": ReasonCode.SERVER_FAULT,
}
"""Category (1:2.2) of an error that may end any stream -> reason code if the probe did not provoke it."""

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
"""Headers of HTTP and of proxies. They are never reported as undocumented."""


@dataclass(frozen=True, slots=True)
class DocumentedAnswer:
    """A documented answer of an error record."""

    expected: Expected
    """Everything that its record asserts of it."""
    message: re.Pattern[str] | None
    """The documented wording, compiled."""
    is_permission_refusal: bool
    """Whether it refuses what the account may not do."""
    is_key_refusal: bool
    """Whether it refuses the key: wrong, revoked, or of another account."""
    account_reason: ReasonCode | None = None
    """Why it says nothing about the request: it is about the account's credit or region."""
    transient_reason: ReasonCode | None = None
    """Why it says nothing about the request if it ends a stream: the failure is transient."""

    @property
    def address(self) -> str:
        return self.expected.address

    @property
    def status(self) -> int | None:
        """The HTTP status of the answer; for a stream, the status with which it begins."""
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
    """Regular expression of undocumented refusals that say that the account has no credit."""
    assumed_paths: Mapping[str, str] = field(default_factory=dict)
    """Address of an endpoint whose path no document shows -> the record's remark on it."""

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
                error = classification(record)
                answers.extend(_make_answers(record))
                types.add(error.type)
                codes.add(error.code)
        return cls(
            answers=tuple(answers),
            headers=frozenset(headers),
            types=frozenset(types - {""}),
            codes=frozenset(codes - {""}),
            endpoints=EndpointIndex.from_records(records),
            events=frozenset().union(*map(event_names, records)),
            no_credit_message=next((manifest(record.provider).no_credit_message for record in records), ""),
            assumed_paths=dict(_find_assumed_paths(records)),
        )

    @cached_property
    def _by_status(self) -> Mapping[int | None, Sequence[DocumentedAnswer]]:
        answers: dict[int | None, list[DocumentedAnswer]] = {}
        for answer in self.answers:
            answers.setdefault(answer.status, []).append(answer)
        return answers

    @cached_property
    def _account_statuses(self) -> frozenset[int | None]:
        """The statuses of answers about the account."""
        return frozenset(answer.status for answer in self.answers if answer.account_reason is not None)

    @cached_property
    def refusal_addresses(self) -> frozenset[str]:
        """The addresses of the records that refuse a key or a permission."""
        return frozenset(
            answer.address for answer in self.answers if answer.is_permission_refusal or answer.is_key_refusal
        )

    @cached_property
    def _stream_envelopes(self) -> Mapping[str, Sequence[Envelope]]:
        """Name of a stream's event -> the error envelopes that it carries."""
        answers_by_event: dict[str, list[DocumentedAnswer]] = {}
        for answer in self.answers:
            rule = answer.expected.stream
            if rule is not None and rule.protocol == "sse" and rule.event is not None:
                answers_by_event.setdefault(rule.event, []).append(answer)
        return {event: tuple(_envelopes(answers)) for event, answers in answers_by_event.items()}

    @cached_property
    def _all_envelopes(self) -> Sequence[Envelope]:
        return tuple(_envelopes(self.answers))

    def has_status(self, status: int | None) -> bool:
        """Whether some record documents an answer with this status."""
        return status in self._by_status

    def is_in_envelope(self, body: Json) -> bool:
        """Whether a body is in an error envelope of the provider."""
        return self.find_message(body) is not None

    def find_message(self, body: Json) -> str | None:
        """Return the message of a body in one of the provider's error envelopes; None if it is in none.

        Example: `{"error": {"message": "Slow down."}}` -> `Slow down.`; `{"detail": "Slow down."}` -> None.
        """
        if not isinstance(body, dict | list):
            return None
        messages = (find_message(envelope, body) for envelope in self._all_envelopes)
        return next((message for message in messages if message is not None), None)

    def match_answers(self, status: int | None, body: Json) -> tuple[DocumentedAnswer, ...]:
        """Return the records that the answer could be. If some have a matching wording, only these.

        Status, type, code and param must be equal: the judge must not explain drift away. Example: a 429 of PC with the
        code `rate_limit_exceeded` and the type `requests` is none, because the documented type is another.
        """
        candidates = self._by_status.get(status, ())
        # Hundreds of records share a few envelopes, so each envelope is read once.
        values = {
            envelope.name: (wire_values(envelope, body), find_message(envelope, body))
            for envelope in _envelopes(candidates)
        }
        fits = [answer for answer in candidates if _fits(answer, *values[answer.expected.envelope.name])]
        quoting = [answer for answer in fits if answer.message is not None]
        return tuple(quoting or fits)

    def match_stream_failure(self, event: str, data: Json) -> tuple[DocumentedAnswer, ...]:
        """Return the records of transient failures that a stream's event could be.

        The status is ignored: a stream sends it before the failure is known. Example: PA's event `error` with the type
        `overloaded_error` -> `pa/errors/stream/overloaded`, `pa/errors/general/overloaded` and one more.
        """
        readings = [wire_values(envelope, data) for envelope in self._stream_envelopes.get(event, ())]
        if not any(readings):
            return ()
        return tuple(
            answer
            for answer in self.answers
            if answer.transient_reason is not None and any(_has_wire(answer, wire) for wire in readings)
        )

    def match_account_trouble(self, status: int | None, body: Json) -> tuple[DocumentedAnswer, ...]:
        """Return the records that the answer could be if all of them are about the account, else none.

        Example: a 402 of PA with the type `billing_error` -> `pa/errors/general/payment_problem`.
        """
        if status not in self._account_statuses:  # a quick exit: this runs on every answer
            return ()
        answers = self.match_answers(status, body)
        return answers if all(answer.account_reason is not None for answer in answers) else ()

    def says_no_credit(self, expected: Expected, message: str | None) -> bool:
        """Whether a message says that the account has no credit, and the expected record is not about credit."""
        if not self.no_credit_message or not message or not re.search(self.no_credit_message, message):
            return False
        return expected.address not in self._no_credit_addresses

    @cached_property
    def _no_credit_addresses(self) -> frozenset[str]:
        return frozenset(answer.address for answer in self.answers if answer.account_reason is ReasonCode.NO_CREDIT)

    def match_account_trouble_by_code(self, status: int | None, body: Json) -> tuple[DocumentedAnswer, ...]:
        """Return the records about the account whose code an otherwise unknown answer has.

        The type is ignored, because services change it. This prevents that an account without credit causes drift in
        each of its probes; it hides that the type of such an answer did change. Example: the code `insufficient_quota`
        with the type `invalid_request_error`.
        """
        if status not in self._account_statuses:
            return ()
        answers = tuple(
            answer
            for answer in self._by_status[status]
            if answer.account_reason is not None and _has_code(answer, body)
        )
        return () if answers and self.match_answers(status, body) else answers

    def match_moved_account_trouble(self, status: int | None, body: Json) -> tuple[DocumentedAnswer, ...]:
        """Return the records about the account whose code comes with a status that none of them has.

        Services move such an answer: PC's `billing_hard_limit_reached`, documented as 429, is a 400 in the field. Only
        a code counts that no other record has. The type is ignored. This prevents drift in each probe of such an
        account; it hides that the documented status of the code did change.
        """
        if status is None or status < 400 or not self._account_answers_by_code:
            return ()
        values = (wire_values(envelope, body).get("code") for envelope in self._all_envelopes)
        codes = {code for code in values if isinstance(code, str)}
        answers = [answer for code in codes for answer in self._account_answers_by_code.get(code, ())]
        return () if any(answer.status == status for answer in answers) else tuple(answers)

    @cached_property
    def _account_answers_by_code(self) -> Mapping[str, Sequence[DocumentedAnswer]]:
        """Code -> the records about the account with it, for codes that no other record has."""
        answers_by_code: dict[str, list[DocumentedAnswer]] = {}
        for answer in self.answers:
            code = answer.expected.wire.get("code")
            if isinstance(code, str):
                answers_by_code.setdefault(code, []).append(answer)
        return {
            code: answers
            for code, answers in answers_by_code.items()
            if all(answer.account_reason is not None for answer in answers)
        }


def _has_code(answer: DocumentedAnswer, body: Json) -> bool:
    code = answer.expected.wire.get("code")
    return bool(code) and wire_values(answer.expected.envelope, body).get("code") == code


def _envelopes(answers: Iterable[DocumentedAnswer]) -> Iterable[Envelope]:
    return {answer.expected.envelope.name: answer.expected.envelope for answer in answers}.values()


def _fits(answer: DocumentedAnswer, wire: Mapping[str, Json], message: str | None) -> bool:
    """Whether the body has the wire values and the wording of this record; without any values it fits nothing."""
    has_values = bool(wire) and _has_wire(answer, wire)
    has_wording = answer.message is None or (message is not None and answer.message.search(message) is not None)
    return has_values and has_wording


def _has_wire(answer: DocumentedAnswer, wire: Mapping[str, Json]) -> bool:
    """Whether each value that the record states is in `wire`: aspect -> value, e.g. `{"type": "billing_error"}`."""
    documented = answer.expected.wire
    return bool(documented) and all(wire.get(aspect) == value for aspect, value in documented.items())


def _find_assumed_paths(records: Iterable[Record]) -> Iterator[tuple[str, str]]:
    """Yield the address of each endpoint whose path is assumed, with the reason."""
    for record in records:
        if record.kind == "endpoints":
            yield from (
                (str(record.address), reason)
                for key, reason in request_assumptions(record).items()
                if key.local_key == "path"
            )


def _make_answers(record: Record) -> Iterable[DocumentedAnswer]:
    error = classification(record)
    for expected in documented_answers(record):
        pattern = expected.message_pattern
        yield DocumentedAnswer(
            expected=expected,
            message=re.compile(pattern) if pattern else None,
            account_reason=_find_account_reason(record),
            is_permission_refusal=expected.body_status == 403 and error.is_permission,
            is_key_refusal=expected.body_status == 401 and error.is_of_the_key,
            transient_reason=TRANSIENT_CATEGORIES.get(error.category) if retry_advice(record).helps else None,
        )


def _find_account_reason(record: Record) -> ReasonCode | None:
    """Return why an error is about the account and not about the request, by the lists of the manifest; or None."""
    address, provider_manifest = str(record.address), manifest(record.provider)
    if address in provider_manifest.no_credit:
        return ReasonCode.NO_CREDIT
    if address in provider_manifest.region_refusals:
        return ReasonCode.REGION_REFUSED
    return ReasonCode.ACCOUNT_TROUBLE if address in provider_manifest.account_trouble else None
