"""An answer about the account's credit, quota or region says nothing of a record about something else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Exchange, Outcome, Request, Response
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.probes.judging.inconclusive.account import find_account_trouble
from tests.unit.probes.inconclusive.evidence_making import load_expected, make_evidence
from tests.unit.probes.judging_one import judge_exchanges, load_steps, load_vocabulary

if TYPE_CHECKING:
    import pytest

SPEND_LIMIT = "You have reached your specified API usage limits. You will regain access on 2026-12-01."


def pa_error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def pc_error(kind: str, code: str) -> dict[str, Any]:
    return {"error": {"message": "no", "type": kind, "param": None, "code": code}}


def pb_error(status: str, message: str, code: int = 400) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status}}


NO_CREDIT = "Your credit balance is too low to access the API."

CASES: list[tuple[str, int, dict[str, Any], str]] = [
    (
        "pa/errors/invalid_request/missing_max_tokens",
        400,
        pa_error("invalid_request_error", SPEND_LIMIT),
        "account-trouble",
    ),
    ("pa/errors/general/unknown_model", 402, pa_error("billing_error", "Pay your bill."), "no-credit"),
    (
        "pc/errors/rate_limit/rate_limit_exceeded",
        429,
        pc_error("insufficient_quota", "insufficient_quota"),
        "no-credit",
    ),
    ("pc/errors/request/wrong_method", 429, pc_error("invalid_request_error", "credit_balance_exhausted"), "no-credit"),
    ("pa/errors/invalid_request/missing_max_tokens", 400, pa_error("invalid_request_error", NO_CREDIT), "no-credit"),
    (
        "pd/errors/request/wrong_type",
        403,
        {"code": "no", "error": "Your team has used all of its credits."},
        "no-credit",
    ),
    (
        "pc/errors/request/wrong_method",
        403,
        pc_error("invalid_request_error", "unsupported_country_region_territory"),
        "region-refused",
    ),
    (
        "pc/endpoints/models/list_models",
        403,
        pc_error("invalid_request_error", "unsupported_country_region_territory"),
        "region-refused",
    ),
]


def judge_first_label(address: str, status: int, body: dict[str, Any]) -> tuple[Outcome, str]:
    """Return outcome and reason code of the first label of a record for one answer."""
    expected = load_steps(address)[:1]
    request = Request("POST", "https://provider.example/v1/x")
    exchange = Exchange(expected[0].label, request, Response(status, {}, body, "json"))
    verdict = judge_exchanges(expected, exchange)
    return verdict.outcome, verdict.reason.code if verdict.reason else ""


def test_account_answer_to_another_record_is_inconclusive(subtests: pytest.Subtests) -> None:
    for address, status, body, reason in CASES:
        with subtests.test(address=address):
            assert judge_first_label(address, status, body) == (Outcome.INCONCLUSIVE, reason)


def test_record_of_the_account_answer_is_judged(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, int, dict[str, Any]]] = [
        ("pa/errors/general/spend_limit_reached", 400, pa_error("invalid_request_error", SPEND_LIMIT)),
        ("pa/errors/general/payment_problem", 402, pa_error("billing_error", "Pay your bill.")),
        ("pc/errors/rate_limit/insufficient_quota", 429, pc_error("insufficient_quota", "insufficient_quota")),
        (
            "pc/errors/permission/unsupported_country_region_territory",
            403,
            pc_error("invalid_request_error", "unsupported_country_region_territory"),
        ),
    ]
    for address, status, body in cases:
        with subtests.test(address=address):
            assert judge_first_label(address, status, body)[0] in (Outcome.CONFORMS, Outcome.DRIFTED)


def test_account_code_is_recognized_under_another_type() -> None:
    """Real answers have such a type; on the record that documents the code, the type is drift."""
    refusal = pc_error("request_forbidden", "unsupported_country_region_territory")
    assert judge_first_label("pc/endpoints/models/list_models", 403, refusal) == (
        Outcome.INCONCLUSIVE,
        "region-refused",
    )
    own = judge_first_label("pc/errors/permission/unsupported_country_region_territory", 403, refusal)
    assert own[0] is Outcome.DRIFTED
    assert (
        judge_first_label("pc/endpoints/models/list_models", 403, pc_error("request_forbidden", "other"))[0]
        is Outcome.DRIFTED
    )


def test_code_of_another_record_or_status_is_no_account_trouble() -> None:
    by_code = load_vocabulary("pc").match_account_trouble_by_code
    (documented,) = by_code(429, pc_error("invalid_request_error", "insufficient_quota"))
    assert documented.account_reason == "no-credit"
    assert by_code(429, pc_error("invalid_request_error", "rate_limit_exceeded")) == ()
    assert by_code(500, pc_error("invalid_request_error", "insufficient_quota")) == ()


def test_wrong_account_code_under_the_documented_type_is_drift() -> None:
    other = pc_error("insufficient_quota", "billing_hard_limit_reached")
    assert judge_first_label("pc/errors/rate_limit/insufficient_quota", 429, other)[0] is Outcome.DRIFTED
    spent = pc_error("invalid_request_error", "insufficient_quota")
    assert judge_first_label("pc/errors/rate_limit/organization_usage_limit_exceeded", 429, spent)[0] is Outcome.DRIFTED
    assert judge_first_label("pc/errors/rate_limit/rate_limit_exceeded", 429, other) == (
        Outcome.INCONCLUSIVE,
        "account-trouble",
    )


def test_account_code_is_recognized_under_another_status(subtests: pytest.Subtests) -> None:
    """A hard billing limit is really answered so; the record that documents it is judged."""
    kind_cases: list[str] = ["invalid_request_error", "insufficient_quota", "billing_limit_user_error"]
    for status in [400, 403]:
        for kind in kind_cases:
            with subtests.test(status=status, kind=kind):
                refusal = pc_error(kind, "billing_hard_limit_reached")
                stream_error = "pc/errors/stream/invalid_image"
                for address in ("pc/errors/request/invalid_value", "pc/endpoints/models/list_models", stream_error):
                    assert judge_first_label(address, status, refusal) == (Outcome.INCONCLUSIVE, "account-trouble")
                assert judge_first_label("pc/errors/rate_limit/billing_hard_limit_reached", status, refusal)[1] == ""
                assert (
                    judge_first_label("pc/endpoints/models/list_models", status, pc_error(kind, "rate_limit_exceeded"))[
                        0
                    ]
                    is Outcome.DRIFTED
                )
                assert judge_first_label("pc/endpoints/models/list_models", 200, refusal)[0] is Outcome.DRIFTED


def test_code_that_is_no_text_is_drift(subtests: pytest.Subtests) -> None:
    for code in [["a"], {"a": 1}, 7, None]:
        with subtests.test(code=code):
            refusal = {"error": {"message": "No.", "type": "invalid_request_error", "param": None, "code": code}}
            assert judge_first_label("pc/endpoints/models/list_models", 400, refusal)[0] is Outcome.DRIFTED


def test_ambiguous_account_answer_is_judged() -> None:
    """FAILED_PRECONDITION is billing or region at PB; the record that documents it is judged."""
    own = judge_first_label("pb/errors/general/billing_off", 400, pb_error("FAILED_PRECONDITION", "Billing is off."))
    assert own[0] in (Outcome.CONFORMS, Outcome.DRIFTED)
    other = judge_first_label(
        "pa/errors/general/unknown_model", 400, pa_error("invalid_request_error", "No such thing.")
    )
    assert other[0] is Outcome.DRIFTED


def test_documented_alternative_status_is_no_account_trouble() -> None:
    documented = load_expected("pa/errors/general/payment_problem")
    response = Response(402, {}, pa_error("billing_error", "Pay your bill."), "json")
    key = AssertionKey("answer", "status")
    choice = Assertion(documented.address, key, 400, Basis.DOCUMENTED, alternatives=(400, 402))
    for expected, reason in (
        (documented, None),
        (replace(documented, status=400), "no-credit"),
        (replace(documented, status=400, assertions={str(key): choice}), None),
    ):
        explanation = find_account_trouble(make_evidence(expected, response, vocabulary=load_vocabulary("pa")))
        assert (explanation.code if explanation is not None else None) == reason
