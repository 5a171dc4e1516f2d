"""Find the records that an exchange is evidence of, whoever sent it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from catalog_probe.catalog.envelopes import wire_values
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Address, Aspect
from catalog_probe.catalog.model.exchange import ANSWER, MISSING_CREDENTIAL, STREAM, SUCCESS
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.expectations import documented_answers, http_status_of
from catalog_probe.catalog.reading.record_fields import occurs_on
from catalog_probe.catalog.recognition.answer_body import answer_of_exchange, is_error_event, iterate_texts
from catalog_probe.catalog.recognition.endpoints import keyless_refusals
from catalog_probe.catalog.recognition.identify import Recognizer
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.catalog.text.json_values import ABSENT
from catalog_probe.catalog.text.readable_text import sanitize_line
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.traffic.hidden_values import HIDDEN, without_hidden_headers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Exchange, Record, Response
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.reading.response_headers import HeaderRule
    from catalog_probe.catalog.recognition.identify import Identity


_REFUSED = 400
"""The lowest status of a refusal."""

_KINDS_FOR_ANY_REQUEST = frozenset({"prefix", "pattern", "ordered"})
"""Kinds of relations that hold whatever was requested, e.g. an id begins with `msg_`, and dates are in order."""

_IDENTIFYING_CODES = frozenset(
    {
        FindingCode.STATUS_DIFFERS,
        FindingCode.TYPE_DIFFERS,
        FindingCode.CODE_DIFFERS,
        FindingCode.MESSAGE_DIFFERS,
        FindingCode.GRPC_STATUS_DIFFERS,
        FindingCode.BODY_MALFORMED,
        FindingCode.BODY_NOT_EMPTY,
        FindingCode.STREAM_NOT_STARTED,
        FindingCode.EVENT_MISSING,
        FindingCode.CLOSE_MISSING,
        FindingCode.CLOSE_CODE_DIFFERS,
    }
)
"""Differences that make an answer another answer than the documented one.

An answer with such a difference matches nothing, and is listed as undocumented. This prevents that an answer which no
record documents becomes drift of the most similar record. It hides that status, type, code or message of a record did
change. Example: PB's 400 about an unknown field has the status and type of `invalid_api_key`, but another message.
"""


def is_documented(expected: Expected, exchange: Exchange) -> bool:
    """Whether an answer is the documented one, by its status, type, code and message; other details may differ.

    Example: a documented 429 without the documented `retry-after` is the documented answer, with a difference.
    """
    return _IDENTIFYING_CODES.isdisjoint(finding.code for finding in compare(expected, exchange))


def for_any_request(expected: Expected) -> Expected:
    """Remove what holds only for the request of our own probe: the name of its faulty field, and values that it chose.

    Example: our request asks for `limit=2`, and the record says that at most 2 items come. Other clients ask for more.
    But that an id begins with `msg_`, or that the id is the one of the request's path, holds for any request.
    """
    relations = tuple(
        relation
        for relation in expected.relations
        # Without a value, a relation compares two locations of the exchange, and no constant.
        if relation.value is ABSENT or relation.kind in _KINDS_FOR_ANY_REQUEST
    )
    removed = {relation.local_key for relation in expected.relations if relation not in relations} | {str(Aspect.PARAM)}
    wire = {aspect: value for aspect, value in expected.wire.items() if aspect != Aspect.PARAM}
    return replace(expected, relations=relations, wire=wire, assertions=_assertions_except(expected, removed))


def only_headers(expected: Expected, rules: tuple[HeaderRule, ...]) -> Expected:
    """Remove all headers but those with these rules; statements about other parts of the answer stay."""
    removed = {f"{Aspect.HEADER}:{rule.name}" for rule in expected.headers if rule not in rules}
    return replace(expected, headers=rules, assertions=_assertions_except(expected, removed))


def _assertions_except(expected: Expected, removed: Collection[str]) -> Mapping[str, Assertion]:
    """Return the assertions without those with these local keys, e.g. `header:retry-after`."""
    return {key: assertion for key, assertion in expected.assertions.items() if assertion.key.local_key not in removed}


_MAX_CODE_LENGTH = 80  # characters; a longer code is a sentence
_MAX_EXAMPLE_LENGTH = 160  # characters of a message

# Each ends the sentence "12 exchanges …" of a summary.
UNDOCUMENTED = "like no documented answer"
OTHERWISE_DOCUMENTED = "which name a record that documents another answer"
UNPROVEN = "which say too little to be evidence of one record"
SEVERAL_CAUSES = "of a record with several causes, which do not say which cause it was"


@dataclass(frozen=True, slots=True)
class Match:
    """An expectation, and the exchange that it is compared with."""

    record: str
    """The address of the record whose evidence the exchange is.

    Example: `pa/endpoints/messages/create_message` states by which error a missing key is refused. Such a refusal is
    evidence of that endpoint, though the expectation is the one of the error.
    """
    expected: Expected
    exchange: Exchange
    """The exchange with the label of the expectation."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A kind of refusal, to be counted and listed; its fields are part of results.jsonl.

    Example: the 400 answers of one endpoint with the code `parameter_unknown` are one kind.
    """

    provider: str
    endpoint: str
    """The address of the endpoint; empty if the catalog has none."""
    status: int | None
    code: str
    """Its code, or else its type."""
    why: str
    """Why the refusal is evidence of no record, e.g. `UNPROVEN`."""
    candidates: tuple[str, ...]
    """The addresses of the records whose answer it could be."""
    retry: str
    """Whether the request may be sent again: `yes`, `no`, `conditional` or `unknown`."""
    example: str = field(compare=False)
    """The message of the first refusal of the kind; other refusals of the kind may have another message."""


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Why an exchange is evidence of no record."""

    reason: str
    refusal: Refusal | None = None
    """The kind of the answer, if it is a refusal."""


