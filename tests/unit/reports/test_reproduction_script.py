"""The reproduction script: all requests before an answer, with ids from the new answers."""

from __future__ import annotations

import subprocess
from typing import Any

from catalog_probe.catalog.evidence.results import Invocation
from catalog_probe.catalog.model import Attempt, Exchange, Outcome, Request, Response
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.reports.exchanges.reproduction_script import build_script
from tests.unit.reports.factories import make_exchange, make_finding, make_result, make_run

A = "pa/errors/general/a"
KEY = {"x-api-key": "${PA_INFERENCE_KEY}"}
BASE = "http://127.0.0.1:4001/pa"
EMBEDDED = Invocation(target="mock", embedded=True, keys={"PA_INFERENCE_KEY": "mock-pa-inference", "PA_OTHER_KEY": "x"})


def make_sent_exchange(label: str, path: str, body: Any = None, answer: Any = None, headers: Any = KEY) -> Exchange:
    request = Request("POST" if body else "GET", f"{BASE}{path}", headers, body)
    return make_exchange(label, request=request, response=Response(200, {}, answer, "json"))


def make_script(
    *exchanges: Exchange, invocation: Invocation = EMBEDDED, live: bool = False, mismatched_label: str = "answer"
) -> str:
    attempt = Attempt("2026-11-21T04:05:00Z", 9.0, exchanges)
    observations = tuple(
        Observation("", exchange.label, (), {"status": "200"} if exchange.label == mismatched_label else {})
        for exchange in exchanges
    )
    result = make_result(A, Outcome.DRIFTED, findings=(make_finding(),), attempts=(attempt,), observations=observations)
    text = build_script(make_run(invocation=invocation, live=live), result)
    subprocess.run(["bash", "-n", "-c", text], check=True)
    return text


def test_setup_comes_first_and_unjudged_requests_are_left_out() -> None:
    text = make_script(
        make_sent_exchange("control", "/c"),
        make_sent_exchange("setup", "/s"),
        make_sent_exchange("answer", "/a"),
        make_sent_exchange("after", "/b"),
    )
    assert [line for line in text.splitlines() if line.startswith("# ") and line[2].isdigit()] == [
        "# 1. setup: 200",
        "# 2. answer: 200",
    ]


def test_an_id_is_taken_from_the_new_answer() -> None:
    text = make_script(
        make_sent_exchange(
            "setup", "/files", {"name": "known-before"}, {"file": {"id": "file_0123"}, "name": "known-before"}
        ),
        make_sent_exchange("setup", "/files/file_0123", {"name": "known-before", "of": ["file_0123"]}, {}),
        make_sent_exchange("answer", "/files/file_0123"),
    )
    assert """PA_SEEN_1=$(take "$seen/1" '["file", "id"]')""" in text
    assert text.count("file_0123") == 0
    assert f'--url "{BASE}/files/${{PA_SEEN_1}}"' in text
    assert """'{"name": "known-before", "of": ["'"${PA_SEEN_1}"'"]}'""" in text
    assert "PA_SEEN_2" not in text


def test_a_token_that_was_hidden_is_taken_too() -> None:
    text = make_script(
        make_sent_exchange("setup", "/tokens", {"uses": 1}, {"name": "{secret_1}"}),
        make_sent_exchange("answer", "/a", headers={"authorization": "Bearer {secret_1}"}),
    )
    assert '--header "authorization: Bearer ${PA_SEEN_1}"' in text


def test_a_mock_that_ended_is_started_again_with_its_keys_in_plain() -> None:
    text = make_script(make_sent_exchange("answer", "/a"))
    assert "coproc MOCK { exec catalog-probe mock --port 4001; }" in text
    assert "export PA_INFERENCE_KEY=mock-pa-inference\n" in text
    assert "PA_OTHER_KEY" not in text


def test_a_live_key_is_asked_for_by_name() -> None:
    text = make_script(make_sent_exchange("answer", "/a"), invocation=Invocation(target="live"), live=True)
    assert "mockserver" not in text
    assert ': "${PA_INFERENCE_KEY:?set it to the key that the run had}"' in text


def test_a_call_goes_to_where_the_new_mock_listens() -> None:
    request = Request("GRPC", "http://127.0.0.1:39001/pkg.Chat/Get", KEY, {"model": "m"})
    text = make_script(make_exchange("answer", request=request, response=None))
    assert "PA_GRPC_HOST=$(python3 -c" in text
    assert '"${PA_GRPC_HOST}" pkg.Chat/Get' in text


def test_the_extraction_of_values_works_in_bash(tmp_path: Any) -> None:
    text = make_script(
        make_sent_exchange("setup", "/f", {"a": 1}, {"data": [{"id": "f_first1"}]}),
        make_sent_exchange("answer", "/f/f_first1"),
    )
    answer = tmp_path / "1"
    answer.write_bytes(b'HTTP/1.1 200 OK\r\nserver: a\r\n\r\n{"data": [{"id": "f_second"}]}')
    take = text[text.index("take()") : text.index("\n\n")]
    invocation = ["bash", "-c", f"""{take}\ntake {answer} '["data", 0, "id"]'"""]
    assert subprocess.run(invocation, capture_output=True, text=True, check=True).stdout == "f_second\n"


def test_nothing_sent_nothing_to_send_again() -> None:
    assert build_script(make_run(), make_result(A, Outcome.NOT_PROBED)) == ""
