"""A lost answer is asked for once more, later, spoils nothing else, and on a mock is red."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.changes import is_partial
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.exchange import UNJUDGED_LABELS, AnsweredBy
from catalog_probe.probes.planning.plan import ALL_ENDPOINTS
from catalog_probe.probes.targets import target_file as targets
from tests.harness import fault_changes as edits
from tests.harness.engines import catalog, probe
from tests.harness.fault_table import BARE, COMPLIANCE_KEY, answer_in_own_envelope
from tests.harness.faults import Act, Fault, FaultScope
from tests.unit.reports.factories import make_run

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock
    from catalog_probe.probes.targets.target import Target
    from tests.harness.fault_proxy import FaultServer


CREATE_MESSAGE = "pa/endpoints/messages/create_message"
LIST_CHATS = "pa/endpoints/compliance_chats/list_chats"
LIST_MESSAGES = "pa/endpoints/compliance_sessions/list_local_session_messages"
UNKNOWN_MODEL = "pa/errors/general/unknown_model"
LOST = {
    "502": Fault(answer=edits.replace_by_page(502, "Bad Gateway")),
    "503": Fault(answer=edits.replace_by_page(503, "Service Unavailable")),
    "bare 500": Fault(answer=edits.replace_answer(500, BARE)),
    "reset": Fault(act=Act.RESET),
    "closed": Fault(act=Act.CLOSE),
}
for_each_loss = pytest.mark.parametrize("lost", LOST.values(), ids=LOST)


def labels(result: Result, attempt: int) -> list[str]:
    return [exchange.label for exchange in result.attempts[attempt].exchanges if exchange.label not in UNJUDGED_LABELS]


def lost_labels(result: Result) -> list[str]:
    """Return the labels that got a gateway's answer, or none, in the first attempt."""
    first = result.attempts[0].exchanges
    return [exchange.label for exchange in first if exchange.response is None or (exchange.response.status or 0) >= 500]


@for_each_loss
def test_only_lost_answers_are_asked_again(lost: Fault, fault_server: FaultServer) -> None:
    target = fault_server.target_behind(
        lost.only(address=CREATE_MESSAGE, attempts=(1,), first=3, last=3), concurrency=1
    )
    result = probe(target, [CREATE_MESSAGE])[CREATE_MESSAGE]
    assert result.outcome is Outcome.CONFORMS
    assert len(result.attempts) == 2
    assert len(lost_labels(result)) == 1
    assert labels(result, 1) == lost_labels(result)
    assert {observation.label for observation in result.observations} == set(labels(result, 0))


def test_a_step_that_needs_time_to_pass_is_asked_again_with_what_began_it(fault_server: FaultServer) -> None:
    address = "pa/endpoints/compliance_sessions/get_remote_session_transcript"
    lost = LOST["reset"].only(address=address, attempts=(1,), path="Pending", first=3, last=3)
    result = probe(fault_server.target_behind(lost, concurrency=1), [address])[address]
    assert result.outcome is Outcome.CONFORMS, result.findings
    assert lost_labels(result) == ["pending_no_more"]


@for_each_loss
def test_an_answer_lost_twice_is_given_up_and_the_rest_is_kept(lost: Fault, fault_server: FaultServer) -> None:
    target = fault_server.target_behind(
        lost.only(address=CREATE_MESSAGE, attempts=(1,), first=3, last=3),
        lost.only(address=CREATE_MESSAGE, attempts=(2, 3)),
        concurrency=1,
    )
    result = probe(target, [CREATE_MESSAGE])[CREATE_MESSAGE]
    assert result.outcome is Outcome.INCONCLUSIVE
    missed = {
        observation.label
        for observation in result.observations
        if not observation.matched and not observation.mismatched
    }
    assert missed == set(lost_labels(result))
    assert (
        len([observation for observation in result.observations if observation.matched]) == len(labels(result, 0)) - 1
    )