class Matcher:
    """Finds the records of one provider that an exchange is evidence of."""

    def __init__(self, provider: str, catalog: Catalog) -> None:
        self.provider = provider
        self._catalog = catalog
        self._records = tuple(catalog.select(provider=provider))
        self._expectations_by_address: dict[str, Mapping[str, Expected]] = {}

    @cached_property
    def vocabulary(self) -> ProviderVocabulary:
        """Everything that the provider's records name."""
        return ProviderVocabulary.from_records(self._records)

    @cached_property
    def _recognizer(self) -> Recognizer:
        return Recognizer.from_records(self.provider, self._records)

    @cached_property
    def _keyless_refusals(self) -> frozenset[str]:
        return keyless_refusals(self._records)

    def match_own_probe(self, exchanges: Sequence[Exchange], record: str) -> tuple[Match, ...] | Unmatched:
        """Match an attempt of ours with its record's expectations, by the labels of the exchanges.

        Of several exchanges with one label and endpoint only the last counts, e.g. the request that was refused after
        twenty that used up the limit.
        """
        if Address.parse(record) not in self._catalog:
            return Unmatched("sent for a record that the catalog does not have")
        expectations = self._expectations(self._catalog[record])
        last_exchanges = {
            (exchange.label, exchange.endpoint): exchange for exchange in exchanges if exchange.label in expectations
        }
        matches = tuple(Match(record, expectations[exchange.label], exchange) for exchange in last_exchanges.values())
        return matches or Unmatched("sent under a label that its record does not have")

    def match(self, exchange: Exchange) -> tuple[Match, ...] | Unmatched:
        """Match an exchange of another client.

        A success is evidence of its endpoint, and of the limits that its headers report. A refusal is evidence of a
        record only if its status, type, code and words prove that record and no other (`recognition.proof`), and if the
        request can meet the record's error. Example: a 402 of PA with the type `billing_error` matches
        `payment_problem` at any path, because no other record has both. A 403 of PA with words of no record matches
        nothing, even at a path for which only one 403 is documented.
        """
        response = exchange.response
        if response is None:
            return Unmatched("without an answer")
        endpoints = self._find_endpoints(exchange, response)
        # A redirect is no refusal. An answer without a status is one: a gRPC status that stands for no HTTP status.
        status = http_status_of(response, self.provider)
        is_success = status is not None and status < _REFUSED and not self._ends_in_error(exchange, response)
        if is_success:
            return self._match_successes(exchange, endpoints, response)
        return self._match_refusal(exchange, endpoints, response)

    def _find_endpoints(self, exchange: Exchange, response: Response) -> Sequence[str]:
        """Return the addresses of the endpoint records that the request went to; none if its URL is unknown."""
        request = exchange.request
        if not request.url:
            return ()
        # Only a POST has a record of its own for its streamed form.
        is_streamed = response.events is not None and request.method == "POST"
        return self.vocabulary.endpoints.list_by_request(request.method, request.url, streamed=is_streamed)

    def _find_code(self, exchange: Exchange) -> str:
        """Return the code of an error, or else its type, as the first envelope of the provider that has one.

        Example: `{"error": {"type": "invalid_request_error", "code": null}}` of PC -> `invalid_request_error`. A number
        repeats the status: `{"error": {"code": 400, "status": "INVALID_ARGUMENT"}}` of PB -> `INVALID_ARGUMENT`.
        """
        envelopes = {answer.expected.envelope.name: answer.expected.envelope for answer in self.vocabulary.answers}
        bodies = [reading.body for reading in answer_of_exchange(exchange).readings]
        values = [wire_values(envelope, body) for body, envelope in product(bodies, envelopes.values())]
        for aspect in (Aspect.CODE, Aspect.TYPE):
            for wire in values:
                value = wire.get(aspect)
                if value and not isinstance(value, int):
                    return sanitize_line(str(value), _MAX_CODE_LENGTH)
        return ""

    def _find_example(self, exchange: Exchange) -> str:
        """Return the message of an error; of a body without one, its first text, such as the first tags of a page."""
        readings = answer_of_exchange(exchange).readings
        messages = (message for reading in readings if (message := self.vocabulary.find_message(reading.body)))
        # An event without a message may hold a part of a secret, which redaction finds only in the whole stream.
        texts = (next(iterate_texts(reading.body), "") for reading in readings if reading.event is None)
        return sanitize_line(next(messages, next(texts, "")), _MAX_EXAMPLE_LENGTH)

    def _identify(self, exchange: Exchange) -> Identity:
        """Return which error records the answer resembles most; none if another host seems to have answered."""
        answer = answer_of_exchange(without_hidden_headers(exchange))
        return self._recognizer.identify(answer, method=exchange.request.method, path=exchange.request.url)

    def _match_successes(
        self, exchange: Exchange, endpoints: Sequence[str], response: Response
    ) -> tuple[Match, ...] | Unmatched:
        """Match the success of each endpoint with this request, and the limits that the answer reports."""
        if not endpoints:
            return Unmatched("to no endpoint of the catalog")
        successes = (match for endpoint in endpoints for match in self._match_success(exchange, endpoint, response))
        # A limit is the key's, whichever endpoint reports it: the first one is enough.
        return (*successes, *self._match_limits(replace(exchange, endpoint=endpoints[0]), response))

    def _match_success(self, exchange: Exchange, endpoint: str, response: Response) -> Iterator[Match]:
        """Match the success that an endpoint documents for such an answer, if it documents one.

        A streamed answer is compared with SUCCESS only if that documents a stream, else with the streamed form.
        """
        expectations = self._expectations(self._catalog[endpoint])
        success = expectations.get(SUCCESS)
        is_success_streamed = success is not None and success.stream is not None
        label = STREAM if response.events is not None and not is_success_streamed else SUCCESS
        if label in expectations:
            expected = for_any_request(expectations[label])
            yield _label_match(endpoint, expected, replace(exchange, endpoint=endpoint), label)

    def _match_limits(self, exchange: Exchange, response: Response) -> Iterator[Match]:
        """Match the rate-limit records whose headers the answer has; the answer need not report all limits of a record.

        Example: an answer with `x-ratelimit-limit-tokens` must have each header of that limit, and none about requests.
        """
        for record in self._records:
            expected = self._expectations(record).get(ANSWER) if record.kind == "rate_limits" else None
            if expected is None:
                continue
            reported_limits = {_name_limit(rule) for rule in expected.headers if _has_header(response, rule)}
            rules = tuple(rule for rule in expected.headers if _name_limit(rule) in reported_limits)
            if rules:
                yield _label_match(str(record.address), only_headers(expected, rules), exchange, ANSWER)

    def _ends_in_error(self, exchange: Exchange, response: Response) -> bool:
        """Whether an answer that began as a success ends in an error: in an event, a frame, or a documented close.

        Example: a stream of PC whose last event is `{"type": "error", "error": {"code": "server_is_overloaded", …}}`.
        """
        if any(is_error_event(event) for event in response.events or ()):
            return True
        # Other forms are an error if the answer resembles the record of an error that is documented for a stream.
        is_stream = response.events is not None or response.close is not None
        return is_stream and any(
            expected.stream is not None
            for address in self._identify(exchange).records
            for expected in documented_answers(self._catalog[address])
        )

    def _match_refusal(
        self, exchange: Exchange, endpoints: Sequence[str], response: Response
    ) -> tuple[Match, ...] | Unmatched:
        """Match a refusal with the one record that it proves, and with what its endpoint states of that record."""
        identity = self._identify(exchange)

        def leave_out(why: str, candidates: tuple[str, ...] = ()) -> Unmatched:
            refusal = Refusal(
                self.provider,
                endpoint=next(iter(endpoints), ""),
                status=response.status,
                code=self._find_code(exchange),
                why=why,
                candidates=candidates,
                retry=str(identity.retry.may),
                example=self._find_example(exchange),
            )
            return Unmatched(why, refusal)

        candidates = tuple(address for address in identity.records if self._can_occur(address, exchange, endpoints))
        if not candidates:
            return leave_out(UNDOCUMENTED)
        # A candidate that is the only one is not proven by that: the answer may be one that no record documents.
        proven = self._recognizer.find_proven(answer_of_exchange(without_hidden_headers(exchange)))
        if proven is None or proven not in candidates:
            likely = tuple(address for address in candidates if address in (identity.candidates or candidates))
            return leave_out(UNPROVEN, likely)
        matches = self._match_causes(proven, exchange, endpoints)
        if not matches:
            return leave_out(OTHERWISE_DOCUMENTED, (proven,))
        if len(matches) > 1:
            return leave_out(SEVERAL_CAUSES, (proven,))
        return (*matches, *self._match_missing_credential(matches[0]))

    def _can_occur(self, address: str, exchange: Exchange, endpoints: Sequence[str]) -> bool:
        """Whether a request can meet an error: one of its endpoints has the error, and its key does not prevent it."""
        if endpoints and occurs_on(self._catalog[address]).isdisjoint(endpoints):
            return False
        comes_only_without_key = address in self._keyless_refusals
        return not (comes_only_without_key and self._shows_key(exchange))

    def _shows_key(self, exchange: Exchange) -> bool:
        """Whether the recording shows that the request had a key; many recordings leave the key out."""
        stand_ins = manifest(self.provider).stand_ins
        query = parse_qs(urlsplit(exchange.request.url).query)
        has_key_in_query = stand_ins.key_query != "" and stand_ins.key_query in query
        headers = exchange.request.headers
        return has_key_in_query or stand_ins.key_header in headers or "authorization" in headers

    def _match_causes(self, address: str, exchange: Exchange, endpoints: Sequence[str]) -> list[Match]:
        """Match a refusal with the labels of an error record whose documented answer it is.

        A record without causes has the label `answer`. A record with causes has a label for each. Example: a 503 of
        `pa/errors/compliance/transient_upstream`, whose causes are `502`, `503`, `504` and `529` -> the cause `503`.
        """
        record = self._catalog[address]
        occurs = occurs_on(record)
        asked = replace(exchange, endpoint=next((endpoint for endpoint in endpoints if endpoint in occurs), ""))
        expectations = self._expectations(record)
        # Beside `answer`, other labels say how else our probe provokes the same answer.
        labels = [ANSWER] if ANSWER in expectations else list(expectations)
        matches = (_label_match(address, for_any_request(expectations[label]), asked, label) for label in labels)
        return [match for match in matches if is_documented(match.expected, match.exchange)]

    def _match_missing_credential(self, match: Match) -> Iterator[Match]:
        """Match what the endpoint states of a request without a credential, if the endpoint names this error for it."""
        exchange = match.exchange
        if exchange.endpoint and not self._shows_key(exchange):
            stated = self._expectations(self._catalog[exchange.endpoint]).get(MISSING_CREDENTIAL)
            if stated is not None and stated.address == match.record:
                yield _label_match(exchange.endpoint, stated, exchange, MISSING_CREDENTIAL)

    def _expectations(self, record: Record) -> Mapping[str, Expected]:
        address = str(record.address)
        if address not in self._expectations_by_address:
            expectations = asserted_expectations(record, self._catalog.__getitem__)
            self._expectations_by_address[address] = {expected.label: expected for expected in expectations}
        return self._expectations_by_address[address]


def _label_match(record: str, expected: Expected, exchange: Exchange, label: str) -> Match:
    return Match(record, expected, replace(exchange, label=label))


def _name_limit(rule: HeaderRule) -> str:
    """Return the name of the limit that a header reports on: the family of the header, else its own name.

    Example: `x-ratelimit-limit-tokens` and `x-ratelimit-remaining-tokens` are of one family.
    """
    return rule.family or rule.name


def _has_header(response: Response, rule: HeaderRule) -> bool:
    """Whether an answer has a header, and the recording shows its value."""
    return response.headers.get(rule.name_in(response.headers)) not in (None, HIDDEN)
