"""Find the records that an exchange is evidence of, whoever sent it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
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
"""Kinds of relations to a constant that hold for any request and any account, e.g. an id begins with `msg_`."""

# Prevents that an answer which no record documents becomes drift of the most similar record. Hides that a record's
# status, type, code or message did change: such answers are listed as undocumented. Example: a
# 400 of PB about an unknown field is no drift of `invalid_api_key`, although no other record is documented at its path.
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
"""Differences in what identifies a record's answer."""


def is_identified(expected: Expected, exchange: Exchange) -> bool:
    """Whether an answer has everything that identifies a record's answer, e.g. its status, type, code and message.

    Example: a documented 429 without the documented `retry-after` is identified, and that header is a difference.
    """
    return _IDENTIFYING_CODES.isdisjoint(finding.code for finding in compare(expected, exchange))


def for_any_request(expected: Expected) -> Expected:
    """Remove what only the request of our own probe causes: the faulty field, and relations to constants.

    Example: our request asks for `limit=2`, and the record says that at most 2 items come. Other clients ask for more.
    """
    relations = tuple(
        relation
        for relation in expected.relations
        if relation.value is ABSENT or relation.kind in _KINDS_FOR_ANY_REQUEST
    )
    wire = {aspect: value for aspect, value in expected.wire.items() if aspect != Aspect.PARAM}
    removed = {relation.local_key for relation in expected.relations if relation not in relations}
    removed.add(str(Aspect.PARAM))
    return replace(expected, relations=relations, wire=wire, assertions=_assertions_except(expected, removed))


def only_headers(expected: Expected, rules: tuple[HeaderRule, ...]) -> Expected:
    """Remove all headers but those with these rules; what is stated of the answer as a whole stays."""
    removed = {f"{Aspect.HEADER}:{rule.name}" for rule in expected.headers if rule not in rules}
    return replace(expected, headers=rules, assertions=_assertions_except(expected, removed))


def _assertions_except(expected: Expected, removed: Collection[str]) -> Mapping[str, Assertion]:
    return {key: assertion for key, assertion in expected.assertions.items() if assertion.key.local_key not in removed}


_MAX_CODE_LENGTH = 80  # characters; a longer code is a sentence
_MAX_EXAMPLE_LENGTH = 160  # characters of a message

UNDOCUMENTED = "like no documented answer"
OTHERWISE_DOCUMENTED = "which name a record that documents another answer"
UNPROVEN = "which say too little to be evidence of one record"
SEVERAL_CAUSES = "of a record with several causes, of which an answer tells none"


