"""An account that gets one answer to everything verifies nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.targets.target import Cost
from tests.harness import fault_changes as edits
from tests.harness.engines import catalog, probe
from tests.harness.fault_table import MESSAGES, SENTENCE
from tests.harness.faults import Fault, FaultScope

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.evidence.results import Result
    from tests.harness.fault_proxy import FaultServer

CREDITLESS = "Your credit balance is too low to access the API. Go to Plans & Billing."
OUT_OF_ORDER = "Requests of this kind cannot be answered today."
OF_PA = {
    "request_id": "req_01",
    "pa_organization_id": "org_1",
    "pa_workspace_id": "wrkspc_1",
    "x_should_retry": "false",
}
TO_MESSAGES = FaultScope(provider="pa", method="POST", path="/v1/messages$", control=False)


def refuse_messages(message: str) -> Fault:
    """One refusal in PA's envelope to every message."""
    error = {"type": "invalid_request_error", "message": message}
    body = {"type": "error", "error": error, "request_id": "req_1"}
    return Fault(TO_MESSAGES, answer=edits.replace_answer(400, json.dumps(body), **OF_PA))


def bad_requests() -> list[str]:
    """The records of errors that are provoked by a bad POST to PA's messages, and some beside."""
    named = ("pa/errors/invalid_request/", "pa/errors/general/", "pa/endpoints/messages/", "pa/endpoints/models/")
    return [str(record.address) for record in catalog().records if str(record.address).startswith(named)]


def is_as_without_faults(result: Result) -> bool:
    """Whether a result is what the mock alone gives: it conforms, or nothing documented could be probed."""
    return result.outcome in (Outcome.CONFORMS, Outcome.NOT_PROBED) or result.is_beyond_verifying


def reasons(results: Iterable[Result]) -> list[str]:
    return [result.reason.code if result.reason else "" for result in results]


@pytest.mark.parametrize(("message", "reason"), [(CREDITLESS, "no-credit"), (OUT_OF_ORDER, "one-answer-to-everything")])
def test_one_refusal_of_everything_verifies_nothing(fault_server: FaultServer, message: str, reason: str) -> None:
    results = probe(fault_server.target_behind(refuse_messages(message), concurrency=4), bad_requests())
    refused = [
        result
        for result in results.values()
        if any(
            message in json.dumps(exchange.response.body)
            for attempt in result.attempts
            for exchange in attempt.exchanges
            if exchange.response is not None
        )
    ]
    assert len(refused) > 20
    assert Outcome.CONFORMS not in {result.outcome for result in refused}
    assert reasons(refused).count(reason) > 15
    assert not [
        observation
        for result in refused
        for observation in result.observations
        if observation.matched and observation.label == "answer"
    ]
    untouched = results.keys() - {result.record for result in refused}
    assert len(untouched) > 3
    assert all(is_as_without_faults(results[address]) for address in untouched)


def test_a_billable_fault_free_request_needs_leave(
    fault_server: FaultServer,
) -> None:
    results = probe(
        fault_server.target_behind(refuse_messages(OUT_OF_ORDER), concurrency=4),
        bad_requests(),
        allow=frozenset({Cost.FREE}),
    )
    counted = reasons(results.values())
    assert counted.count("twin-not-allowed") > 15
    assert "one-answer-to-everything" not in counted
    not_allowed = next(
        result for result in results.values() if result.reason and result.reason.code == "twin-not-allowed"
    )
    assert not_allowed.reason is not None
    assert "--allow billable" in not_allowed.reason.detail


CONFLICT = json.dumps(
    {"type": "error", "error": {"type": "conflict_error", "message": "Try again."}, "request_id": "req_1"}
)


@pytest.mark.parametrize(
    ("is_fault_free_refused", "allow", "outcome", "reason"),
    [
        (False, frozenset(Cost), Outcome.DRIFTED, ""),
        (True, frozenset(Cost), Outcome.INCONCLUSIVE, "twin-not-allowed"),
        (False, frozenset({Cost.FREE}), Outcome.INCONCLUSIVE, "twin-not-allowed"),
    ],
    ids=["accepted", "refused", "not allowed"],
)
def test_another_documented_error_is_drift_only_if_the_fault_free_request_succeeds(
    is_fault_free_refused: bool, allow: frozenset[Cost], outcome: Outcome, reason: str, fault_server: FaultServer
) -> None:
    statuses = range(200, 500) if is_fault_free_refused else range(400, 500)
    another_error = Fault(
        FaultScope(provider="pa", method="POST", path="/v1/messages$", statuses=statuses),
        answer=edits.replace_answer(409, CONFLICT, **{**OF_PA, "x_should_retry": "true"}),
    )
    asked = "pa/errors/invalid_request/missing_max_tokens"
    result = probe(replace(fault_server.target_behind(another_error), live=True), [asked], allow=allow)[asked]
    assert (result.outcome, result.reason.code if result.reason else "") == (outcome, reason)
    if result.reason is not None:
        assert "pa/endpoints/messages/create_message" in result.reason.detail or "/v1/messages" in result.reason.detail


