"""Wrong or outdated values in the target are no drift."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.exchange import WRONG_CREDENTIAL
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.cli import doctor
from catalog_probe.cli import doctor as doctor_text
from catalog_probe.probes.running.looking_up import look_up
from catalog_probe.probes.targets.look_ups import MAX_REPEATS
from catalog_probe.probes.targets.target import NONEXISTENT_KEY
from catalog_probe.probes.wire.redaction import Redactor
from tests.harness.accounts import FREE, Services, probe_account
from tests.harness.engines import catalog
from tests.harness.fault_changes import edit_body, replace_answer, replace_by_page
from tests.harness.faults import Act, Fault, FaultScope

FORBIDDEN_OUTCOMES = frozenset({Outcome.DRIFTED, Outcome.FLAKY, Outcome.RESTRICTED, Outcome.HARNESS_ERROR})
NO_PERMISSION = '{"type":"error","error":{"type":"permission_error","message":"Your key may not use this model."}}'
GONE = '{"type":"error","error":{"type":"not_found_error","message":"model: mock-small"}}'
ABOUT_THE_MODEL = ("pa/endpoints/models/get_model", "pa/errors/invalid_request/max_tokens_above_maximum")


# PD's is lower: its mock refuses an empty list of messages before it looks for the model; 2:7.6 states no order
@pytest.mark.parametrize(("provider", "minimum"), [("pa", 3), ("pb", 3), ("pc", 3), ("pd", 2)])
def test_a_missing_model_is_reported_once_as_our_mistake(services: Services, provider: str, minimum: int) -> None:
    services.restart()
    variable = f"{provider.upper()}_SMALL_MODEL"
    results = probe_account(services.target(provider, **{variable: "no-such-model-of-mine"}))
    assert not [result.record for result in results.values() if result.outcome in FORBIDDEN_OUTCOMES]
    details = Counter(
        result.reason.detail for result in results.values() if result.reason and result.reason.code == NOT_FOUND
    )
    ((detail, number),) = details.items()
    assert detail.startswith(f"set {variable} (no-such-model-of-mine): ")
    assert number >= minimum
    assert any(result.outcome is Outcome.CONFORMS for result in results.values()), "the rest is looked at"


NOT_FOUND = "value-not-found"


def test_a_listed_model_may_drift(services: Services) -> None:
    """The account lists the model, given or looked up, so a refusal is the provider's."""
    for variables in ({"PA_SMALL_MODEL": "mock-small"}, {}):
        services.restart(Fault(FaultScope(path="/models/mock-small$"), answer=replace_answer(404, GONE)))
        results = probe_account(services.target("pa", **variables), ABOUT_THE_MODEL[:1])
        assert [result.outcome for result in results.values()] == [Outcome.DRIFTED]


def test_an_unlisted_alias_is_looked_up_by_itself(services: Services) -> None:
    services.restart(ONLY_OTHER_MODEL, Fault(FaultScope(path="/count_tokens$"), answer=replace_answer(404, GONE)))
    results = probe_account(services.target("pa", PA_SMALL_MODEL="mock-small"), ["pa/endpoints/messages/count_tokens"])
    assert [result.outcome for result in results.values()] == [Outcome.DRIFTED]


OTHER_MODEL = b'{"data": [{"id": "mock-large", "type": "model"}], "has_more": false}'
ONLY_OTHER_MODEL = Fault(FaultScope(path="/v1/models$", statuses=(200,)), answer=edit_body(lambda raw: OTHER_MODEL))


@pytest.mark.parametrize("where", ["/models/mock-small|/messages", "/models/mock-small"])
def test_a_model_that_this_key_may_not_use_restricts_no_record(services: Services, where: str) -> None:
    """Records of other refusals do not drift either, as long as the model is never accepted."""
    forbidden = edit_body(lambda raw: NO_PERMISSION.encode())
    refused = Fault(
        FaultScope(path=where, statuses=(200, 400)), answer=lambda answer: forbidden(answer).with_changes(status=403)
    )
    services.restart(ONLY_OTHER_MODEL, refused)
    results = probe_account(services.target("pa", PA_SMALL_MODEL="mock-small"), ABOUT_THE_MODEL)
    assert not [result.record for result in results.values() if result.outcome in FORBIDDEN_OUTCOMES]
    get = results[ABOUT_THE_MODEL[0]]
    assert get.reason is not None
    assert get.reason.code == NOT_FOUND


WRONG_IDS = {
    "PA_COMPLIANCE_KEY": "mock-pa-compliance",
    "PA_ADMIN_KEY": "mock-pa-admin",
    "PA_WORKSPACE": "wrkspc_nope",
    "PA_ORGANIZATION": "org_nope",
    "PA_USER": "user_nope",
    "PA_CHAT": "claude_chat_nope",
    "PA_PROJECT": "claude_proj_nope",
    "PA_REMOTE_SESSION": "not even an id",
    "PA_AGENTS_BETA": "managed-agents-2019-01-01",
}