@dataclass(frozen=True, slots=True)
class Match:
    """An expectation, and the exchange that it is compared with."""

    record: str
    """The address of the record that states it: of an endpoint's refusal, the endpoint's."""
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
    candidates: tuple[str, ...]
    retry: str
    """Whether the request may be sent again: `yes`, `no`, `conditional` or `unknown`."""
    example: str = field(compare=False)
    """The message of the first one, which other refusals of the kind may not have."""


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Why an exchange is evidence of no record."""

    reason: str
    candidates: tuple[str, ...] = ()
    """The addresses of the records whose answer it could be."""
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

        A success is evidence of its endpoint, and of the limits that its headers report. A refusal is evidence only of
        the record that it proves by what it says (`recognition.proof`), and that such a request can get. Example: a 402
        of PA with the type `billing_error` matches `payment_problem` at any path, because no other record has both. Its
        403 with words of no record matches nothing, even at a path of which only one record is documented.
        """
        response = exchange.response
        if response is None:
            return Unmatched("without an answer")
        endpoints = self._find_endpoints(exchange, response)
        status = http_status_of(response, self.provider)
        is_success = status is not None and status < _REFUSED and not self._ends_in_error(exchange)
        if is_success:
            return self._match_successes(exchange, endpoints, response)
        matches = self._match_refusal(exchange, endpoints)
        if not isinstance(matches, Unmatched):
            return matches
        refusal = Refusal(
            self.provider,
            endpoint=next(iter(endpoints), ""),
            status=response.status,
            code=self._find_code(exchange),
            why=matches.reason,
            candidates=matches.candidates,
            retry=str(self._identify(exchange).retry.may),
            example=self._find_example(exchange),
        )
        return replace(matches, refusal=refusal)

    def _find_endpoints(self, exchange: Exchange, response: Response) -> Sequence[str]:
        """Return the addresses of the endpoint records that the request went to; none if its URL is unknown."""
        request = exchange.request
        if not request.url:
            return ()
        is_streamed = response.events is not None and request.method == "POST"
        return self.vocabulary.endpoints.list_by_request(request.method, request.url, streamed=is_streamed)

    def _find_code(self, exchange: Exchange) -> str:
        """Return the code of an error, or else its type, as any envelope of the provider has it."""
        envelopes = {
            answer.expected.envelope.name: answer.expected.envelope for answer in self.vocabulary.answers
        }.values()
        bodies = [reading.body for reading in answer_of_exchange(exchange).readings]
        values = [wire_values(envelope, body) for body in bodies for envelope in envelopes]
        # A number repeats the status, as PB's `{"code": 400, "status": "INVALID_ARGUMENT"}` does.
        codes = (
            value[aspect]
            for aspect in (Aspect.CODE, Aspect.TYPE)
            for value in values
            if value.get(aspect) and not isinstance(value[aspect], int)
        )
        return sanitize_line(str(next(codes, "")), _MAX_CODE_LENGTH)

    def _find_example(self, exchange: Exchange) -> str:
        """Return the message of an error; of a body without one, its first text, such as the first tags of a page."""
        readings = answer_of_exchange(exchange).readings
        messages = (message for reading in readings if (message := self.vocabulary.find_message(reading.body)))
        # An event without a message may hold a part of a secret, which redaction finds only in the whole stream.
        texts = (next(iterate_texts(reading.body), "") for reading in readings if reading.event is None)
        return sanitize_line(next(messages, next(texts, "")), _MAX_EXAMPLE_LENGTH)

    def _identify(self, exchange: Exchange) -> Identity:
        answer = answer_of_exchange(without_hidden_headers(exchange))
        return self._recognizer.identify(answer, method=exchange.request.method, path=exchange.request.url)

    def _match_successes(
        self, exchange: Exchange, endpoints: Sequence[str], response: Response
    ) -> tuple[Match, ...] | Unmatched:
        """Match the success of each endpoint with this request, and the limits that the answer reports."""
        if not endpoints:
            return Unmatched("to no endpoint of the catalog")
        successes = (match for endpoint in endpoints for match in self._match_success(exchange, endpoint, response))
        return (*successes, *self._match_limits(replace(exchange, endpoint=endpoints[0]), response))

    def _match_success(self, exchange: Exchange, endpoint: str, response: Response) -> Iterator[Match]:
        """Match the endpoint's success; a stream only with the streamed form, if the record has one."""
        expectations = self._expectations(self._catalog[endpoint])
        is_documented_as_success = response.events is None or expectations[SUCCESS].stream is not None
        label = SUCCESS if is_documented_as_success else STREAM
        if label in expectations:
            expected = for_any_request(expectations[label])
            yield _label_match(endpoint, expected, replace(exchange, endpoint=endpoint), label)

    def _match_limits(self, exchange: Exchange, response: Response) -> Iterator[Match]:
        """Match the rate-limit records whose headers the answer has; it need not report the other limits.

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

    def _ends_in_error(self, exchange: Exchange) -> bool:
        """Whether an answer that began as a success ends in an error: in an event, a frame, or a documented close.

        Example: a stream of PC whose last event is `{"type": "error", "error": {"code": "server_is_overloaded", …}}`.
        """
        response = exchange.response
        if response is not None and any(is_error_event(event) for event in response.events or ()):
            return True
        is_stream = response is not None and (response.events is not None or response.close is not None)
        return is_stream and any(
            expected.stream is not None
            for address in self._identify(exchange).records
            for expected in documented_answers(self._catalog[address])
        )

    def _match_refusal(self, exchange: Exchange, endpoints: Sequence[str]) -> tuple[Match, ...] | Unmatched:
        """Match a refusal with the one record that it proves, and with what its endpoint states of that record."""
        identity = self._identify(exchange)
        candidates = [address for address in identity.records if self._can_occur(address, exchange, endpoints)]
        if not candidates:
            return Unmatched(UNDOCUMENTED)
        # The request excludes records here, and proves none: one candidate that is left may still be the wrong one.
        address = self._recognizer.find_proven(answer_of_exchange(without_hidden_headers(exchange)))
        if address not in candidates:
            named = {*identity.candidates} or {*candidates}
            return Unmatched(UNPROVEN, tuple(address for address in candidates if address in named))
        matches = self._match_causes(address, replace(exchange, endpoint=self._choose_endpoint(address, endpoints)))
        matches = [match for match in matches if is_identified(match.expected, match.exchange)]
        if not matches:
            return Unmatched(OTHERWISE_DOCUMENTED, (address,))
        if len(matches) > 1:
            return Unmatched(SEVERAL_CAUSES, (address,))
        return (matches[0], *self._match_missing_credential(matches[0]))

    def _can_occur(self, address: str, exchange: Exchange, endpoints: Sequence[str]) -> bool:
        """Whether a request can get an error: it occurs on one of the endpoints, and not only without a key."""
        if endpoints and occurs_on(self._catalog[address]).isdisjoint(endpoints):
            return False
        needs_no_key = address in self._keyless_refusals
        return not (needs_no_key and self._has_key(exchange))

    def _has_key(self, exchange: Exchange) -> bool:
        """Whether the request shows that there was a key; many recordings hide the key or leave it out."""
        stand_ins = manifest(self.provider).stand_ins
        query = parse_qs(urlsplit(exchange.request.url).query)
        has_key_in_query = bool(stand_ins.key_query) and stand_ins.key_query in query
        has_key_in_header = not {stand_ins.key_header, "authorization"}.isdisjoint(exchange.request.headers)
        return has_key_in_query or has_key_in_header

    def _match_causes(self, address: str, exchange: Exchange) -> list[Match]:
        """Match the exchange with each label of an error record that it can have: one, or all its causes.

        Example: a 503 with a record of `502/503` -> the label `503`; with the causes `expired` and `revoked` -> both.
        """
        expectations = self._expectations(self._catalog[address])
        status = str(exchange.response.status) if exchange.response is not None else ""
        label = status if status in expectations else ANSWER
        labels = [label] if label in expectations else list(expectations)
        return [_label_match(address, for_any_request(expectations[label]), exchange, label) for label in labels]

    def _match_missing_credential(self, match: Match) -> Iterator[Match]:
        """Match what the endpoint states of a request without a credential, if this is such a refusal."""
        exchange = match.exchange
        if exchange.endpoint and not self._has_key(exchange):
            expected = self._expectations(self._catalog[exchange.endpoint]).get(MISSING_CREDENTIAL)
            if expected is not None and expected.address == match.expected.address:
                yield _label_match(exchange.endpoint, expected, exchange, MISSING_CREDENTIAL)

    def _choose_endpoint(self, address: str, endpoints: Sequence[str]) -> str:
        """Return the first endpoint that the record names, else the first one, else an empty string."""
        named = [endpoint for endpoint in endpoints if endpoint in occurs_on(self._catalog[address])]
        return next(iter((*named, *endpoints)), "")

    def _expectations(self, record: Record) -> Mapping[str, Expected]:
        address = str(record.address)
        if address not in self._expectations_by_address:
            expectations = asserted_expectations(record, self._catalog.__getitem__)
            self._expectations_by_address[address] = {expected.label: expected for expected in expectations}
        return self._expectations_by_address[address]


def _label_match(record: str, expected: Expected, exchange: Exchange, label: str) -> Match:
    return Match(record, expected, replace(exchange, label=label))


def _name_limit(rule: HeaderRule) -> str:
    """Return the name of the limit that a header reports on; a header without others of its family is one by itself."""
    return rule.family or rule.name


def _has_header(response: Response, rule: HeaderRule) -> bool:
    """Whether an answer has a header, and the recording shows its value."""
    return response.headers.get(rule.name_in(response.headers), HIDDEN) != HIDDEN