def test_one_message_for_all_errors_conforms_and_is_reported(
    fault_server: FaultServer,
) -> None:
    one_sentence = Fault(FaultScope(statuses=range(400, 500)), value=edits.set_text(MESSAGES, SENTENCE))
    results = probe(fault_server.target_behind(one_sentence, concurrency=4), bad_requests())
    generic = [
        result for result in results.values() if "generic-message" in {finding.code for finding in result.findings}
    ]
    assert len(generic) > 10
    assert {result.outcome for result in generic} <= {Outcome.CONFORMS, Outcome.DRIFTED}
    changed = [result for result in results.values() if not is_as_without_faults(result)]
    assert changed
    assert {result.outcome for result in changed} == {Outcome.DRIFTED}, "no verdict is lost"
    assert {finding.code for result in changed for finding in result.drifts} == {"message-differs"}, (
        "promised words are"
    )


PORTAL = json.dumps({"error": "captcha_required", "url": "https://portal.example/login"})
FIREWALL = json.dumps({"message": "Forbidden"})


@pytest.mark.parametrize(
    ("provider", "answer", "allow"),
    [
        ("pa", edits.replace_answer(200, PORTAL), frozenset({Cost.FREE})),
        ("pa", edits.replace_answer(403, FIREWALL), frozenset(Cost)),
        ("pb", edits.replace_answer(200, PORTAL), frozenset(Cost)),
        ("pb", edits.replace_answer(403, FIREWALL), frozenset({Cost.FREE})),
    ],
    ids=["portal before pa", "firewall before pa", "portal before pb", "firewall before pb"],
)
def test_a_firewall_before_all_posts_is_no_drift(
    provider: str, answer: edits.AnswerEdit, allow: frozenset[Cost], fault_server: FaultServer
) -> None:
    """The control is a GET, and green."""
    families = "(generation|messages|models|compatibility|complete|auth_tokens|general|invalid_request)"
    asked = [
        str(record.address)
        for record in catalog().select(provider=provider)
        if re.search(f"/{families}/", str(record.address)) and "general/(server|overload)" not in str(record.address)
    ]
    posted = Fault(FaultScope(provider=provider, method="POST", control=False), answer=answer)
    results = probe(fault_server.target_behind(posted, concurrency=4), asked, allow=allow)
    drifted = {address: result.drifts for address, result in results.items() if result.outcome is Outcome.DRIFTED}
    assert drifted == {}
    lost = [address for address, result in results.items() if not is_as_without_faults(result)]
    assert len(lost) > 15
    assert set(reasons(results[address] for address in lost)) <= {
        "assumption-failed",
        "one-answer-to-everything",
        "twin-not-allowed",
        "setup-failed",
        "probe-refused",
    }


def test_accepting_a_refused_request_is_drift_however_alike(fault_server: FaultServer) -> None:
    """Tokens of one short text are as many whatever is wrong with the request, and what was deleted says nothing."""
    counted = Fault(
        FaultScope(provider="pa", path="/count_tokens$", control=False, statuses=(400,)),
        answer=edits.replace_answer(200, json.dumps({"input_tokens": 4}), **OF_PA),
    )
    deleted = Fault(
        FaultScope(provider="pa", method="DELETE", statuses=(404,)), answer=edits.replace_answer(200, "{}", **OF_PA)
    )
    asked = [
        "pa/errors/invalid_request/server_tools_in_count_tokens",
        "pa/endpoints/messages/count_tokens",
        *(str(record.address) for record in catalog().select(provider="pa") if "/delete_" in str(record.address)),
    ]
    assert len(asked) > 5
    results = probe(fault_server.target_behind(counted, deleted, concurrency=4), asked)
    assert {address: result.outcome for address, result in results.items()} == dict.fromkeys(asked, Outcome.DRIFTED)


def test_a_removed_endpoint_is_drift_though_its_answers_are_alike(fault_server: FaultServer) -> None:
    """A result that is not ready is no fault: two faults and one sentence are no suspicion."""
    asked = [str(record.address) for record in catalog().records if "/deferred_" in str(record.address)]
    gone = Fault(
        FaultScope(provider="pd", path="/v1/chat/deferred-completion/"),
        answer=edits.replace_answer(404, json.dumps({"code": "not-found", "error": "There is nothing here."})),
    )
    results = probe(fault_server.target_behind(gone), ["pd/endpoints/chat/get_deferred_completion", *asked])
    drifted = {address for address, result in results.items() if result.outcome is Outcome.DRIFTED}
    assert drifted == {"pd/endpoints/chat/get_deferred_completion", "pd/errors/outcomes/deferred_pending"}


def test_a_conforming_provider_gets_no_extra_requests(fault_server: FaultServer) -> None:
    results = probe(fault_server.target_behind(concurrency=4), bad_requests())
    assert {result.outcome for result in results.values()} <= {Outcome.CONFORMS, Outcome.NOT_PROBED}
    assert not [
        result for result in results.values() for finding in result.findings if finding.code == "generic-message"
    ]
