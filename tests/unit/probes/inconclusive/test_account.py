"""What tells of the account's credit, quota or place alone says nothing of a record that is about something else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from catalog_probe.catalog.model import Attempt, Exchange, Outcome, Request, Response
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.probes.judging.inconclusive.account import find_account_trouble
from catalog_probe.probes.judging.judge import judge
from tests.harness.engines import catalog
from tests.unit.probes.inconclusive.evidence_making import evidence, stated
from tests.unit.probes.judging_one import known

SPEND_LIMIT = "You have reached your specified API usage limits. You will regain access on 2026-12-01."


def pa(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def pc(kind: str, code: str) -> dict[str, Any]:
    return {"error": {"message": "no", "type": kind, "param": None, "code": code}}


def pb(status: str, message: str, code: int = 400) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status}}


NO_CREDIT = "Your credit balance is too low to access the API."

CASES: list[tuple[str, int, dict[str, Any], str]] = [
    ("pa/errors/invalid_request/missing_max_tokens", 400, pa("invalid_request_error", SPEND_LIMIT), "account-trouble"),
    ("pa/errors/general/unknown_model", 402, pa("billing_error", "Pay your bill."), "no-credit"),
    (
        "pc/errors/rate_limit/rate_limit_exceeded",
        429,
        pc("insufficient_quota", "insufficient_quota"),
        "no-credit",
    ),
    ("pc/errors/request/wrong_method", 429, pc("invalid_request_error", "credit_balance_exhausted"), "no-credit"),
    ("pa/errors/invalid_request/missing_max_tokens", 400, pa("invalid_request_error", NO_CREDIT), "no-credit"),
    (
        "pd/errors/request/wrong_type",
        403,
        {"code": "no", "error": "Your team has used all of its credits."},
        "no-credit",
    ),
    (
        "pc/errors/request/wrong_method",
        403,
        pc("invalid_request_error", "unsupported_country_region_territory"),
        "region-refused",
    ),
]


def outcome(address: str, status: int, body: dict[str, Any]) -> tuple[Outcome, str]:
    """The verdict on the first label of a record that is answered so."""
    expected = tuple(asserted_expectations(catalog()[address], catalog().__getitem__))[:1]
    request = Request("POST", "https://provider.example/v1/x")
    exchange = Exchange(expected[0].label, request, Response(status, {}, body, "json"))
    verdict = judge(expected, Attempt("", 0.0, (exchange,)), known(address.partition("/")[0]))
    return verdict.outcome, verdict.reason.code if verdict.reason else ""


@pytest.mark.parametrize("address, status, body, reason", CASES)
def test_it_is_inconclusive_whether_or_not_it_differs(
    address: str, status: int, body: dict[str, Any], reason: str
) -> None:
    assert outcome(address, status, body) == (Outcome.INCONCLUSIVE, reason)


@pytest.mark.parametrize(
    "address, status, body",
    [
        ("pa/errors/general/spend_limit_reached", 400, pa("invalid_request_error", SPEND_LIMIT)),
        ("pa/errors/general/payment_problem", 402, pa("billing_error", "Pay your bill.")),
        ("pc/errors/rate_limit/insufficient_quota", 429, pc("insufficient_quota", "insufficient_quota")),
        (
            "pc/errors/permission/unsupported_country_region_territory",
            403,
            pc("invalid_request_error", "unsupported_country_region_territory"),
        ),
    ],
)
def test_where_it_was_asked_for_it_is_judged(address: str, status: int, body: dict[str, Any]) -> None:
    assert outcome(address, status, body)[0] in (Outcome.CONFORMS, Outcome.DRIFTED)


def test_a_region_that_is_refused_is_no_restriction_of_an_endpoint() -> None:
    refusal = pc("invalid_request_error", "unsupported_country_region_territory")
    assert outcome("pc/endpoints/models/list_models", 403, refusal) == (Outcome.INCONCLUSIVE, "region-refused")


def test_a_code_of_the_account_tells_it_beside_another_type() -> None:
    """As real answers have it; where it was asked for, the type is what differs."""
    refusal = pc("request_forbidden", "unsupported_country_region_territory")
    assert outcome("pc/endpoints/models/list_models", 403, refusal) == (Outcome.INCONCLUSIVE, "region-refused")
    own = outcome("pc/errors/permission/unsupported_country_region_territory", 403, refusal)
    assert own[0] is Outcome.DRIFTED
    assert outcome("pc/endpoints/models/list_models", 403, pc("request_forbidden", "other"))[0] is Outcome.DRIFTED


def test_by_its_code_no_answer_is_the_accounts_that_another_record_has_or_another_status() -> None:
    by_code = known("pc").match_account_trouble_by_code
    (spent,) = by_code(429, pc("invalid_request_error", "insufficient_quota"))
    assert spent.account_reason == "no-credit"
    assert by_code(429, pc("invalid_request_error", "rate_limit_exceeded")) == ()
    assert by_code(500, pc("invalid_request_error", "insufficient_quota")) == ()


def test_under_the_type_that_a_record_states_a_code_of_the_account_is_what_differs() -> None:
    other = pc("insufficient_quota", "billing_hard_limit_reached")
    assert outcome("pc/errors/rate_limit/insufficient_quota", 429, other)[0] is Outcome.DRIFTED
    spent = pc("invalid_request_error", "insufficient_quota")
    assert outcome("pc/errors/rate_limit/organization_usage_limit_exceeded", 429, spent)[0] is Outcome.DRIFTED
    assert outcome("pc/errors/rate_limit/rate_limit_exceeded", 429, other) == (Outcome.INCONCLUSIVE, "account-trouble")


@pytest.mark.parametrize("kind", ["invalid_request_error", "insufficient_quota", "billing_limit_user_error"])
@pytest.mark.parametrize("status", [400, 403])
def test_a_code_of_the_account_tells_it_under_another_status_too(status: int, kind: str) -> None:
    """As a hard billing limit is answered in the field; the record that asks for it is judged."""
    spent = pc(kind, "billing_hard_limit_reached")
    of_a_stream = "pc/errors/stream/invalid_image"
    for address in ("pc/errors/request/invalid_value", "pc/endpoints/models/list_models", of_a_stream):
        assert outcome(address, status, spent) == (Outcome.INCONCLUSIVE, "account-trouble")
    assert outcome("pc/errors/rate_limit/billing_hard_limit_reached", status, spent)[1] == ""
    assert outcome("pc/endpoints/models/list_models", status, pc(kind, "rate_limit_exceeded"))[0] is Outcome.DRIFTED
    assert outcome("pc/endpoints/models/list_models", 200, spent)[0] is Outcome.DRIFTED


@pytest.mark.parametrize("code", [["a"], {"a": 1}, 7, None])
def test_what_is_no_text_is_no_code_of_the_account(code: Any) -> None:
    refusal = {"error": {"message": "No.", "type": "invalid_request_error", "param": None, "code": code}}
    assert outcome("pc/endpoints/models/list_models", 400, refusal)[0] is Outcome.DRIFTED


def test_what_could_be_another_record_too_is_judged() -> None:
    """FAILED_PRECONDITION is billing or place at PB; one that the record itself states is its own."""
    told = outcome("pb/errors/general/billing_off", 400, pb("FAILED_PRECONDITION", "Billing is off."))
    assert told[0] in (Outcome.CONFORMS, Outcome.DRIFTED)
    other = outcome("pa/errors/general/unknown_model", 400, pa("invalid_request_error", "No such thing."))
    assert other[0] is Outcome.DRIFTED


def test_an_answer_of_the_account_is_asked_for_where_it_is_left_to_choice() -> None:
    asked = stated("pa/errors/general/payment_problem")
    bill = Response(402, {}, pa("billing_error", "Pay your bill."), "json")
    key = AssertionKey("answer", "status")
    either = Assertion(asked.address, key, 400, Basis.DOCUMENTED, alternatives=(400, 402))
    for expected, reason in (
        (asked, None),
        (replace(asked, status=400), "no-credit"),
        (replace(asked, status=400, assertions={str(key): either}), None),
    ):
        found = find_account_trouble(evidence(expected, bill, of=known("pa")))
        assert (found.code if found is not None else None) == reason
