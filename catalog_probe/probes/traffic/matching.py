"""Of which records an exchange is evidence, where nobody says as what it was sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from catalog_probe.catalog.answers.readings import answer_of_exchange
from catalog_probe.catalog.envelopes.projection import wire_values
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Address, Aspect
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.catalog.model.labels import ANSWER, MISSING_CREDENTIAL, STREAM, SUCCESS
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.expectations import documented_answers
from catalog_probe.catalog.reading.grpc_statuses import http_status_of
from catalog_probe.catalog.reading.record_fields import occurs_on
from catalog_probe.catalog.reading.requests import keyless_refusals
from catalog_probe.catalog.recognition.identify import Recognizer
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.catalog.text.json_pointer import ABSENT
from catalog_probe.catalog.text.sanitizing import sanitize_line
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.traffic.hidden_values import HIDDEN, without_hidden_headers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from catalog_probe.catalog.answers.readings import Answer
    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Exchange, Record, Response
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.reading.headers import HeaderRule
    from catalog_probe.catalog.recognition.identify import Identity


@dataclass(frozen=True, slots=True)
class Match:
    """An expectation that an exchange is held against, and the exchange under its label."""

    record: str
    """The address of the record that states it: of an endpoint's refusal, the endpoint's."""
    expected: Expected
    exchange: Exchange


_LONGEST_CODE = 80
"""Characters of a code that are shown: one that is longer is a sentence."""

UNDOCUMENTED = "like no documented answer"
AMBIGUOUS = "which could be that of several records"
SEVERAL_CAUSES = "of a record with several causes, of which an answer tells none"


@dataclass(frozen=True, slots=True)
class Refusal:
    """What refusals of one kind have in common, to be counted and listed."""

    provider: str
    endpoint: str
    """The address of the endpoint; empty where the catalog has none."""
    status: int | None
    code: str
    """Its code, or else its type."""
    why: str
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Why an exchange is evidence of nothing."""

    why: str
    candidates: tuple[str, ...] = ()
    """The addresses of the records whose answer it could be."""
    refusal: Refusal | None = None
    """What it says, if it is a refusal that no record could be held against."""