def test_a_drift_beside_a_lost_answer_is_reported_alone(fault_server: FaultServer) -> None:
    target = fault_server.target_behind(
        Fault(FaultScope(address=CREATE_MESSAGE, first=4, last=4), act=Act.RESET),
        Fault(FaultScope(address=CREATE_MESSAGE, statuses=(200,)), answer=edits.remove_headers("request-id")),
        concurrency=1,
    )
    result = probe(target, [CREATE_MESSAGE])[CREATE_MESSAGE]
    assert result.outcome is Outcome.DRIFTED
    assert {finding.code for finding in result.drifts} == {"header-missing"}
    assert len(result.attempts) == 2


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (Fault(FaultScope(address=UNKNOWN_MODEL, attempts=(1,)), act=Act.RESET), Outcome.CONFORMS),
        (Fault(FaultScope(address=UNKNOWN_MODEL), answer=edits.set_status({404: 418})), Outcome.DRIFTED),
    ],
    ids=["lost", "drifted"],
)
def test_a_record_is_asked_again_after_all_others(fault: Fault, outcome: Outcome, fault_server: FaultServer) -> None:
    others = [str(record.address) for record in catalog().records if "pa/errors/general/" in str(record.address)][:12]
    target = fault_server.target_behind(fault, concurrency=2)
    results = probe(target, sorted({UNKNOWN_MODEL, *others}))
    first = results[UNKNOWN_MODEL]
    assert first.outcome is outcome
    in_lane = [result for result in results.values() if result.lane == first.lane and result is not first]
    assert in_lane
    assert all(result.attempts[0].started_at <= first.attempts[1].started_at for result in in_lane if result.attempts)


@pytest.mark.parametrize("address", [LIST_CHATS, LIST_MESSAGES])
@for_each_loss
def test_a_lost_step_makes_no_record_flaky(lost: Fault, address: str, fault_server: FaultServer) -> None:
    for share in (0.1, 0.3):
        target = fault_server.target_behind(lost.only(share=share, credential=COMPLIANCE_KEY), concurrency=1)
        result = probe(target, [address])[address]
        assert result.outcome in (Outcome.CONFORMS, Outcome.INCONCLUSIVE), result.reason


def test_nothing_is_asked_again_after_a_failed_control(fault_server: FaultServer) -> None:
    down = edits.replace_by_page(503, "Service Unavailable")
    target = fault_server.target_behind(Fault(FaultScope(first=2), answer=down), concurrency=1)
    result = probe(target, [UNKNOWN_MODEL])[UNKNOWN_MODEL]
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "gateway-page")
    assert len(result.attempts) == 1


@for_each_loss
def test_one_lost_control_does_not_stop_the_first_probe(lost: Fault, fault_server: FaultServer) -> None:
    target = fault_server.target_behind(lost.only(control=True, last=1), concurrency=1)
    results = probe(target, [UNKNOWN_MODEL, CREATE_MESSAGE])
    assert {result.outcome for result in results.values()} == {Outcome.CONFORMS}


def test_a_control_that_stays_lost_is_inconclusive(fault_server: FaultServer) -> None:
    target = fault_server.target_behind(
        Fault(FaultScope(control=True), answer=edits.replace_by_page(502, "Bad Gateway")), concurrency=1
    )
    result = probe(target, [UNKNOWN_MODEL])[UNKNOWN_MODEL]
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "gateway-page")
    assert not result.attempts


ATTACHED_FILES = "pc/endpoints/vector_stores/files"


def test_an_optional_step_that_drifts_before_and_after_it_was_lost_is_a_drift(fault_server: FaultServer) -> None:
    """The second attempt cannot send the step, because the store before it is lost; the third sends it again."""
    of_record = FaultScope(address=ATTACHED_FILES)
    drift = Fault(of_record, answer=edits.set_status({200: 418})).only(
        method="GET", path="/vector_stores/(?!vs_mock).*/files$"
    )
    lost = LOST["502"].only(address=ATTACHED_FILES, attempts=(2,), method="POST", path="/v1/vector_stores$")
    result = probe(fault_server.target_behind(drift, lost, concurrency=1), [ATTACHED_FILES])[ATTACHED_FILES]
    assert result.outcome is Outcome.DRIFTED, result.reason
    assert {finding.label for finding in result.drifts} == {"listed"}
    assert len(result.attempts) == 3
    assert not [finding for finding in result.findings if finding.code == "not-observed"]


DELETE_FILE = "pa/endpoints/files/delete_file"
DEFERRED = "pd/endpoints/chat/get_deferred_completion"
IN_BACKGROUND = "pb/endpoints/interactions/create_interaction_v1"


