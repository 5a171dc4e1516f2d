"""What comes in place of several answers at once: words that keep a key out, and a text of somebody on the way."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.model import Address, Aspect, Exchange, Finding, Outcome, Reason, Request, Response, Severity
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.catalog.reading.expectations import expectations
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.probes.judging.inconclusive.settlement import (
    Refusal,
    Ruled,
    Ruling,
    Said,
    alike,
    foreign_texts,
    refusals,
    settled,
)
from catalog_probe.probes.judging.verdicts.record_verdict import record_verdict
from catalog_probe.probes.judging.verdicts.verdict import Verdict
from tests.harness.engines import catalog
from tests.unit.probes.judging_one import known

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

MESSAGES = "pa/endpoints/messages/create_message"
COUNT = "pa/endpoints/messages/count_tokens"
PLACE = ("answer", "")
SAID = Said("pa:inference", MESSAGES, 401, "Missing scopes: messages.")
GREETED = Said("pa:inference", MESSAGES, 200, "HTTP 200: Welcome.")


def judged(outcome: Outcome) -> Verdict:
    finding = Finding("status-differs", Aspect.STATUS, Severity.MUST, "", "answer", observed=400)
    drifts = outcome is Outcome.DRIFTED
    return Verdict(
        outcome,
        None,
        (finding,) * drifts,
        (Observation(MESSAGES, "answer", ("body",), {"status": "400"} if drifts else {}),),
    )


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ({}, None),
        ({GREETED.message: {MESSAGES}}, None),
        ({"HTTP 200: Farewell.": {MESSAGES, COUNT}}, None),
        ({GREETED.message: {MESSAGES, COUNT}}, "gateway-page"),
    ],
    ids=["none", "one endpoint", "another text", "two endpoints"],
)
def test_one_text_from_several_endpoints_is_a_gateway_s(texts: dict[str, set[str]], reason: str | None) -> None:
    drifted = record_verdict({PLACE: judged(Outcome.DRIFTED)})
    found = settled(drifted, [Refusal(PLACE, GREETED, "", page=False, provoked=False, foreign=True)], {}, texts=texts)
    assert (found.reason.code if found.reason else None) == reason
    assert (found.outcome is Outcome.DRIFTED) == (reason is None)


@pytest.mark.parametrize(
    ("refused", "outcome", "reason"),
    [
        ({"provoked": True}, Outcome.DRIFTED, "account-trouble"),
        ({"provoked": False}, Outcome.DRIFTED, None),
        ({"provoked": True, "of_rights": True}, Outcome.DRIFTED, None),
        ({"provoked": True}, Outcome.CONFORMS, None),
    ],
    ids=["provoked", "with another key", "asked for", "as documented"],
)
def test_what_keeps_a_key_out_is_no_drift_of_another_error(
    refused: dict[str, Any], outcome: Outcome, reason: str | None
) -> None:
    verdict = record_verdict({PLACE: judged(outcome)})
    refusal = Refusal(PLACE, SAID, "", page=False, **refused)
    found = settled(verdict, [refusal], {}, kept_out={SAID.anywhere})
    assert (found.reason.code if found.reason else None) == reason
    assert found.outcome is (Outcome.INCONCLUSIVE if reason else outcome)
    assert settled(verdict, [refusal], {}) == verdict


def test_a_text_under_a_success_is_known_by_its_words_and_where_it_came() -> None:
    expected = [Expected("answer", MESSAGES, envelope("pa_result"), 200)]
    asked, text = Request("POST", "https://provider.example/v1/messages"), Response(200, {}, "Welcome.", "text")
    greeted = Exchange("answer", asked, text, endpoint=MESSAGES)
    others = [
        Exchange("answer", asked, None, Reason("connection-reset")),
        Exchange("control", asked, text),
        Exchange("answer", asked, Response(200, {}, {"id": "msg_1"}, "json")),
    ]
    assert list(foreign_texts(expected, [*others, greeted], known("pa"))) == [(GREETED.message, MESSAGES)]
    verdict = record_verdict({PLACE: judged(Outcome.DRIFTED)})
    found = refusals(expected, verdict, {PLACE: greeted}, "pa:inference", {}, known("pa"))
    assert list(found) == [Refusal(PLACE, GREETED, "", page=False, provoked=False, foreign=True)]
    [plain] = refusals(expected, verdict, {PLACE: others[2]}, "pa:inference", {}, known("pa"))
    assert not plain.foreign


MODELS = "pa/endpoints/models/list_models"
REQUEST = Request("POST", "https://provider.example/v1/messages")
REFUSED = Response(403, {}, {"type": "error", "error": {"type": "permission_error", "message": "no"}}, "json")


def success_of(address: str) -> Expected:
    record = catalog()[Address.parse(address)]
    return next(each for each in expectations(record, catalog().__getitem__) if each.label == "success")


def refused_by(
    response: Response,
    outcome: Outcome = Outcome.DRIFTED,
    *,
    request: Request = REQUEST,
    faults: Mapping[str, str] = MappingProxyType({"answer": "f"}),
    with_another_key: Container[str] = (),
) -> list[Refusal]:
    """What is refused where 400 is documented of the endpoint of messages."""
    place = ("answer", MESSAGES)
    verdict = record_verdict({place: replace(judged(outcome), observations=(Observation(MESSAGES, "answer", (), {}),))})
    expected = [Expected("answer", MESSAGES, envelope("pa"), 400)]
    exchanges = {place: Exchange("answer", request, response)}
    return list(
        refusals(
            expected,
            verdict,
            exchanges,
            "pa:inference",
            faults,
            known("pa"),
            with_another_key=with_another_key,
            success=success_of,
        )
    )


MESSAGE = {"model": "mock-small", "stop_reason": "end_turn", "usage": {"input_tokens": 1}}


@pytest.mark.parametrize(
    ("response", "faults"),
    [
        (Response(200, {}, {"portal": "log in"}, "json"), ["f"]),
        (Response(200, {}, MESSAGE, "json"), [""]),
        (Response(200, {}, None, events=()), []),
        (Response(300, {}, {"portal": "log in"}, "json"), []),
        (REFUSED, ["f"]),
    ],
    ids=["a portal's", "let through, without its headers", "a stream", "no success", "a refusal"],
)
def test_what_comes_in_place_of_an_error_counts_unless_it_is_the_success_of_its_endpoint(
    response: Response, faults: list[str]
) -> None:
    assert [each.fault for each in refused_by(response)] == faults


def test_only_a_fault_that_was_provoked_with_the_key_of_the_lane_is_what_an_answer_came_instead_of() -> None:
    assert [each.instead_of for each in refused_by(REFUSED)] == [("f", 400)]
    assert [each.instead_of for each in refused_by(REFUSED, with_another_key={"answer"})] == [("", 400)]
    assert [each.instead_of for each in refused_by(REFUSED, faults={})] == [("", 400)]
    assert [each.instead_of for each in refused_by(REFUSED, Outcome.CONFORMS)] == [("", None)]


def test_a_success_that_conforms_is_no_refusal() -> None:
    assert refused_by(Response(200, {}, {"portal": "log in"}, "json"), Outcome.CONFORMS) == []


def test_a_refusal_stands_where_it_was_asked_or_else_where_it_was_looked_at() -> None:
    assert [each.where for each in refused_by(REFUSED)] == [MESSAGES]
    of_models, nowhere = (
        Request("GET", "https://provider.example/v1/models"),
        Request("GET", "https://provider.example/"),
    )
    assert [each.where for each in refused_by(REFUSED, request=of_models)] == [MODELS]
    assert [each.where for each in refused_by(REFUSED, request=nowhere)] == [MESSAGES]
    assert [each.where for each in refused_by(REFUSED, Outcome.CONFORMS)] == [""]


def test_cells_of_which_nothing_can_be_said_hide_no_other() -> None:
    seen = judged(Outcome.DRIFTED)
    verdict = record_verdict(
        {(label, ""): replace(seen, observations=() if label == "b" else seen.observations) for label in "abcde"}
    )
    expected = [Expected(label, MESSAGES, envelope("pa"), 400) for label in "abcde"]
    text = Response(200, {}, "Welcome.", "text")
    told = Response(None, {}, None, events=())
    answers = {"a": None, "b": REFUSED, "c": text, "d": told, "e": REFUSED}
    exchanges = {(label, ""): Exchange(label, REQUEST, answer) for label, answer in answers.items()}
    found = refusals(expected, verdict, exchanges, "pa:inference", {}, known("pa"))
    assert [(each.place[0], each.foreign) for each in found] == [("c", True), ("e", False)]


@pytest.mark.parametrize(("message", "words"), [("No.", "No."), ("", "no words")])
def test_a_ruling_says_what_came_without_a_fault_too(message: str, words: str) -> None:
    told = alike(Said("pa:inference", MESSAGES, 403, message), "POST /v1/messages")
    assert told == Ruled(Ruling.EVERYTHING, f"POST /v1/messages was answered alike: 403: {words}")
