"""Of which records an exchange is evidence, where nobody says as what it was sent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from catalog.envelopes.pointer import ABSENT
from catalog.model import Address, Aspect, Severity
from catalog.model.labels import ANSWER, MISSING_CREDENTIAL, STREAM, SUCCESS
from catalog.reading.assertions import asserted
from catalog.reading.expectations import documented_answers
from catalog.reading.facts import occurs_on
from catalog.reading.grpc_statuses import status_of
from catalog.reading.manifest import manifest
from catalog.recognition.answers import answer_in
from catalog.recognition.identify import Recogniser
from catalog.recognition.known import Known
from probes.judging.compare import compare
from probes.traffic.filtered import misses_a_header

if TYPE_CHECKING:
    from catalog.model import Exchange, Record, Response
    from catalog.model.assertion import Assertion
    from catalog.reading.expected import Expected
    from catalog.reading.headers import HeaderRule
    from catalog.reading.store import Catalog
    from catalog.recognition.identify import Identity


@dataclass(frozen=True, slots=True)
class Match:
    """An expectation that an exchange is held against, and the exchange under its label."""

    record: str
    """The address of the record that states it: of an endpoint's refusal, the endpoint's."""
    expected: Expected
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Why an exchange is evidence of nothing."""

    why: str
    met: tuple[Match, ...] = ()
    """What its client met all the same: each record whose answer it could be, under each of its labels."""


class Matcher:
    """The records of one provider, to be found by an exchange."""

    def __init__(self, provider: str, catalog: Catalog) -> None:
        self.provider = provider
        self._catalog = catalog
        self._records = tuple(catalog.select(provider=provider))
        self._stated: dict[str, Mapping[str, Expected]] = {}

    @cached_property
    def known(self) -> Known:
        return Known.of(self._records)

    @cached_property
    def _recogniser(self) -> Recogniser:
        return Recogniser.of(self.provider, self._records)

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

    def found(self, exchange: Exchange, *, complete: bool) -> tuple[Match, ...] | Unmatched:
        """The records of an exchange that somebody else made.

        A success is evidence of its endpoint, and of the limits that its headers tell. A refusal is that of the one
        record that it can be: one answer must not verify several, so where it could be any of them it verifies none,
        and where it is otherwise than each of them documents it is held against the nearest. `complete` says whether
        the recording has all headers.
        """
        response = exchange.response
        if response is None:
            return Unmatched("without an answer")
        streamed = response.events is not None and exchange.request.method == "POST"
        request = exchange.request
        endpoints = self.known.endpoints.sharing(request.method, request.url, streamed=streamed) if request.url else ()
        status = status_of(response, self.provider)
        if status is not None and status < 400 and not self._fails_inside(exchange):
            if not endpoints:
                return Unmatched("to no endpoint of the catalog")
            succeeded = (match for each in endpoints for match in self._succeeded(exchange, each, response))
            return (*succeeded, *self._limits(replace(exchange, endpoint=endpoints[0]), response))
        return self._refused(exchange, endpoints, complete=complete)

    def _identify(self, exchange: Exchange) -> Identity:
        request = exchange.request
        return self._recogniser.identify(answer_in(exchange), method=request.method, path=request.url)

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

    def _refused(
        self, exchange: Exchange, endpoints: Sequence[str], *, complete: bool
    ) -> tuple[Match, ...] | Unmatched:
        identity = self._identify(exchange)
        on_it = [each for each in identity.records if not endpoints or self._occurs(each, endpoints)]
        candidates = on_it or self._alone_with_its_status(exchange, endpoints)
        if not candidates:
            return Unmatched("like no documented answer")
        stated = [
            self._answers_of(each, replace(exchange, endpoint=self._place(each, endpoints))) for each in candidates
        ]
        agreeing = [each for each in stated if any(not self._differing(match) - {Aspect.HEADER} for match in each)]
        nearest = (agreeing or stated)[0]
        # What differs from what all candidates document, and all causes, is a difference whichever it was: the first
        # stands for them. What is as documented says nothing of any of them.
        if any(not self._differing(match, complete=complete) for each in agreeing for match in each):
            if len(agreeing) > 1:
                return Unmatched("which could be that of several records", tuple(chain.from_iterable(agreeing)))
            if len(nearest) > 1:
                return Unmatched("of a record with several causes, of which an answer tells none", nearest)
        return (nearest[0], *self._without_a_key(nearest[0]))

    def _alone_with_its_status(self, exchange: Exchange, endpoints: Sequence[str]) -> list[str]:
        """The one record that documents this status on the endpoint, for an answer in an envelope of the provider.

        What it says is none of the documented things, so it differs from that one; of several nobody knows which.
        """
        response = exchange.response
        if response is None or not self.known.has_envelope_of(response.body):
            return []
        documented = {each.address for each in self.known.answers if each.status == response.status}
        found = [address for address in documented if self._occurs(address, endpoints)]
        return found if len(found) == 1 else []

    def _differing(self, match: Match, *, complete: bool = True) -> set[Aspect]:
        """The aspects that are otherwise than documented, but for headers that a recording may have lost."""
        found = (each for each in compare(match.expected, match.exchange) if each.severity is Severity.MUST)
        return {each.aspect for each in found if complete or not misses_a_header(each, match.exchange)}

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
        carried = manifest(self.provider).stand_ins
        by_query = carried.key_query and carried.key_query in parse_qs(urlsplit(exchange.request.url).query)
        by_header = {carried.key_header, "authorization"} & exchange.request.headers.keys()
        if exchange.endpoint and not by_header and not by_query:
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
            self._stated[address] = {each.label: each for each in asserted(record, self._catalog.__getitem__)}
        return self._stated[address]


def _match(record: str, expected: Expected, exchange: Exchange, label: str) -> Match:
    return Match(record, expected, replace(exchange, label=label))


_OF_ANY_REQUEST = frozenset({"prefix", "pattern", "ordered"})
"""Relations to a constant that hold whatever was asked for and whatever the account has."""


def _whatever_was_asked(stated: Expected) -> Expected:
    """What is stated of an answer, without what only the request of our own probe makes it.

    That is the field that a refusal names, and of values that they are just these, or so many.
    """
    kept = tuple(each for each in stated.relations if each.value is ABSENT or each.kind in _OF_ANY_REQUEST)
    wire = {aspect: value for aspect, value in stated.wire.items() if aspect != Aspect.PARAM}
    left = {each.within for each in stated.relations if each not in kept} | {str(Aspect.PARAM)}
    return replace(stated, relations=kept, wire=wire, assertions=_without(stated, left))


def _without(stated: Expected, left: Collection[str]) -> Mapping[str, Assertion]:
    return {key: each for key, each in stated.assertions.items() if each.key.within not in left}


def _is_there(rule: HeaderRule, response: Response) -> bool:
    return rule.name_in(response.headers) in response.headers


def _only(stated: Expected, rules: tuple[HeaderRule, ...]) -> Expected:
    """What is stated of these headers alone, and of the answer as a whole."""
    left = {f"{Aspect.HEADER}:{each.name}" for each in stated.headers if each not in rules}
    return replace(stated, headers=rules, assertions=_without(stated, left))
