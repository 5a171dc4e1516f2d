"""The fault proxy changes what its faults say, nothing else, and repeatably."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.harness import patient
from tests.harness.engines import catalog
from tests.harness.fault_table import FAULTS
from tests.harness.faults import Fault, FaultScope, FaultSelector, ProxiedRequest

if TYPE_CHECKING:
    import pytest

    from tests.harness.fault_proxy import FaultServer

ALL = [str(record.address) for record in catalog().records]
HEADERS = {"x-api-key": "mock-pa-inference", "pa-version": "2023-06-01"}
NOTHING_ELSE = Fault(
    value=lambda value: value,
    answer=lambda answer: answer,
    event=lambda block, before: (block,),
    frame=lambda frame, before: (frame,),
    ending=lambda ending: ending,
)
"""A fault that handles everything and changes nothing."""


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


def test_each_named_fault_selects_records(subtests: pytest.Subtests) -> None:
    for named in FAULTS:
        with subtests.test(named.name):
            chosen = named.sample(ALL)
            assert chosen == sorted(set(chosen), key=ALL.index)
            assert all(re.search(named.pattern, address) for address in chosen)
            assert chosen
