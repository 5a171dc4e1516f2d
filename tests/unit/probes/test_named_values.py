"""Which values a request names, and which refusals of it may be for them alone."""

from __future__ import annotations

from typing import Any

import pytest

from catalog_probe.catalog.model import Aspect, Exchange, Finding, Json, Outcome, Reason, Request, Response, Severity
from catalog_probe.catalog.model.codes import FindingCode, ReasonCode
from catalog_probe.probes.judging.inconclusive.named_values import blamed, filters, names
from catalog_probe.probes.judging.verdicts.verdict import Verdict
from tests.unit.probes.comparing import wanted

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
    assert names(asked, VALUES) == named


def test_what_is_filtered_by_is_told_apart() -> None:
    assert filters(request("https://x/v1/chat_1?id=chat_1&model=x"), VALUES) == {"chat"}
    assert filters(request("https://x/v1/chat_1"), VALUES) == frozenset()


DRIFT = Finding(FindingCode.STATUS_DIFFERS, Aspect.STATUS, Severity.MUST, "status differs", "answer")
DRIFTED = Verdict(Outcome.DRIFTED, None, (DRIFT,))
A_HEADER = Finding(FindingCode.HEADER_MISSING, Aspect.HEADER, Severity.MUST, "absent", "answer", "request-id")
ASSUMED = Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.ASSUMPTION_FAILED))
UP_THE_ROAD = Verdict(Outcome.INCONCLUSIVE, Reason(ReasonCode.SETUP_FAILED))


def to_blame(verdict: Verdict, status: int, *, stated: int = 200, **changes: Any) -> set[str]:
    exchange = Exchange(
        "answer", changes.pop("request", request("https://x/chats/chat_1")), Response(status), **changes
    )
    whole = Verdict(verdict.outcome, verdict.reason, cells={("answer", ""): verdict})
    found = blamed(whole, [wanted(status=stated)], [exchange], VALUES, "pa")
    return {name for named in found.values() for name in named}


@pytest.mark.parametrize(
    ("verdict", "status", "stated", "blames"),
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
    ],
)
def test_what_is_refused_may_be_for_what_it_names(verdict: Verdict, status: int, stated: int, blames: bool) -> None:
    assert to_blame(verdict, status, stated=stated) == ({"chat"} if blames else set())


def test_a_request_that_names_none_of_them_is_refused_for_itself() -> None:
    assert to_blame(DRIFTED, 404, request=request("https://x/chats/other")) == set()


def test_nothing_of_what_is_filtered_by_is_no_difference() -> None:
    assert to_blame(DRIFTED, 200, request=request("https://x/chats?of=chat_1")) == {"chat"}


@pytest.mark.parametrize(("status", "named"), [(404, {"chat"}), (500, set())])
def test_a_step_before_that_was_refused_is_named_as_well(status: int, named: set[str]) -> None:
    setup = Exchange("setup", request("https://x/chats/chat_1"), Response(status))
    whole = Verdict(Outcome.INCONCLUSIVE, UP_THE_ROAD.reason, cells={("answer", ""): UP_THE_ROAD})
    assert set(blamed(whole, [wanted()], [setup], VALUES, "pa").get(("answer", ""), ())) == named


def test_each_cell_is_looked_at_whatever_became_of_the_one_before() -> None:
    exchange = Exchange("answer", request("https://x/chats/chat_1"), Response(404))
    fine = Verdict(Outcome.CONFORMS)
    whole = Verdict(Outcome.DRIFTED, cells={("other", ""): fine, ("lost", ""): DRIFTED, ("answer", ""): DRIFTED})
    found = blamed(whole, [wanted(status=200)], [exchange], VALUES, "pa")
    assert found == {("answer", ""): {"chat"}}
    assert blamed(whole, [wanted(status=200)], [exchange], {}, "pa") == {}