class Matcher:
    """The records of one provider, to be found by an exchange."""

    def __init__(self, provider: str, catalog: Catalog) -> None:
        self.provider = provider
        self._catalog = catalog
        self._records = tuple(catalog.select(provider=provider))
        self._stated: dict[str, Mapping[str, Expected]] = {}

    @cached_property
    def known(self) -> ProviderVocabulary:
        return ProviderVocabulary.from_records(self._records)

    @cached_property
    def _recogniser(self) -> Recognizer:
        return Recognizer.from_records(self.provider, self._records)

    def sent_as(self, exchanges: Sequence[Exchange], record: str) -> tuple[Match, ...] | Unmatched:
        """What an attempt of ours was made for: its record's expectations under the labels of the exchanges.

        Of several exchanges in one place the last is what was to be seen; the others led there.
        """
        if Address.parse(record) not in self._catalog:
            return Unmatched("sent for a record that the catalog does not have")
        stated = self._expectations(self._catalog[record])
        last = {(each.label, each.endpoint): each for each in exchanges if each.label in stated}
        found = tuple(Match(record, stated[each.label], each) for each in last.values())
        return found or Unmatched("sent under a label that its record does not have")

    def found(self, exchange: Exchange) -> tuple[Match, ...] | Unmatched:
        """The records of an exchange that somebody else made.

        A success is evidence of its endpoint, and of the limits that its headers tell. A refusal is evidence of the one
        record that it surely is: the record's status, type and code are there, and no other record fits as well.
        """
        response = exchange.response
        if response is None:
            return Unmatched("without an answer")
        streamed = response.events is not None and exchange.request.method == "POST"
        request = exchange.request
        endpoints = (
            self.known.endpoints.list_by_request(request.method, request.url, streamed=streamed) if request.url else ()
        )
        status = http_status_of(response, self.provider)
        if status is not None and status < 400 and not self._fails_inside(exchange):
            if not endpoints:
                return Unmatched("to no endpoint of the catalog")
            succeeded = (match for each in endpoints for match in self._succeeded(exchange, each, response))
            return (*succeeded, *self._limits(replace(exchange, endpoint=endpoints[0]), response))
        refused = self._refused(exchange, endpoints)
        if isinstance(refused, Unmatched):
            endpoint, code = next(iter(endpoints), ""), self._code_of(exchange)
            refusal = Refusal(self.provider, endpoint, response.status, code, refused.why, refused.candidates)
            return replace(refused, refusal=refusal)
        return refused

    def _code_of(self, exchange: Exchange) -> str:
        """The code of an error, or else its type, as the first of the provider's envelopes that carries one has it."""
        envelopes = {each.expected.envelope.name: each.expected.envelope for each in self.known.answers}
        bodies = [reading.body for reading in answer_of_exchange(exchange).readings]
        values = [wire_values(envelope, body) for body in bodies for envelope in envelopes.values()]
        named = (value[aspect] for aspect in (Aspect.CODE, Aspect.TYPE) for value in values if value.get(aspect))
        return sanitize_line(str(next(named, "")), _LONGEST_CODE)

    def _identify(self, exchange: Exchange) -> Identity:
        request = exchange.request
        return self._recogniser.identify(_answer_in(exchange), method=request.method, path=request.url)

    def _succeeded(self, exchange: Exchange, endpoint: str, response: Response) -> Iterator[Match]:
        """The endpoint's own success; a stream is evidence of the streamed form alone, where the record has one."""
        stated = self._expectations(self._catalog[endpoint])
        label = SUCCESS if response.events is None or stated[SUCCESS].stream is not None else STREAM
        if label in stated:
            yield _match(endpoint, _whatever_was_asked(stated[label]), replace(exchange, endpoint=endpoint), label)

    def _limits(self, exchange: Exchange, response: Response) -> Iterator[Match]:
        """The rate-limit records of whose headers it has some; of the other limits it need not speak."""
        for record in self._records:
            stated = self._expectations(record).get(ANSWER) if record.kind == "rate_limits" else None
            if stated is None:
                continue
            told = {each.family or each.name for each in stated.headers if _is_there(each, response)}
            rules = tuple(each for each in stated.headers if (each.family or each.name) in told)
            if rules:
                yield _match(str(record.address), _only(stated, rules), exchange, ANSWER)

    def _fails_inside(self, exchange: Exchange) -> bool:
        """Whether an answer that began as a success ends in the event, frame or close of a documented error."""
        response = exchange.response
        if response is None or (response.events is None and response.close is None):
            return False
        found = self._identify(exchange).records
        return any(each.stream is not None for address in found for each in documented_answers(self._catalog[address]))

    def _refused(self, exchange: Exchange, endpoints: Sequence[str]) -> tuple[Match, ...] | Unmatched:
        fitting = self._identify(exchange).records
        has_key = self._has_key(exchange)
        candidates = [
            address
            for address in fitting
            if (not endpoints or self._occurs(address, endpoints)) and not (has_key and address in self._keyless)
        ]
        if not candidates:
            return Unmatched(UNDOCUMENTED)
        # The request alone may have left one of several.
        is_sure = len(fitting) > 1 or self._single_out(exchange) == candidates[0]
        if len(candidates) > 1 or not is_sure:
            return Unmatched(AMBIGUOUS, tuple(candidates))
        [address] = candidates
        answers = self._answers_of(address, replace(exchange, endpoint=self._place(address, endpoints)))
        identified = [match for match in answers if _is_identified(match)]
        if not identified:
            return Unmatched(UNDOCUMENTED)
        if len(identified) > 1:
            return Unmatched(SEVERAL_CAUSES, (address,))
        return (identified[0], *self._without_a_key(identified[0]))

    def _single_out(self, exchange: Exchange) -> str | None:
        request = exchange.request
        return self._recogniser.single_out(_answer_in(exchange), method=request.method, path=request.url)

    @cached_property
    def _keyless(self) -> frozenset[str]:
        return keyless_refusals(self._records)

    def _has_key(self, exchange: Exchange) -> bool:
        """Whether the request shows a key, if only that there was one: many recordings hide it, or leave it out."""
        carried = manifest(self.provider).stand_ins
        in_query = carried.key_query and carried.key_query in parse_qs(urlsplit(exchange.request.url).query)
        return bool(in_query or {carried.key_header, "authorization"} & exchange.request.headers.keys())

    def _answers_of(self, address: str, exchange: Exchange) -> tuple[Match, ...]:
        """The exchange under the labels of an error record that it can be: one, or those of all its causes."""
        labels = self._expectations(self._catalog[address])
        status = str(exchange.response.status) if exchange.response is not None else ""
        label = status if status in labels else ANSWER
        chosen = [label] if label in labels else list(labels)
        return tuple(_match(address, _whatever_was_asked(labels[each]), exchange, each) for each in chosen)

    def _without_a_key(self, match: Match) -> Iterator[Match]:
        """The endpoint's own word on a request without a credential, where this is its refusal."""
        exchange = match.exchange
        if exchange.endpoint and not self._has_key(exchange):
            stated = self._expectations(self._catalog[exchange.endpoint]).get(MISSING_CREDENTIAL)
            if stated is not None and stated.address == match.expected.address:
                yield _match(exchange.endpoint, stated, exchange, MISSING_CREDENTIAL)

    def _occurs(self, address: str, endpoints: Sequence[str]) -> bool:
        return not occurs_on(self._catalog[address]).isdisjoint(endpoints)

    def _place(self, address: str, endpoints: Sequence[str]) -> str:
        """The endpoint on which a record was seen, one that it names first."""
        named = [each for each in endpoints if each in occurs_on(self._catalog[address])]
        return next(iter((*named, *endpoints)), "")

    def _expectations(self, record: Record) -> Mapping[str, Expected]:
        address = str(record.address)
        if address not in self._stated:
            self._stated[address] = {
                each.label: each for each in asserted_expectations(record, self._catalog.__getitem__)
            }
        return self._stated[address]


