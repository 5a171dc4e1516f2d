"""A wrong address in the target is no drift, even where no control goes."""

from __future__ import annotations

import json

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.outcome import ReasonCode
from tests.harness import fault_changes as edits
from tests.harness.accounts import Services, probe_account
from tests.harness.faults import Fault, FaultScope

MUTUAL_TLS = ("pc/errors/oauth/invalid_request", "pc/errors/permission/mutual_tls_host")
REGIONAL = ("pd/errors/not_found/model_not_in_region",)
MANAGEMENT = (
    "pd/endpoints/management/validate_management_key",
    "pd/errors/authentication/management_invalid_bearer",
    "pd/errors/authentication/management_no_credentials",
)
ADDRESSES = {
    "PC_MTLS_AUTH_URL": ("/pc-auth/", MUTUAL_TLS, {}),
    "PD_REGIONAL_BASE_URL": ("/pd-regional/", REGIONAL, {"PD_NON_REGIONAL_MODEL": "mock-large"}),
    "PD_MANAGEMENT_URL": ("/pd-management/", MANAGEMENT, {"PD_MANAGEMENT_KEY": "mock-pd-management"}),
}
"""Variable of an address -> (path on the mock, free records probed there, variables they need)."""

WRONG_ANSWERS = {
    "404 in HTML": edits.replace_by_page(404, "Not Found"),
    "404 in JSON": edits.replace_answer(404, '{"message": "no Route matched with those values"}'),
    "404 in another provider's shape": edits.replace_answer(404, '{"error": {"code": 404, "message": "Not Found"}}'),
    "404 and no word": edits.replace_answer(404, ""),
    "403 in JSON": edits.replace_answer(403, '{"message": "Forbidden"}'),
    "400 in JSON": edits.replace_answer(400, '{"message": "Bad Request"}'),
    "an empty object": edits.replace_answer(200, "{}"),
    "a page of HTML": edits.replace_answer(200, "<!doctype html><html><body>Welcome</body></html>", edits.HTML),
}


@pytest.mark.parametrize("wrong_answer", WRONG_ANSWERS)
@pytest.mark.parametrize("variable", ADDRESSES)
def test_a_server_with_one_answer_is_not_the_provider(services: Services, variable: str, wrong_answer: str) -> None:
    path, addresses, variables = ADDRESSES[variable]
    services.restart(Fault(FaultScope(path=f"^{path}"), answer=WRONG_ANSWERS[wrong_answer]))
    check_nothing_was_observed(services, variable, addresses, **variables)


@pytest.mark.parametrize("other_path", ["/pa", "/pb", "/pc", "/pd"])
@pytest.mark.parametrize("variable", ADDRESSES)
def test_another_server_of_this_or_another_provider_is_inconclusive(
    services: Services, variable: str, other_path: str
) -> None:
    _, addresses, variables = ADDRESSES[variable]
    services.restart()
    check_nothing_was_observed(services, variable, addresses, **variables, **{variable: f"{services.base}{other_path}"})


def check_nothing_was_observed(services: Services, variable: str, addresses: tuple[str, ...], **variables: str) -> None:
    results = probe_account(services.target(variable[:2].lower(), **variables), addresses)
    assert {result.outcome for result in results.values()} == {Outcome.INCONCLUSIVE}
    reasons = {result.reason for result in results.values() if result.reason is not None}
    for reason in reasons:
        if reason.code in NEEDS_NO_VARIABLE:
            continue
        assert reason.code in {ReasonCode.CONTROL_FAILED, ReasonCode.SETUP_FAILED}, reason
        assert f"look at {variable}" in reason.detail.replace(MANAGEMENT_KEY_TOO, ""), reason
    assert not [
        observation
        for result in results.values()
        for observation in result.observations
        if observation.matched or observation.mismatched
    ]


MANAGEMENT_KEY_TOO = "PD_MANAGEMENT_KEY and "
NEEDS_NO_VARIABLE = {ReasonCode.GATEWAY_PAGE, ReasonCode.ASSUMPTION_FAILED}
"""A gateway's page names the request that got it. The main host as the regional one serves every model of its own."""


@pytest.mark.parametrize("variable", ADDRESSES)
def test_at_the_right_address_all_records_conform(services: Services, variable: str) -> None:
    _, addresses, variables = ADDRESSES[variable]
    services.restart()
    results = probe_account(services.target(variable[:2].lower(), **variables), addresses)
    assert {address: result.outcome for address, result in results.items()} == dict.fromkeys(
        addresses, Outcome.CONFORMS
    )


def test_a_change_at_a_confirmed_host_is_drift(services: Services) -> None:
    unprocessable = json.dumps({"error": {"message": "No.", "type": "oauth", "param": None, "code": None}})
    services.restart(
        Fault(
            FaultScope(path="^/pc-auth/", method="POST", statuses=(400,)),
            answer=edits.replace_answer(422, unprocessable),
        )
    )
    results = probe_account(services.target("pc"), MUTUAL_TLS)
    assert [results[address].outcome for address in MUTUAL_TLS] == [Outcome.DRIFTED, Outcome.CONFORMS]
    services.restart(Fault(FaultScope(path="^/pc-auth/", statuses=(403,)), answer=edits.replace_answer(404, "{}")))
    results = probe_account(services.target("pc"), MUTUAL_TLS)
    assert [results[address].outcome for address in MUTUAL_TLS] == [Outcome.CONFORMS, Outcome.DRIFTED]


def test_a_large_success_proves_the_key_without_a_proof_field(services: Services) -> None:
    """Only values at named pointers of a large body are kept, and none are named here."""
    _, addresses, variables = ADDRESSES["PD_MANAGEMENT_URL"]
    large = json.dumps({"padding": "x" * 100_000})
    services.restart(
        Fault(FaultScope(path="^/pd-management/", statuses=(200,)), answer=edits.replace_answer(200, large))
    )
    results = probe_account(services.target("pd", **variables), addresses)
    assert {address: result.outcome for address, result in results.items()} == dict.fromkeys(
        addresses, Outcome.CONFORMS
    )
