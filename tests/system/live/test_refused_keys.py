"""A key without a right, or an intercepting proxy, is no drift."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from tests.harness.accounts import Services, probe_account
from tests.harness.fault_changes import replace_answer
from tests.harness.faults import Fault, FaultScope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.evidence.results import Result

NO_SCOPE = json.dumps(
    {
        "error": {
            "message": "You have insufficient permissions for this operation. Missing scopes: api.files.read.",
            "type": "invalid_request_error",
            "param": None,
            "code": None,
        }
    }
)
KEY = "mock-pc-inference"
LIMITS = "pc/endpoints/fine_tuning/get_model_limits"
LOOKED_UP = ("pc/errors/not_found/file", "pc/errors/not_found/eval", "pc/errors/not_found/conversation")
SCOPE = "pc/errors/permission/insufficient_permissions"


def without_scope(path: str = "/v1/(files|evals|conversations|fine_tuning|organization)") -> Fault:
    return Fault(FaultScope(provider="pc", path=path, credential=KEY), answer=replace_answer(401, NO_SCOPE))


def outcomes_and_reasons(results: Mapping[str, Result]) -> dict[str, str]:
    return {
        address: result.reason.code if result.reason else str(result.outcome) for address, result in results.items()
    }


def test_a_key_without_the_scope_is_account_trouble(services: Services) -> None:
    services.restart(without_scope())
    results = probe_account(services.target("pc"), [LIMITS, *LOOKED_UP])
    assert outcomes_and_reasons(results) == dict.fromkeys([LIMITS, *LOOKED_UP], "account-trouble")
    reason = results[LIMITS].reason
    assert reason is not None
    assert "look at the account of PC_API_KEY" in reason.detail


def test_a_missing_scope_with_another_status_shows_nothing_of_a_key_that_is_refused_anyway(services: Services) -> None:
    """The request without its fault is refused alike, so the 401 may be no answer to the fault."""
    services.restart(without_scope())
    assert outcomes_and_reasons(probe_account(services.target("pc"), [LIMITS, SCOPE])) == {
        LIMITS: "account-trouble",
        SCOPE: "twin-not-allowed",
    }


def test_refusing_a_key_that_is_accepted_elsewhere_is_drift(services: Services) -> None:
    services.restart(without_scope("/v1/(files|evals|conversations)"))
    results = probe_account(services.target("pc"), [LIMITS, *LOOKED_UP])
    assert outcomes_and_reasons(results) == {LIMITS: "conforms", **dict.fromkeys(LOOKED_UP, "drifted")}


def test_a_refusal_of_undocumented_shape_is_drift(services: Services) -> None:
    other = NO_SCOPE.replace("invalid_request_error", "scope_error")
    services.restart(
        Fault(FaultScope(provider="pc", path="fine_tuning", credential=KEY), answer=replace_answer(401, other))
    )
    assert outcomes_and_reasons(probe_account(services.target("pc"), [LIMITS])) == {LIMITS: "drifted"}


def test_a_missing_scope_on_a_mock_is_drift(services: Services) -> None:
    services.restart(without_scope())
    assert outcomes_and_reasons(probe_account(replace(services.target("pc"), live=False), [LIMITS])) == {
        LIMITS: "drifted"
    }


GREETING = "Welcome to the guest network."
POSTED = ("pc/errors/request/invalid_json", "pc/errors/request/invalid_type", "pc/errors/request/unknown_parameter")
ELSEWHERE = "pc/errors/not_found/call"


@pytest.mark.parametrize(
    ("path", "outcome"), [("", "gateway-page"), ("/v1/responses$", str(Outcome.DRIFTED))], ids=["many", "one"]
)
def test_one_page_for_all_endpoints_is_a_gateway_page(path: str, outcome: str, services: Services) -> None:
    services.restart(
        Fault(FaultScope(provider="pc", method="POST", path=path), answer=replace_answer(200, GREETING, "text/plain"))
    )
    outcomes = outcomes_and_reasons(probe_account(services.target("pc"), [*POSTED, ELSEWHERE]))
    assert {outcomes[address] for address in POSTED} == {outcome}
