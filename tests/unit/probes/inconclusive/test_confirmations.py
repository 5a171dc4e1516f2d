"""Unconfirmed values and hosts: which mismatches may be due to them alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes import Envelope
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
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.probes.judging.inconclusive.assumptions import (
    confirms_host,
    find_blamed_values,
    find_service,
    find_unconfirmed_host,
    find_unconfirmed_value,
    list_named_values,
)
from catalog_probe.probes.judging.inconclusive.evidence import KeyEvidence, TargetFacts
from catalog_probe.probes.judging.verdict import Verdict
from tests.unit.probes.comparing import make_expected
from tests.unit.probes.inconclusive.evidence_making import make_evidence

if TYPE_CHECKING:
    import pytest

    from catalog_probe.catalog.reading.expectations import Expected

VALUES = {"small_model": "haiku-1", "chat": "chat_1"}


def make_request(url: str = "https://x/v1/a", body: Json = None, **headers: str) -> Request:
    return Request("POST", url, headers, body)


def test_named_values_are_whole_words_of_path_headers_and_body(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Request, set[str]]] = [
        (make_request("https://x/v1/models/haiku-1"), {"small_model"}),
        (make_request("https://x/v1/models/haiku-1:count?x=1"), {"small_model"}),
        (make_request("https://x/v1/models/haiku%2D1"), {"small_model"}),
        (make_request("https://x/v1/models/haiku-10"), set()),
        (make_request("https://x/v1/models/my-haiku-1"), set()),
        (make_request("https://x/v1/haiku-1.5"), set()),
        (make_request(body={"model": "models/haiku-1", "chats": ["chat_1"]}), {"small_model", "chat"}),
        (make_request(beta="a,haiku-1"), {"small_model"}),
        (make_request("https://x/v1/chats?id=chat_1"), set()),
    ]
    for sent, names in cases:
        with subtests.test(sent=sent):
            assert list_named_values(sent, VALUES) == names


DRIFT = Finding(FindingCode.STATUS_DIFFERS, Aspect.STATUS, Severity.MUST, "status differs", "answer")
DRIFTED = Verdict(Outcome.DRIFTED, None, (DRIFT,))
HEADER_DRIFT = Finding(FindingCode.HEADER_MISSING, Aspect.HEADER, Severity.MUST, "absent", "answer", "request-id")
ASSUMPTION_FAILED = Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.ASSUMPTION_FAILED))
NAMES_CHAT = make_request("https://x/chats/chat_1")


def list_blamed_values(verdict: Verdict, status: int, expected: int = 200, request: Request = NAMES_CHAT) -> set[str]:
    evidence = make_evidence(make_expected(status=expected), Response(status), verdict, request=request)
    assert find_blamed_values(evidence, {}) == frozenset()
    return set(find_blamed_values(evidence, VALUES))


def test_refusal_may_be_due_to_a_named_value(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Verdict, int, int, bool]] = [
        (DRIFTED, 404, 200, True),
        (DRIFTED, 400, 200, True),
        (DRIFTED, 410, 400, True),
        (DRIFTED, 422, 200, True),
        (DRIFTED, 423, 200, False),
        (ASSUMPTION_FAILED, 400, 200, True),
        (Verdict(Outcome.RESTRICTED, Reason(ReasonCode.PROBE_REFUSED)), 403, 200, True),
        (DRIFTED, 404, 400, True),
        (DRIFTED, 422, 400, False),
        (DRIFTED, 200, 400, False),
        (DRIFTED, 200, 200, False),
        (DRIFTED, 500, 200, False),
        (Verdict(Outcome.CONFORMS), 404, 404, False),
        (Verdict(Outcome.DRIFTED, None, (HEADER_DRIFT,)), 404, 404, False),
        (Verdict(Outcome.DRIFTED, None, (HEADER_DRIFT, DRIFT)), 404, 400, True),
        (Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.UNASKED_RATE_LIMIT)), 404, 200, False),
    ]
    for verdict, status, expected, blames in cases:
        with subtests.test(verdict=verdict):
            assert list_blamed_values(verdict, status, expected) == ({"chat"} if blames else set())


def test_request_without_named_values_blames_none() -> None:
    assert list_blamed_values(DRIFTED, 404, request=make_request("https://x/chats/other")) == set()


def test_values_in_a_query_are_blamed_only_for_an_unexpected_success() -> None:
    assert list_blamed_values(DRIFTED, 200, request=make_request("https://x/chats?of=chat_1")) == {"chat"}
    assert list_blamed_values(DRIFTED, 404, request=make_request("https://x/v1/chat_1?id=haiku-1&model=x")) == {
        "small_model",
        "chat",
    }
    assert list_blamed_values(DRIFTED, 200, request=make_request("https://x/v1/chat_1?id=haiku-1")) == {"small_model"}


def test_confirmed_value_is_not_blamed(subtests: pytest.Subtests) -> None:
    cases: list[tuple[set[str], bool]] = [(set(), True), ({"small_model"}, True), ({"chat"}, False)]
    for confirmed, applies in cases:
        with subtests.test(confirmed=confirmed):
            facts = TargetFacts(unconfirmed_values=VALUES, value_fixes={"chat": "set PA_CHAT"})
            key = KeyEvidence(facts, confirmed_values=confirmed)
            reason = find_unconfirmed_value(
                make_evidence(make_expected(status=200), Response(404), DRIFTED, request=NAMES_CHAT, key=key)
            )
            detail = "set PA_CHAT: it is refused wherever it is named, and nothing shows that this key may use it"
            assert reason == (Reason("value-not-found", detail) if applies else None)


ADDRESSES = {"regional": "https://eu.provider.example/v1", "live": "wss://live.provider.example", "bare": "a.example"}


def test_service_is_found_by_address_under_any_scheme(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("https://eu.provider.example/v1/models", "regional"),
        ("https://live.provider.example/socket", "live"),
        ("wss://live.provider.example/socket", "live"),
        ("https://a.example/v1", "bare"),
        ("https://provider.example/v1/models", ""),
        ("https://provider.example/?of=https://eu.provider.example/v1", ""),
    ]
    for url, service in cases:
        with subtests.test(url=url):
            assert find_service(make_request(url), ADDRESSES) == service


def test_longest_matching_address_wins() -> None:
    addresses = {"all": "https://x.example", "eu": "https://x.example/eu"}
    for ordered in (addresses, dict(reversed(addresses.items()))):
        assert find_service(make_request("https://x.example/eu/v1"), ordered) == "eu"
        assert find_service(make_request("https://x.example/us/v1"), ordered) == "all"


def test_answers_of_an_unconfirmed_host_are_inconclusive(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], bool]] = [
        ({}, True),
        ({"verdict": Verdict(Outcome.CONFORMS)}, True),
        ({"verdict": Verdict(Outcome.RESTRICTED)}, True),
        ({"verdict": Verdict(Outcome.INCONCLUSIVE)}, False),
        ({"verdict": Verdict(Outcome.HARNESS_ERROR)}, False),
        ({"unconfirmed_host": ""}, False),
        ({"key": KeyEvidence(TargetFacts(addresses=ADDRESSES), confirmed_hosts={"regional"})}, False),
    ]
    for change, applies in cases:
        with subtests.test(change=change):
            key = KeyEvidence(TargetFacts(addresses=ADDRESSES, address_names={"regional": "PA_REGIONAL"}))
            evidence = make_evidence(make_expected(), Response(200), DRIFTED, unconfirmed_host="regional", key=key)
            reason = find_unconfirmed_host(replace(evidence, **change))
            detail = "nothing from https://eu.provider.example/v1 was as documented"
            expected = Reason.with_advice("control-failed", detail, "look at PA_REGIONAL")
            assert reason == (expected if applies else None)


EXPECT_JSON = make_expected(envelope=Envelope("e", {}, {}, "json"), status=200)
EXPECT_FIELD = make_expected(envelope=Envelope("e", {}, {}, "json"), status=200, fields={"/data": True})


def test_host_is_confirmed_by_an_answer_with_content(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Expected, Outcome, Response, bool]] = [
        ("stated", EXPECT_FIELD, Outcome.CONFORMS, Response(200, {}, {"data": []}, "json"), True),
        ("hardly anything stated", EXPECT_JSON, Outcome.CONFORMS, Response(200, {}, {"data": []}, "json"), False),
        ("drifted", EXPECT_FIELD, Outcome.DRIFTED, Response(200, {}, {"data": []}, "json"), False),
        ("restricted", EXPECT_FIELD, Outcome.RESTRICTED, Response(403, {}, {"data": []}, "json"), False),
        ("a stream", EXPECT_JSON, Outcome.CONFORMS, Response(200, {}, events=(Event("ping", {}),)), True),
        ("a socket", EXPECT_JSON, Outcome.CONFORMS, Response(101, {}, close=Close(1000, "")), True),
        ("a call", EXPECT_JSON, Outcome.CONFORMS, Response(None, {}, grpc=GrpcStatus(0, "")), True),
        ("a text", EXPECT_JSON, Outcome.CONFORMS, Response(200, {}, "as text", "text"), False),
    ]
    for case, expected, outcome, response, confirms in cases:
        with subtests.test(case=case):
            assert confirms_host(make_evidence(expected, response, Verdict(outcome))) is confirms
