"""Answers from an address of its own, which no control vouches for: which are such, and which show whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.envelopes.envelope import Envelope
from catalog_probe.catalog.model import Close, Event, Exchange, GrpcStatus, Outcome, Request, Response
from catalog_probe.probes.judging.inconclusive.unvouched import at_services, is_clearly_theirs
from catalog_probe.probes.judging.verdicts.verdict import Verdict
from tests.unit.probes.comparing import wanted

if TYPE_CHECKING:
    from catalog_probe.catalog.reading.expected import Expected

ADDRESSES = {"regional": "https://eu.provider.example/v1", "live": "wss://live.provider.example"}
FINE = Response(200, {}, {}, "json")


def asked(url: str, response: Response | None = FINE) -> Exchange:
    return Exchange("answer", Request("GET", url), response)


def found(exchange: Exchange | None, outcome: Outcome = Outcome.CONFORMS) -> list[str]:
    """The services at which one cell was asked."""
    place = ("answer", "")
    verdict = Verdict(outcome, cells={place: Verdict(outcome)})
    services = at_services(verdict, {place: exchange} if exchange else {}, ADDRESSES.keys(), ADDRESSES)
    assert services.keys() <= {place}
    return list(services.values())


@pytest.mark.parametrize(
    ("url", "services"),
    [
        ("https://eu.provider.example/v1/models", ["regional"]),
        ("https://live.provider.example/socket", ["live"]),
        ("wss://live.provider.example/socket", ["live"]),
        ("https://provider.example/v1/models", []),
        ("https://provider.example/?of=https://eu.provider.example/v1", []),
    ],
)
def test_an_answer_is_of_the_service_at_whose_address_it_was_asked_for_under_any_scheme(
    url: str, services: list[str]
) -> None:
    assert found(asked(url)) == services


def test_an_address_may_be_named_without_its_scheme() -> None:
    place, verdict = ("answer", ""), Verdict(Outcome.CONFORMS, cells={("answer", ""): Verdict(Outcome.CONFORMS)})
    exchanges = {place: asked("https://eu.provider.example/v1/models")}
    assert at_services(verdict, exchanges, ["bare"], {"bare": "eu.provider.example"}) == {place: "bare"}
    assert at_services(verdict, exchanges, ["bare"], {"bare": "other.example"}) == {}


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        (Outcome.CONFORMS, True),
        (Outcome.DRIFTED, True),
        (Outcome.RESTRICTED, True),
        (Outcome.INCONCLUSIVE, False),
        (Outcome.HARNESS_ERROR, False),
    ],
)
def test_only_what_says_something_is_in_question(outcome: Outcome, says: bool) -> None:
    assert found(asked("https://eu.provider.example/v1/models"), outcome) == ["regional"] * says


def test_what_was_never_answered_hides_no_other() -> None:
    places = [(label, "") for label in ("lost", "never", "elsewhere", "answer")]
    verdict = Verdict(Outcome.DRIFTED, cells={place: Verdict(Outcome.DRIFTED) for place in places})
    url = "https://eu.provider.example/v1/models"
    exchanges = {places[0]: asked(url, None), places[2]: asked("https://provider.example/"), places[3]: asked(url)}
    assert at_services(verdict, exchanges, ADDRESSES.keys(), ADDRESSES) == {places[3]: "regional"}


PLAIN = wanted(envelope=Envelope("e", {}, {}, "json"), status=200)
WITH_A_FIELD = wanted(envelope=Envelope("e", {}, {}, "json"), status=200, fields={"/data": True})


@pytest.mark.parametrize(
    ("expected", "outcome", "response", "theirs"),
    [
        (WITH_A_FIELD, Outcome.CONFORMS, Response(200, {}, {"data": []}, "json"), True),
        (PLAIN, Outcome.CONFORMS, Response(200, {}, {"data": []}, "json"), False),
        (WITH_A_FIELD, Outcome.DRIFTED, Response(200, {}, {"data": []}, "json"), False),
        (WITH_A_FIELD, Outcome.RESTRICTED, Response(403, {}, {"data": []}, "json"), False),
        (WITH_A_FIELD, Outcome.CONFORMS, None, False),
        (PLAIN, Outcome.CONFORMS, Response(200, {}, events=(Event("ping", {}),)), True),
        (PLAIN, Outcome.CONFORMS, Response(101, {}, close=Close(1000, "")), True),
        (PLAIN, Outcome.CONFORMS, Response(None, {}, grpc=GrpcStatus(0, "")), True),
    ],
    ids=["stated", "hardly anything stated", "drifted", "restricted", "none", "a stream", "a socket", "a call"],
)
def test_an_answer_is_clearly_theirs_where_an_empty_object_would_not_have_been_as_documented(
    expected: Expected, outcome: Outcome, response: Response | None, theirs: bool
) -> None:
    exchange = asked("https://eu.provider.example/v1/models", response)
    assert is_clearly_theirs(expected, Verdict(outcome), exchange) is theirs


@pytest.mark.parametrize("body", ["as text", {"of": "a text"}])
def test_a_body_of_which_nothing_is_stated_shows_nothing_of_whose_it_is(body: Any) -> None:
    kind = "text" if isinstance(body, str) else "json"
    assert not is_clearly_theirs(PLAIN, Verdict(Outcome.CONFORMS), asked("https://x", Response(200, {}, body, kind)))