def test_wrong_ids_and_a_retired_beta_are_no_drift(services: Services) -> None:
    services.restart()
    results = probe_account(services.target("pa", **WRONG_IDS))
    assert not [result.record for result in results.values() if result.outcome in FORBIDDEN_OUTCOMES]
    details = " ".join(
        result.reason.detail for result in results.values() if result.reason and result.reason.code == NOT_FOUND
    )
    for variable in ("PA_WORKSPACE", "PA_ORGANIZATION", "PA_CHAT", "PA_PROJECT", "PA_REMOTE_SESSION", "PA_AGENTS_BETA"):
        assert f"set {variable}" in details
    assert "nope" not in details, "an id of the account is nobody's business"


BETA = '{"type":"error","error":{"type":"invalid_request_error","message":"Unexpected value for the beta header."}}'
OTHER_WORDS = '{"type":"error","error":{"type":"invalid_request_error","message":"Who are you?"}}'


def test_a_header_refused_before_the_key_is_checked_is_no_drift(services: Services) -> None:
    """The same refusal of a wrong key is no mismatch; a different one is drift."""
    agents, nobody = FaultScope(path="/v1/agents"), FaultScope(path="/v1/agents", credential=NONEXISTENT_KEY)
    services.restart(Fault(agents, answer=replace_answer(400, BETA)))
    (result,) = probe_account(services.target("pa"), [LIST_AGENTS]).values()
    assert result.outcome is Outcome.INCONCLUSIVE
    assert result.reason is not None
    assert result.reason.code == ReasonCode.ASSUMPTION_FAILED
    services.restart(
        Fault(agents, answer=replace_answer(400, BETA)), Fault(nobody, answer=replace_answer(400, OTHER_WORDS))
    )
    (result,) = probe_account(services.target("pa"), [LIST_AGENTS]).values()
    assert result.outcome is Outcome.DRIFTED
    assert {drift.label for drift in result.drifts} == {WRONG_CREDENTIAL}


LIST_AGENTS = "pa/endpoints/agents/list_agents"


def test_the_doctor_names_a_value_that_the_account_lacks(services: Services) -> None:
    services.restart()
    target = services.target("pa", PA_SMALL_MODEL="no-such-model-of-mine")
    diagnosis = doctor.examine(catalog(), target, FREE, date(2026, 11, 21))
    assert not diagnosis.is_healthy
    line = "not there: pa small_model: the account does not show no-such-model-of-mine; set PA_SMALL_MODEL"
    assert line in doctor_text.format_diagnosis(diagnosis)


def test_the_doctor_accepts_a_value_that_the_account_has(services: Services) -> None:
    services.restart()
    diagnosis = doctor.examine(catalog(), services.target("pa", PA_SMALL_MODEL="mock-small"), FREE, date(2026, 11, 21))
    assert diagnosis.is_healthy


def test_the_doctor_does_not_blame_a_value_for_a_key_that_is_refused(services: Services) -> None:
    """The admin key works; that of inference, with which models are looked up, does not."""
    services.restart()
    target = services.target(
        "pa", PA_API_KEY=f"mock-pa-{NONEXISTENT_KEY}", PA_ADMIN_KEY="mock-pa-admin", PA_SMALL_MODEL="mock-small"
    )
    diagnosis = doctor.examine(catalog(), target, FREE, date(2026, 11, 21))
    assert [(check.role, bool(check.trouble)) for check in diagnosis.checks] == [("inference", True), ("admin", False)]
    assert diagnosis.wrong_values == []
    assert not [answer for answer in diagnosis.looked_up if "models" in answer.request]


LISTS = {
    "pa": ("^/pa/v1/models$", b'{"data": [], "has_more": false}'),
    "pb": ("^/pb/v1beta/models$", b'{"models": []}'),
    "pc": ("^/pc/v1/models$", b'{"object": "list", "data": []}'),
    "pd": ("^/pd/v1/models$", b'{"object": "list", "data": []}'),
}


@pytest.mark.parametrize(
    ("provider", "listing"),
    [*((reason, b"[]") for reason in LISTS), ("pa", b"null"), ("pa", b'{"id": "m"}'), ("pa", b'[{"id": ""}]')],
)
def test_an_account_without_any_model_is_account_trouble(services: Services, provider: str, listing: bytes) -> None:
    """Most records need a model; without one they are not probed, which is the account's trouble."""
    path, empty = LISTS[provider]
    nothing = empty.replace(b"[]", listing)
    services.restart(Fault(FaultScope(path=path, statuses=(200,)), answer=edit_body(lambda raw: nothing)))
    target = services.target(provider)
    diagnosis = doctor.examine(catalog(), target, FREE, date(2026, 11, 21))
    assert not diagnosis.is_healthy
    (line,) = [line for line in doctor_text.format_diagnosis(diagnosis) if line.startswith("unanswered: ")]
    assert "lists no model at all; look at the account of " in line
    reasons = diagnosis.plans[provider].not_probed.values()
    assert sum(reason.code == ReasonCode.ACCOUNT_TROUBLE for reason in reasons) >= 3


