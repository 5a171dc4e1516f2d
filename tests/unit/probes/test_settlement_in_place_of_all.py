"""What comes in place of several answers at once: words that keep a key out, and a text of somebody on the way."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.envelopes.envelope import envelope
from catalog.model import Aspect, Exchange, Finding, Outcome, Reason, Request, Response, Severity
from catalog.model.look import Look
from catalog.reading.expected import Expected
from probes.judging.settlement import Refusal, Said, foreign_texts, refusals, settled
from probes.judging.summed import summed
from probes.judging.verdict import Verdict
from tests.unit.probes.test_basis import known

MESSAGES = "pa/endpoints/messages/create_message"
COUNT = "pa/endpoints/messages/count_tokens"
PLACE = ("answer", "")
SAID = Said("pa:inference", MESSAGES, 401, "Missing scopes: messages.")
GREETED = Said("pa:inference", MESSAGES, 200, "HTTP 200: Welcome.")


def judged(outcome: Outcome) -> Verdict:
    finding = Finding("status-differs", Aspect.STATUS, Severity.MUST, "", "answer", observed=400)
    drifts = outcome is Outcome.DRIFTED
    return Verdict(
        outcome, None, (finding,) * drifts, (Look(MESSAGES, "answer", ("body",), {"status": "400"} if drifts else {}),)
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
    drifted = summed({PLACE: judged(Outcome.DRIFTED)})
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
    verdict = summed({PLACE: judged(outcome)})
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
    verdict = summed({PLACE: judged(Outcome.DRIFTED)})
    found = refusals(expected, verdict, {PLACE: greeted}, "pa:inference", {}, known("pa"))
    assert list(found) == [Refusal(PLACE, GREETED, "", page=False, provoked=False, foreign=True)]
    [plain] = refusals(expected, verdict, {PLACE: others[2]}, "pa:inference", {}, known("pa"))
    assert not plain.foreign