def _answer_in(exchange: Exchange) -> Answer:
    return answer_of_exchange(without_hidden_headers(exchange))


def _match(record: str, expected: Expected, exchange: Exchange, label: str) -> Match:
    return Match(record, expected, replace(exchange, label=label))


_OF_ANY_REQUEST = frozenset({"prefix", "pattern", "ordered"})
"""Relations to a constant that hold whatever was asked for and whatever the account has."""


_IDENTIFYING = frozenset(
    {
        FindingCode.STATUS_DIFFERS,
        FindingCode.TYPE_DIFFERS,
        FindingCode.CODE_DIFFERS,
        FindingCode.GRPC_STATUS_DIFFERS,
        FindingCode.BODY_MALFORMED,
        FindingCode.BODY_NOT_EMPTY,
        FindingCode.STREAM_NOT_STARTED,
        FindingCode.EVENT_MISSING,
        FindingCode.CLOSE_MISSING,
        FindingCode.CLOSE_CODE_DIFFERS,
    }
)
"""Differences in what tells that an answer is a record's: an answer that has one is not held against that record.

This prevents that an answer which no record documents becomes drift of the record most like it. It hides a record whose
status, type or code did change: such answers are listed as undocumented.
"""


def _is_identified(match: Match) -> bool:
    """Whether the answer has all that identifies the record; its words do so where the record has no code."""
    differing = {finding.code for finding in compare(match.expected, match.exchange)}
    has_code = match.expected.wire.get("code") is not None
    return not differing & _IDENTIFYING and (has_code or FindingCode.MESSAGE_DIFFERS not in differing)


def _whatever_was_asked(stated: Expected) -> Expected:
    """What is stated of an answer, without what only the request of our own probe makes it.

    That is the field that a refusal names, and of values that they are just these, or so many.
    """
    kept = tuple(each for each in stated.relations if each.value is ABSENT or each.kind in _OF_ANY_REQUEST)
    wire = {aspect: value for aspect, value in stated.wire.items() if aspect != Aspect.PARAM}
    left = {each.local_key for each in stated.relations if each not in kept} | {str(Aspect.PARAM)}
    return replace(stated, relations=kept, wire=wire, assertions=_without(stated, left))


def _without(stated: Expected, left: Collection[str]) -> Mapping[str, Assertion]:
    return {key: each for key, each in stated.assertions.items() if each.key.local_key not in left}


def _is_there(rule: HeaderRule, response: Response) -> bool:
    return response.headers.get(rule.name_in(response.headers), HIDDEN) != HIDDEN


def _only(stated: Expected, rules: tuple[HeaderRule, ...]) -> Expected:
    """What is stated of these headers alone, and of the answer as a whole."""
    left = {f"{Aspect.HEADER}:{each.name}" for each in stated.headers if each not in rules}
    return replace(stated, headers=rules, assertions=_without(stated, left))