BAD_GATEWAY = replace_by_page(502, "Bad Gateway")


TOO_EARLY = replace_answer(425, "too early", "text/plain")


@pytest.mark.parametrize(
    "trouble",
    [{"answer": BAD_GATEWAY}, {"act": Act.RESET}, {"answer": replace_answer(503, "{}")}, {"answer": TOO_EARLY}],
)
def test_a_lost_first_look_up_is_repeated(services: Services, trouble: dict[str, Any]) -> None:
    """The first look-up and, of the doctor, the first control."""
    addresses = ("pa/endpoints/models/get_model",)
    services.restart(Fault(FaultScope(path="/pa/v1/models$", last=1), **trouble))
    assert [result.outcome for result in probe_account(services.target("pa"), addresses).values()] == [Outcome.CONFORMS]
    services.restart(Fault(FaultScope(path="/pa/v1/models$", last=1), **trouble))
    assert doctor.examine(catalog(), services.target("pa"), FREE, date(2026, 11, 21)).is_healthy


def test_a_failing_look_up_is_repeated_only_so_often(services: Services) -> None:
    services.restart(Fault(FaultScope(path="/pa/v1/models$"), answer=BAD_GATEWAY))
    target = services.target("pa")
    (look_up_result,) = look_up(
        {"pa": (target.providers["pa"].rules["small_model"],)}, target, Redactor.for_target(target)
    )
    assert [reason.code for reason in look_up_result.unanswered.values()] == [ReasonCode.GATEWAY_PAGE]
    assert services.request_count == 1 + MAX_REPEATS


@pytest.mark.parametrize(
    ("provider", "variables"),
    [
        ("pa", {"PA_API_KEY": "mock-pa-admin"}),
        ("pa", {"PA_API_KEY": "mock-pa-inference-expired"}),
        ("pa", {"PA_API_KEY": '"mock-pa-inference"'}),
        ("pb", {"PB_API_KEY": "Bearer mock-pb-inference"}),
        ("pd", {"PD_API_KEY": "mock-pd-management"}),
        ("pc", {"PC_API_KEY": "mock-pa-inference"}),
    ],
)
def test_a_key_of_another_kind_makes_no_record_drift(
    services: Services, provider: str, variables: dict[str, str]
) -> None:
    """A key that may nothing is the account's trouble, told with its variable."""
    services.restart()
    results = probe_account(services.target(provider, **variables))
    assert not [result.record for result in results.values() if result.outcome in FORBIDDEN_OUTCOMES]
    (variable,) = variables
    reasons = [result.reason for result in results.values() if result.outcome is Outcome.INCONCLUSIVE and result.reason]
    assert reasons
    for reason in reasons:
        is_by_grpc = reason.code == ReasonCode.CONNECT_REFUSED  # nobody serves gRPC here
        assert is_by_grpc or reason.code in {ReasonCode.CONTROL_FAILED, ReasonCode.ACCOUNT_TROUBLE}
        assert is_by_grpc or variable in reason.detail


def test_a_key_that_may_more_makes_no_record_drift(services: Services) -> None:
    """The mock accepts PC's admin key everywhere; only refusals for a missing right do not come."""
    services.restart()
    results = probe_account(services.target("pc", PC_API_KEY="mock-pc-admin"))
    assert not [result.record for result in results.values() if result.outcome in FORBIDDEN_OUTCOMES]
    codes = {
        str(result.reason.code)
        for result in results.values()
        if result.outcome is Outcome.INCONCLUSIVE and result.reason
    }
    assert codes == {ReasonCode.ASSUMPTION_FAILED}


def test_a_key_without_the_right_to_an_endpoint_is_restricted(services: Services) -> None:
    """A list and a fault that the same endpoints refuse this key in one sentence, before they look at anything."""
    own = FaultScope(path="/v1/(files|messages/batches|agents)", credential="mock-pa-inference")
    services.restart(Fault(own, answer=replace_answer(403, NO_PERMISSION)))
    outcomes = {address: result.outcome for address, result in probe_account(services.target("pa")).items()}
    assert outcomes["pa/endpoints/files/list_files"] is Outcome.RESTRICTED
    assert outcomes["pa/endpoints/agents/list_agents"] is Outcome.RESTRICTED
    assert outcomes["pa/endpoints/limits/agents_created_per_minute"] is Outcome.INCONCLUSIVE
    assert Outcome.DRIFTED not in outcomes.values()


def test_a_refusal_that_only_the_faulty_request_gets_is_drift(services: Services) -> None:
    """Another refusal than the documented one may be the provider's change."""
    services.restart(Fault(FaultScope(path="/v1/models/no-such"), answer=replace_answer(403, NO_PERMISSION)))
    results = probe_account(services.target("pa"), ["pa/errors/general/unknown_model", "pa/endpoints/models/get_model"])
    assert results["pa/errors/general/unknown_model"].outcome is Outcome.DRIFTED
