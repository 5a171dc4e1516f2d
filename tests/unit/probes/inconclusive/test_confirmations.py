"""Values that a request names, and addresses that no control confirms: which answers may be due to them alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.envelopes.envelope import Envelope
from catalog_probe.catalog.model import (
    Aspect,
    Close,
    Event,
    Finding,
    GrpcStatus,
    Json,
    Outcome,
    Reason,
    Request,
    Response,
    Severity,
)
from catalog_probe.catalog.model.codes import FindingCode, ReasonCode
from catalog_probe.probes.judging.inconclusive.confirmations import (
    confirms_host,
    find_blamed_values,
    find_service,
    find_unconfirmed_host,
    find_unconfirmed_value,
    list_named_values,
)
from catalog_probe.probes.judging.inconclusive.key_evidence import KeyEvidence, TargetFacts
from catalog_probe.probes.judging.verdicts.verdict import Verdict
from tests.unit.probes.comparing import wanted
from tests.unit.probes.inconclusive.evidence_making import evidence

if TYPE_CHECKING:
    from catalog_probe.catalog.reading.expected import Expected

VALUES = {"small_model": "haiku-1", "chat": "chat_1"}


def request(url: str = "https://x/v1/a", body: Json = None, **headers: str) -> Request:
    return Request("POST", url, headers, body)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (request("https://x/v1/models/haiku-1"), {"small_model"}),
        (request("https://x/v1/models/haiku-1:count?x=1"), {"small_model"}),
        (request("https://x/v1/models/haiku%2D1"), {"small_model"}),
        (request("https://x/v1/models/haiku-10"), set()),
        (request("https://x/v1/models/my-haiku-1"), set()),
        (request("https://x/v1/haiku-1.5"), set()),
        (request(body={"model": "models/haiku-1", "chats": ["chat_1"]}), {"small_model", "chat"}),
        (request(beta="a,haiku-1"), {"small_model"}),
        (request("https://x/v1/chats?id=chat_1"), set()),
    ],
)
def test_names_are_whole_words_of_path_headers_and_body(asked: Request, named: set[str]) -> None:
    assert list_named_values(asked, VALUES) == named


DRIFT = Finding(FindingCode.STATUS_DIFFERS, Aspect.STATUS, Severity.MUST, "status differs", "answer")
DRIFTED = Verdict(Outcome.DRIFTED, None, (DRIFT,))
A_HEADER = Finding(FindingCode.HEADER_MISSING, Aspect.HEADER, Severity.MUST, "absent", "answer", "request-id")
ASSUMED = Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.ASSUMPTION_FAILED))
NO_SETUP = Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.SETUP_FAILED))
NAMES_CHAT = request("https://x/chats/chat_1")


def blamed(verdict: Verdict, status: int, expected: int = 200, asked: Request = NAMES_CHAT) -> set[str]:
    seen = evidence(wanted(status=expected), Response(status), verdict, request=asked)
    assert find_blamed_values(seen, {}) == frozenset()
    return set(find_blamed_values(seen, VALUES))


@pytest.mark.parametrize(
    ("verdict", "status", "expected", "blames"),
    [
        (DRIFTED, 404, 200, True),
        (DRIFTED, 400, 200, True),
        (DRIFTED, 410, 400, True),
        (DRIFTED, 422, 200, True),
        (DRIFTED, 423, 200, False),
        (ASSUMED, 400, 200, True),
        (Verdict(Outcome.RESTRICTED, Reason(ReasonCode.PROBE_REFUSED)), 403, 200, True),
        (DRIFTED, 404, 400, True),
        (DRIFTED, 422, 400, False),
        (DRIFTED, 200, 400, False),
        (DRIFTED, 200, 200, False),
        (DRIFTED, 500, 200, False),
        (Verdict(Outcome.CONFORMS), 404, 404, False),
        (Verdict(Outcome.DRIFTED, None, (A_HEADER,)), 404, 404, False),
        (Verdict(Outcome.DRIFTED, None, (A_HEADER, DRIFT)), 404, 400, True),
        (Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.UNASKED_RATE_LIMIT)), 404, 200, False),
        (NO_SETUP, 404, 200, True),
        (NO_SETUP, 400, 404, True),
        (NO_SETUP, 500, 200, False),
    ],
)
def test_what_is_refused_may_be_for_what_it_names(verdict: Verdict, status: int, expected: int, blames: bool) -> None:
    assert blamed(verdict, status, expected) == ({"chat"} if blames else set())


def test_a_request_that_names_none_of_them_is_refused_for_itself() -> None:
    assert blamed(DRIFTED, 404, asked=request("https://x/chats/other")) == set()


def test_nothing_of_what_is_filtered_by_is_no_difference() -> None:
    assert blamed(DRIFTED, 200, asked=request("https://x/chats?of=chat_1")) == {"chat"}
    assert blamed(DRIFTED, 404, asked=request("https://x/v1/chat_1?id=haiku-1&model=x")) == {"small_model", "chat"}
    assert blamed(DRIFTED, 200, asked=request("https://x/v1/chat_1?id=haiku-1")) == {"small_model"}


@pytest.mark.parametrize(("confirmed", "applies"), [(set(), True), ({"small_model"}, True), ({"chat"}, False)])
def test_a_value_is_not_to_blame_that_any_request_got_through_with(confirmed: set[str], applies: bool) -> None:
    facts = TargetFacts(unconfirmed_values=VALUES, value_fixes={"chat": "set PA_CHAT"})
    key = KeyEvidence(facts, confirmed_values=confirmed)
    reason = find_unconfirmed_value(evidence(wanted(status=200), Response(404), DRIFTED, request=NAMES_CHAT, key=key))
    told = "set PA_CHAT: it is refused wherever it is named, and nothing shows that this key may use it"
    assert reason == (Reason("value-not-found", told) if applies else None)


ADDRESSES = {"regional": "https://eu.provider.example/v1", "live": "wss://live.provider.example", "bare": "a.example"}


@pytest.mark.parametrize(
    ("url", "service"),
    [
        ("https://eu.provider.example/v1/models", "regional"),
        ("https://live.provider.example/socket", "live"),
        ("wss://live.provider.example/socket", "live"),
        ("https://a.example/v1", "bare"),
        ("https://provider.example/v1/models", ""),
        ("https://provider.example/?of=https://eu.provider.example/v1", ""),
    ],
)
def test_an_answer_is_of_the_service_at_whose_address_it_was_asked_for_under_any_scheme(url: str, service: str) -> None:
    assert find_service(request(url), ADDRESSES) == service


def test_of_two_addresses_the_longer_one_was_asked() -> None:
    addresses = {"all": "https://x.example", "eu": "https://x.example/eu"}
    for order in (addresses, dict(reversed(addresses.items()))):
        assert find_service(request("https://x.example/eu/v1"), order) == "eu"
        assert find_service(request("https://x.example/us/v1"), order) == "all"


@pytest.mark.parametrize(
    ("change", "applies"),
    [
        ({}, True),
        ({"verdict": Verdict(Outcome.CONFORMS)}, True),
        ({"verdict": Verdict(Outcome.RESTRICTED)}, True),
        ({"verdict": Verdict(Outcome.INCONCLUSIVE)}, False),
        ({"verdict": Verdict(Outcome.HARNESS_ERROR)}, False),
        ({"unconfirmed_host": ""}, False),
        ({"key": KeyEvidence(TargetFacts(addresses=ADDRESSES), confirmed_hosts={"regional"})}, False),
    ],
)
def test_whatever_an_unconfirmed_host_says_is_in_question(change: dict[str, Any], applies: bool) -> None:
    key = KeyEvidence(TargetFacts(addresses=ADDRESSES, address_names={"regional": "PA_REGIONAL"}))
    seen = evidence(wanted(), Response(200), DRIFTED, unconfirmed_host="regional", key=key)
    reason = find_unconfirmed_host(replace(seen, **change))
    told = "nothing from https://eu.provider.example/v1 was as documented; look at PA_REGIONAL"
    assert reason == (Reason("control-failed", told) if applies else None)


PLAIN = wanted(envelope=Envelope("e", {}, {}, "json"), status=200)
WITH_A_FIELD = wanted(envelope=Envelope("e", {}, {}, "json"), status=200, fields={"/data": True})


@pytest.mark.parametrize(
    ("expected", "outcome", "response", "confirms"),
    [
        (WITH_A_FIELD, Outcome.CONFORMS, Response(200, {}, {"data": []}, "json"), True),
        (PLAIN, Outcome.CONFORMS, Response(200, {}, {"data": []}, "json"), False),
        (WITH_A_FIELD, Outcome.DRIFTED, Response(200, {}, {"data": []}, "json"), False),
        (WITH_A_FIELD, Outcome.RESTRICTED, Response(403, {}, {"data": []}, "json"), False),
        (PLAIN, Outcome.CONFORMS, Response(200, {}, events=(Event("ping", {}),)), True),
        (PLAIN, Outcome.CONFORMS, Response(101, {}, close=Close(1000, "")), True),
        (PLAIN, Outcome.CONFORMS, Response(None, {}, grpc=GrpcStatus(0, "")), True),
        (PLAIN, Outcome.CONFORMS, Response(200, {}, "as text", "text"), False),
    ],
    ids=["stated", "hardly anything stated", "drifted", "restricted", "a stream", "a socket", "a call", "a text"],
)
def test_an_answer_confirms_a_host_if_an_empty_object_would_not_have_been_as_documented(
    expected: Expected, outcome: Outcome, response: Response, confirms: bool
) -> None:
    assert confirms_host(evidence(expected, response, Verdict(outcome))) is confirms
