"""The fault proxy changes what its faults say, nothing else, and repeatably."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model import Exchange, Outcome, Response
from tests.harness import fault_changes as edits
from tests.harness import patient
from tests.harness.engines import catalog, probe
from tests.harness.fault_proxy import FaultServer, serving_faults
from tests.harness.fault_table import CALLS, FAULTS, SOCKETS, STREAMS, NamedFault
from tests.harness.faults import Act, Answer, Ending, Fault, FaultScope, FaultSelector, ProxiedRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.evidence.results import Result

ALL = [str(record.address) for record in catalog().records]
LIST_MODELS = "pa/endpoints/models/list_models"
UNKNOWN_MODEL = "pa/errors/general/unknown_model"
STREAM_ERROR = "pa/errors/stream/overloaded"
CONNECTION_TIME = "pb/errors/live/connection_time_exceeded"
NOT_FOUND = "pd/errors/grpc/not_found"
HEADERS = {"x-api-key": "mock-pa-inference", "pa-version": "2023-06-01"}
NOTHING_ELSE = Fault(
    value=lambda value: value,
    answer=lambda answer: answer,
    event=lambda block, before: (block,),
    frame=lambda frame, before: (frame,),
    ending=lambda ending: ending,
)
"""A fault that handles everything and changes nothing."""


def sample_addresses(over: str, one_in: int = 1) -> list[str]:
    return NamedFault("", (), over, one_in).sample(ALL)


def answers(result: Result, label: str = "answer") -> Iterator[Response]:
    for attempt in result.attempts:
        for exchange in attempt.exchanges:
            if exchange.label == label and exchange.response is not None:
                yield exchange.response


def exchange(result: Result) -> Exchange:
    return result.attempts[0].exchanges[-1]


@pytest.mark.parametrize("faults", [(), (NOTHING_ELSE,)], ids=["no fault", "a fault that changes nothing"])
@pytest.mark.parametrize("over", ["^p", STREAMS, SOCKETS, CALLS], ids=["http", "sse", "websocket", "grpc"])
def test_answers_that_pass_through_conform(over: str, faults: tuple[Fault, ...], fault_server: FaultServer) -> None:
    chosen = sample_addresses(over, 12 if over == "^p" else 1)
    results = probe(fault_server.target_behind(*faults), chosen)
    assert len(results) > 5
    outcomes = {result.outcome for result in results.values() if not result.is_beyond_verifying}
    assert outcomes <= {Outcome.CONFORMS, Outcome.NOT_PROBED}


def test_answers_that_pass_through_are_unchanged_bytes(fault_server: FaultServer) -> None:
    ask: dict[str, Any] = {"model": "mock-small", "max_tokens": 8, "messages": [{"role": "user", "content": "hi"}]}
    responses = []
    for faults in ((), (NOTHING_ELSE,)):
        fault_server.target_behind(*faults)
        for stream in (False, True):
            answer = patient.post(
                f"{fault_server.base}/pa/v1/messages",
                json={**ask, "stream": stream},
                headers={**HEADERS, "x-mock-session": "one"},
            )
            # what is left of a limit, and which limit is the closest, follows the time between two requests
            headers = {
                name: value for name, value in answer.headers.items() if "ratelimit" not in name and name != "date"
            }
            responses.append((answer.status_code, headers, answer.content))
    assert responses[0][0] == 200
    assert responses[:2] == responses[2:]
    assert responses[1][2].count(b"\n\n") > 3


def make_request(**changes: Any) -> ProxiedRequest:
    first = ProxiedRequest("http", "pa", "GET", "/pa/v1/models", "run/pa/errors/general/unknown_model/1", "a-key", 1)
    return replace(first, **changes)


WHERE = {
    "protocol": (FaultScope(protocol="grpc"), {"protocol": "grpc"}),
    "provider": (FaultScope(provider="pd"), {"provider": "pd"}),
    "method": (FaultScope(method="DELETE"), {"method": "DELETE"}),
    "path": (FaultScope(path="/files/[^/]+$"), {"path": "/pa/v1/files/file_1"}),
    "credential": (FaultScope(credential="another"), {"credential": "another"}),
    "address": (FaultScope(address="^pa/errors/stream/"), {"session": "run/pa/errors/stream/overloaded/1"}),
    "control": (FaultScope(control=True), {"session": "run/control"}),
    "attempts": (FaultScope(attempts=(2, 3)), {"session": "run/pa/errors/general/unknown_model/2"}),
}


def test_each_condition_selects_only_its_requests(subtests: pytest.Subtests) -> None:
    for what in WHERE:
        with subtests.test(what=what):
            where, picked = WHERE[what]
            assert where.matches_request(make_request(**picked))
            assert not where.matches_request(make_request())
            assert FaultScope().matches_request(make_request(**picked))


def test_controls_can_be_excluded() -> None:
    assert FaultScope(control=False).matches_request(make_request())
    assert not FaultScope(control=False).matches_request(make_request(session="run/control"))


def test_statuses_are_those_of_the_unspoiled_answer() -> None:
    assert FaultScope(statuses=range(400, 500)).matches_status(404)
    assert not FaultScope(statuses=range(400, 500)).matches_status(200)
    assert FaultScope().matches_status(500)


def test_a_share_is_repeatable_in_any_order() -> None:
    sessions = [f"run/{address}/{attempt}" for address in ALL for attempt in (1, 2, 3)]
    picked = [session for session in sessions if FaultScope(share=0.1).matches_request(make_request(session=session))]
    again = [
        session
        for session in reversed(sessions)
        if FaultScope(share=0.1).matches_request(make_request(session=session.replace("run/", "other/")))
    ]
    assert 0.07 < len(picked) / len(sessions) < 0.13
    assert picked == list(reversed(again))
    assert picked != [
        session for session in sessions if FaultScope(share=0.1, seed=1).matches_request(make_request(session=session))
    ]


def test_first_and_last_count_selected_requests_per_key() -> None:
    selector = FaultSelector([Fault(FaultScope(method="POST", first=2, last=3))])
    order = ["POST a", "GET a", "POST b", "POST a", "POST b", "GET b", "POST a", "POST a", "POST b"]
    selected = []
    for number, (method, key) in enumerate(map(str.split, order)):
        if selector.select_faults(selector.receive("http", method, "/pa/v1/models", {"x-api-key": key})):
            selected.append(number)
    assert selected == [3, 4, 6, 8]


def test_a_request_is_identified_by_its_headers() -> None:
    selector = FaultSelector(())
    headers = {"authorization": "Bearer k", "x-mock-session": "run/pc/errors/oauth/x/2"}
    for number in (1, 2):
        seen = selector.receive("http", "POST", "/pc-auth/oauth/token", headers)
        assert (seen.provider, seen.credential, seen.address, seen.attempt) == ("pc", "k", "pc/errors/oauth/x", 2)
        assert (seen.number, seen.is_control) == (number, False)
    assert selector.receive("http", "GET", "/pa/v1/models", {"x-mock-session": "run/control"}).is_control


def test_faults_are_applied_in_order(fault_server: FaultServer) -> None:
    target = fault_server.target_behind(
        Fault(FaultScope(statuses=(404,)), answer=edits.set_status({404: 410})),
        Fault(answer=edits.set_status({410: 418})),
        Fault(FaultScope(provider="pb"), answer=edits.set_status({418: 499})),
    )
    assert {answer.status for answer in answers(probe(target, [UNKNOWN_MODEL])[UNKNOWN_MODEL])} == {418}


def test_a_fault_leaves_other_requests_alone(fault_server: FaultServer) -> None:
    target = fault_server.target_behind(
        Fault(FaultScope(method="POST"), answer=edits.replace_by_page(502, "Bad Gateway"))
    )
    results = probe(target, [LIST_MODELS, UNKNOWN_MODEL])
    assert results[LIST_MODELS].outcome is Outcome.CONFORMS
    statuses = {answer.status for answer in answers(results[UNKNOWN_MODEL])}
    assert statuses == ({502} if exchange(results[UNKNOWN_MODEL]).request.method == "POST" else {404})


@pytest.mark.parametrize(
    "act, reason", [(Act.RESET, "connection-reset"), (Act.CLOSE, "closed-without-answer"), (Act.HANG, "read-timeout")]
)
def test_actions_break_the_connection(act: Act, reason: str, fault_server: FaultServer) -> None:
    patience = {"timeout_s": 1.0} if act is Act.HANG else {}
    result = probe(fault_server.target_behind(Fault(act=act), **patience), [LIST_MODELS])[LIST_MODELS]
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, reason)


def test_a_body_is_cut_in_the_middle(fault_server: FaultServer) -> None:
    result = probe(fault_server.target_behind(Fault(FaultScope(control=False), cut_after=1)), [UNKNOWN_MODEL])[
        UNKNOWN_MODEL
    ]
    failure = exchange(result).failure
    assert failure is not None
    assert failure.code == "connection-reset"


def test_a_stream_is_cut_after_so_many_events(fault_server: FaultServer) -> None:
    result = probe(fault_server.target_behind(Fault(FaultScope(control=False), cut_after=2)), [STREAM_ERROR])[
        STREAM_ERROR
    ]
    assert {(answer.ended, len(answer.events or ())) for answer in answers(result)} == {("cut", 2)}


def test_events_are_changed_one_by_one(fault_server: FaultServer) -> None:
    target = fault_server.target_behind(
        Fault(event=edits.drop_events("ping")),
        Fault(event=lambda block, before: (block, block)),
        Fault(value=edits.edit_at(("/error/message",), lambda was: f"not: {was}")),
    )
    answer = next(answers(probe(target, [STREAM_ERROR])[STREAM_ERROR]))
    names = [event.event for event in answer.events or ()]
    assert "ping" not in names
    assert names[::2] == names[1::2]
    assert (answer.events or ())[-1].data["error"]["message"].startswith("not: ")


def test_a_stream_is_replaced_by_a_plain_answer(fault_server: FaultServer) -> None:
    result = probe(fault_server.target_behind(Fault(answer=edits.replace_stream(400, "{}"))), [STREAM_ERROR])[
        STREAM_ERROR
    ]
    assert {(answer.status, answer.events) for answer in answers(result)} == {(400, None)}


def test_messages_and_closes_of_sockets_are_changed(fault_server: FaultServer) -> None:
    target = fault_server.target_behind(
        Fault(frame=lambda frame, before: (frame, frame)),
        Fault(ending=edits.set_ending(number=4321, message="so long")),
    )
    answer = next(answers(probe(target, [CONNECTION_TIME])[CONNECTION_TIME]))
    heard = [event.event for event in answer.events or () if not event.sent]
    assert heard[::2] == heard[1::2]
    assert heard
    assert answer.close is not None
    assert (answer.close.code, answer.close.reason) == (4321, "so long")


def test_a_socket_is_refused_by_an_answer(fault_server: FaultServer) -> None:
    result = probe(
        fault_server.target_behind(Fault(FaultScope(protocol="websocket"), answer=edits.replace_by_page(403, "No"))),
        [CONNECTION_TIME],
    )
    assert [answer.status for answer in answers(result[CONNECTION_TIME])][:1] == [403]


def test_the_status_of_a_call_is_changed(fault_server: FaultServer) -> None:
    fault = Fault(FaultScope(protocol="grpc", control=False), ending=lambda was: Ending(7, f"not: {was.message}"))
    answer = next(answers(probe(fault_server.target_behind(fault), [NOT_FOUND])[NOT_FOUND]))
    assert answer.grpc is not None
    assert answer.grpc.status == 7
    assert answer.grpc.message.startswith("not: ")


def test_messages_of_calls_are_changed_as_bytes(fault_server: FaultServer) -> None:
    address = "pd/endpoints/grpc/grpc_host"
    no_message = b"\xff"
    broken = Fault(FaultScope(protocol="grpc", control=False), frame=lambda frame, before: (no_message,))
    result = probe(fault_server.target_behind(broken), [address])[address]
    (success,) = (exchange for exchange in result.attempts[0].exchanges if exchange.label == "success")
    assert success.failure is not None
    assert success.failure.code == "protocol-error"


def test_each_set_of_faults_has_a_mock_of_its_own(fault_server: FaultServer) -> None:
    """State that one mock holds is not visible to the next."""
    headers = {**HEADERS, "x-mock-session": "kept"}
    seen = []
    for _ in range(2):
        fault_server.target_behind()
        upload = {"file": ("a.txt", b"hello", "text/plain")}
        made = patient.post(f"{fault_server.base}/pa/v1/files", files=upload, headers=headers)
        listed = patient.get(f"{fault_server.base}/pa/v1/files", headers=headers)
        seen.append((made.status_code, len(listed.json()["data"])))
    assert seen[0] == seen[1]


def test_without_a_grpc_host_calls_are_refused() -> None:
    with serving_faults() as fault_server:
        result = probe(fault_server.target_behind(), [NOT_FOUND])[NOT_FOUND]
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "connect-refused")


ERROR = Answer(
    404,
    {"content-type": "application/json", "request-id": "req_1"},
    json.dumps({"type": "error", "error": {"type": "not_found_error", "message": "m"}}).encode(),
)
CHANGED = {
    "removed": (edits.remove_headers("*request-id"), {"content-type"}),
    "emptied": (edits.empty_headers("*request-id"), {"content-type", "request-id"}),
    "renamed": (edits.rename_headers("*request-id"), {"content-type", "request-id-renamed"}),
    "added": (edits.add_header("x-novelty", "yes"), {"content-type", "request-id", "x-novelty"}),
}


def test_headers_are_changed_by_pattern(subtests: pytest.Subtests) -> None:
    for what in CHANGED:
        with subtests.test(what=what):
            change, names = CHANGED[what]
            changed = change(ERROR)
            assert set(changed.headers) == names
            assert (changed.status, changed.body) == (ERROR.status, ERROR.body)
            assert changed.headers.get("request-id") == {"emptied": "", "added": "req_1"}.get(what)


def test_only_existing_values_are_changed() -> None:
    body = json.loads(ERROR.body or b"")
    assert edits.set_text(("/error/type", "/error/code"), "x")(body) == {
        "type": "error",
        "error": {"type": "x", "message": "m"},
    }
    assert edits.set_text(("/error/status",), "x")(body) == body
    assert edits.set_text(("/error",), "x")(body) == body
    assert edits.set_text(("/error/type",), "x")([body])[0]["error"]["type"] == "x"
    assert edits.flatten_error(body) == body["error"]
    assert edits.drop_field(0)(body) == {"error": body["error"]}


def test_each_named_fault_selects_records(subtests: pytest.Subtests) -> None:
    for named in FAULTS:
        with subtests.test(named=named):
            chosen = named.sample(ALL)
            assert chosen == sorted(set(chosen), key=ALL.index)
            assert all(re.search(named.pattern, address) for address in chosen)
            assert chosen, named.name


def test_named_faults_have_unique_names() -> None:
    assert len({named.name for named in FAULTS}) == len(FAULTS) > 40