@pytest.mark.parametrize("address", [DELETE_FILE, LIST_CHATS, LIST_MESSAGES, DEFERRED, IN_BACKGROUND])
def test_steps_that_depend_on_a_lost_step_are_asked_again_with_it(address: str, fault_server: FaultServer) -> None:
    """Whichever exchange is lost: if something stayed unobserved, the record would not conform."""
    sent = len(probe(fault_server.target_behind(concurrency=1), [address])[address].attempts[0].exchanges)
    for nth in range(1, sent + 1):
        lost = Fault(
            FaultScope(address=address, attempts=(1,), first=nth, last=nth),
            answer=edits.replace_by_page(502, "Bad Gateway"),
        )
        result = probe(fault_server.target_behind(lost, concurrency=1), [address])[address]
        unseen = [finding.label for finding in result.findings if finding.code == "not-observed"]
        assert (nth, result.outcome, unseen) == (nth, Outcome.CONFORMS, [])


REVOKED = "pa/errors/general/key_revoked"
MESSAGES = "/v1/messages$"


def probe_all_endpoints(target: Target) -> Result:
    """Probe an error on each endpoint that its record names."""
    return probe(target, [REVOKED], drawing=ALL_ENDPOINTS)[REVOKED]


def asked_endpoints(result: Result) -> list[list[str]]:
    """Return the endpoints that each attempt asked."""
    return [
        [exchange.endpoint for exchange in attempt.exchanges if exchange.label not in UNJUDGED_LABELS]
        for attempt in result.attempts
    ]


def test_a_drift_on_one_endpoint_is_confirmed_there_alone(fault_server: FaultServer) -> None:
    result = probe_all_endpoints(
        fault_server.target_behind(Fault(FaultScope(path=MESSAGES, control=False), answer=edits.set_status({401: 418})))
    )
    assert result.outcome is Outcome.DRIFTED
    first, *again = asked_endpoints(result)
    assert len(first) > 10
    assert again == [[CREATE_MESSAGE]]


def test_a_lasting_server_fault_on_one_endpoint_is_drift(
    fault_server: FaultServer,
) -> None:
    """Three alike in the provider's own envelope, under a green control: one cell is asked thrice, the others once."""
    (own,) = answer_in_own_envelope(500, "api_error", "INTERNAL", "oops")[:1]
    result = probe_all_endpoints(fault_server.target_behind(own.only(path=MESSAGES, control=False)))
    assert result.outcome is Outcome.DRIFTED
    assert {endpoint for drift in result.drifts for endpoint in drift.endpoints} == {CREATE_MESSAGE}
    assert asked_endpoints(result)[1:] == [[CREATE_MESSAGE]] * 2


def test_a_bare_500_on_one_endpoint_is_not_observed_there_only(
    fault_server: FaultServer,
) -> None:
    bare = Fault(FaultScope(path=MESSAGES, control=False), answer=edits.replace_answer(500, BARE))
    result = probe_all_endpoints(fault_server.target_behind(bare))
    assert result.outcome is Outcome.INCONCLUSIVE, "on a mock nothing that was lost is fine"
    (finding,) = [finding for finding in result.findings if finding.code == "not-observed"]
    assert finding.endpoints == (CREATE_MESSAGE,)
    assert is_partial(result)


RECORD = "pb/rate_limits/limits/general"
ON_A_MOCK = make_run(
    live=False, answered_by=AnsweredBy.MOCK, providers=("pb",), expected=("pb",), selected=(RECORD,), policy={}
)


@pytest.mark.parametrize(
    ("quota", "outcome", "status"),
    [("2", Outcome.CONFORMS, Exit.FINE), ("3", Outcome.INCONCLUSIVE, Exit.BLIND)],
    ids=["observed", "lost: the setup is refused"],
)
def test_a_record_that_lost_an_observation_makes_a_run_on_a_mock_blind(
    fresh_mock: EmbeddedMock, quota: str, outcome: Outcome, status: Exit
) -> None:
    target = targets.load("mock").with_addresses(fresh_mock.addresses())
    pb = target.providers["pb"]
    changed = replace(pb, values={**pb.values, "minute_quota": quota})
    result = probe(replace(target, providers={"pb": changed}), [RECORD])[RECORD]
    assert (result.outcome, run_verdict.exit_status(ON_A_MOCK, [result])) == (outcome, status)
    lost = {finding.label for finding in result.findings if finding.code == "not-observed"}
    assert ("other_key_of_the_project" in lost) is (status is Exit.BLIND)
