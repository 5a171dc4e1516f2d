"""Printed commands name the target, the records and the runs of the run itself, and send what was sent."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.evidence.results import Invocation
from catalog_probe.catalog.model import Attempt, Exchange, GrpcStatus, Outcome, Request, Response
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.text.readable_text import HIDDEN_CHARACTERS
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.targets.target import Provider
from catalog_probe.reports.content.commands import (
    StepCommand,
    format_accept_command,
    format_cause_command,
    format_probe_command,
    list_curl_words,
    list_step_commands,
)
from tests.unit.reports.factories import make_exchange, make_finding, make_result, make_run
from tests.unit.reports.special_results import HOSTILE

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Run

A = "pa/errors/general/a"
DRIFT = make_result(A, Outcome.DRIFTED, findings=(make_finding(),))
(CAUSE,) = find_causes([DRIFT])
ELSEWHERE = make_run(
    run="r1",
    target="staging",
    invocation=Invocation(target="../w/my staging.toml", catalog="my/records", out="my/runs"),
    policy={"allow": ["billable", "free"]},
)


def test_a_record_is_probed_again_on_the_shipped_target() -> None:
    assert (
        format_probe_command(make_run(), make_result(A))
        == "pytest 'probes/test_errors.py::test_error[pa/errors/general/a]' --target live"
    )
    mock = make_run(target="mock", live=False)
    assert (
        format_probe_command(mock, make_result(A)) == "pytest 'probes/test_errors.py::test_error[pa/errors/general/a]'"
    )


def test_the_probe_command_has_the_target_and_the_costs() -> None:
    paid = make_result(A, Outcome.DRIFTED, cost="billable", nodeid="probes/test_errors.py::test_error[x y]")
    assert shlex.split(format_probe_command(ELSEWHERE, paid)) == [
        *("pytest", "probes/test_errors.py::test_error[x y]", "--target", "../w/my staging.toml"),
        *("--catalog", "my/records", "--allow", "free,billable"),
    ]


def test_the_command_of_a_cause_has_the_folder_of_its_run() -> None:
    assert shlex.split(format_cause_command(ELSEWHERE, CAUSE)) == [
        *("pytest", "probes", "--cause", CAUSE.id, "--target", "../w/my staging.toml", "--catalog", "my/records"),
        *("--out", "my/runs", "--allow", "billable,free"),
    ]
    assert format_cause_command(make_run(), CAUSE) == f"pytest probes --cause {CAUSE.id} --target live"


def test_a_recording_has_the_command_that_judges_it_again() -> None:
    recorded = make_run(target="anybody", invocation=Invocation(traffic=("a.har", "b.jsonl")))
    assert format_cause_command(recorded, CAUSE) == f"pytest probes --cause {CAUSE.id} --traffic a.har b.jsonl"
    assert format_probe_command(recorded, make_result(A)).endswith("--traffic a.har b.jsonl")


def test_a_cause_is_accepted_as_its_own_run_saw_it() -> None:
    assert shlex.split(format_accept_command(ELSEWHERE, CAUSE)) == [
        *("catalog-probe", "catalog", "accept", "--cause", CAUSE.id, "--target", "staging"),
        *("--catalog", "my/records", "--run", "my/runs/r1", "--reason", "…"),
    ]


URL = "https://api.pa.example/v1/messages"
PRINTABLE = st.text(
    st.characters(exclude_categories=["C", "Zl", "Zp"], exclude_characters="#\xa0").filter(
        lambda character: character.isprintable() and not HIDDEN_CHARACTERS.match(character)
    )
)
"""Text that can be pasted. A `#` is left out because the page breaks up `##[`, which some CI systems obey."""


def list_commands(*exchanges: Exchange, run: Run | None = None, **changes: Any) -> list[StepCommand]:
    attempts = (Attempt("2026-11-21T04:05:00Z", 9.0, exchanges),)
    result = make_result(A, Outcome.DRIFTED, findings=(make_finding(),), attempts=attempts, **changes)
    return list_step_commands(run or make_run(), result)


def make_request(method: str = "GET", url: str = URL, headers: Any = None, body: Any = None) -> Request:
    return Request(method, url, headers or {}, body)


def format_line(request: Request, **invocation: Any) -> str:
    """Return the one command of a run with one request; an assertion error if it is no curl line."""
    run = make_run(invocation=Invocation(target="live", **invocation))
    (step,) = list_commands(make_exchange(request=request), run=run)
    assert step.obstacle == ""
    return step.command


def test_a_step_over_http_has_a_line_of_curl() -> None:
    assert format_line(make_exchange().request) == (
        """curl -i https://api.pa.example/v1/messages -H "x-api-key: ${PA_API_KEY}" -H 'pa-version: 2023-06-01' """
        """-H 'content-type: application/json' --data-raw """
        """'{"model": "small-1", "max_tokens": 1, "messages": [{"role": "user", "content": "it'"'"'s"}]}'"""
    )


@given(PRINTABLE, PRINTABLE, st.lists(PRINTABLE).map("\n".join) | st.dictionaries(st.text(), st.text()))
def test_a_line_gives_the_shell_every_word_as_it_was_sent(path: str, value: str, body: Any) -> None:
    request = make_request("PATCH", f"{URL}/{path}", {"x-value": value, "x-api-key": "${PA_API_KEY}"}, body)
    assert shlex.split(format_line(request)) == list_curl_words(request)


def test_the_shell_expands_the_providers_own_variables_alone() -> None:
    """A provider may write `${AWS_SECRET_ACCESS_KEY}` into an id or a token that is sent back to it."""
    theft, own = "${AWS_SECRET_ACCESS_KEY} $(id) `id` $HOME !! \\ '\"", "${PA_SUBJECT_TOKEN}"
    sent = make_request("POST", f"{URL}?after={theft}", {"x-note": theft, "x-api-key": own}, {"a": [theft, own]})
    environ = {"AWS_SECRET_ACCESS_KEY": "stolen", "PA_SUBJECT_TOKEN": "mine", "HOME": "/home"}
    line = format_line(sent).replace("curl", "printf '%s\\0'", 1)
    printed = subprocess.run(["sh", "-c", line], env=environ, capture_output=True, text=True, check=True)
    assert printed.stdout.split("\0")[:-1] == [word.replace(own, "mine") for word in list_curl_words(sent)[1:]]


def test_a_key_of_another_name_is_expanded_unless_an_answer_named_it() -> None:
    sent = make_exchange(request=make_request(headers={"authorization": "Bearer ${MY_OWN_KEY}"}))
    (step,) = list_commands(sent)
    assert step.command.endswith('-H "authorization: Bearer ${MY_OWN_KEY}"')
    issuing = make_exchange("setup", response=Response(200, {}, {"token": "${MY_OWN_KEY}"}, "json"))
    _, step = list_commands(issuing, sent)
    assert step.obstacle == "an answer names the variable of its key"


def test_curl_is_told_what_it_would_do_otherwise() -> None:
    cases: list[tuple[Request, list[str]]] = [
        (make_request("DELETE"), ["-X", "DELETE", URL]),
        (make_request("HEAD"), ["--head", URL]),
        (make_request("POST"), [URL, "-H", "content-type:", "--data-raw", ""]),
        (make_request("GET", body="@x"), ["-X", "GET", URL, "-H", "content-type:", "--data-raw", "@x"]),
        (make_request(url=f"{URL}?ids[]=1"), ["--globoff", f"{URL}?ids[]=1"]),
        (make_request(headers={"x-empty": "", "Host": "a", ":path": "/", "@file": "b"}), [URL, "-H", "x-empty;"]),
    ]
    for request_sent, words in cases:
        assert list_curl_words(request_sent) == ["curl", "-i", *words]


def test_another_step_has_the_command_that_probes_the_record_again() -> None:
    cases: list[tuple[Exchange, str]] = [
        (make_exchange(request=make_request("GRPC", "h:443/p.S/M")), "over gRPC"),
        (make_exchange(request=make_request("POST"), response=Response(grpc=GrpcStatus(5))), "over gRPC"),
        (make_exchange(request=make_request("WS", "wss://h/v1")), "over a WebSocket"),
        (make_exchange(request=make_request("POST", "")), "its URL was not recorded"),
        (make_exchange(request=make_request(headers={"authorization": "Bearer [redacted]"})), "a part of it is hidden"),
        (make_exchange(request=make_request(url=f"{URL}/{{secret_1}}")), "a part of it is hidden"),
        (make_exchange(request=make_request(body={"a": "[hidden: contains ${PA_KEY}]"})), "a part of it is hidden"),
        (make_exchange(request=make_request(body="[9 bytes declared in content-length]")), "its body is binary"),
        (make_exchange(request=make_request(headers={"expect": "100-continue"})), "or was only announced"),
        (make_exchange(request=make_request(body="\\x89PNG")), "its body is binary"),
        (make_exchange(request=make_request(body="--x\r\n\r\nhi\r\n--x--")), "as every multipart body has"),
        (make_exchange(request=make_request(body=HOSTILE)), "characters that cannot be pasted"),
        (make_exchange(request=make_request(url=f"{URL}/\x1b[2J")), "characters that cannot be pasted"),
        (make_exchange(request=make_request(headers={"x-a": "1\n2"})), "characters that cannot be pasted"),
        (make_exchange(request=make_request(body="a" * 200_000)), "too long"),
        (
            make_exchange(
                request=make_request(headers={"Content-Type": "application/x-www-form-urlencoded"}, body={"a": "b"})
            ),
            "the recording took its form apart",
        ),
    ]
    for exchange, obstacle in cases:
        plain, step = list_commands(make_exchange("setup"), exchange)
        assert plain.obstacle == "", exchange
        assert obstacle in step.obstacle, exchange
        assert step.command == "pytest 'probes/test_errors.py::test_error[pa/errors/general/a]' --target live", exchange
        assert list_commands(exchange) == [], "the page has that command already"


def test_steps_are_those_up_to_the_last_that_differs() -> None:
    labels = ["control", "setup", "answer", "other", "cleanup"]
    observations = (Observation("", "answer", (), {"status": "200"}),)
    exchanges = [make_exchange(label) for label in labels]
    steps = list_commands(*exchanges, observations=observations)
    assert [step.exchange.label for step in steps] == ["setup", "answer"]
    assert [step.exchange.label for step in list_commands(*exchanges)] == ["setup", "answer", "other"]
    many = list_commands(*[make_exchange("setup")] * 60, make_exchange("answer"))
    assert [step.exchange.label for step in many] == [*["setup"] * 23, "answer"]


def test_a_later_step_sends_the_id_that_was_issued() -> None:
    upload = make_exchange("setup", response=Response(200, {}, {"id": "file_0123"}, "json"))
    _, step = list_commands(upload, make_exchange(request=make_request(url=f"{URL}/file_0123")))
    assert shlex.split(step.command) == ["curl", "-i", f"{URL}/file_0123"]


def test_a_key_that_was_not_recorded_becomes_the_providers_variable() -> None:
    recorded = make_request(headers={"authorization": "Bearer [redacted]", "x-api-key": "***", "cookie": "a=1"})
    line = format_line(recorded, traffic=("a.har",))
    assert line == f'curl -i {URL} -H "authorization: Bearer ${{PA_API_KEY}}" -H "x-api-key: ${{PA_API_KEY}}"'


def test_a_mock_that_outlives_the_run_has_its_keys_in_the_line() -> None:
    keys = {"PA_API_KEY": "mock key", "PA_OTHER_KEY": "x"}
    assert "-H 'x-api-key: mock key'" in format_line(make_exchange().request, keys=keys)


def test_a_mock_that_ended_with_the_run_has_no_line() -> None:
    assert list_commands(make_exchange(), run=make_run(invocation=Invocation(embedded=True), live=False)) == []


def test_nothing_sent_nothing_to_send_again() -> None:
    assert list_step_commands(make_run(), make_result(A, Outcome.NOT_PROBED)) == []


def test_a_line_has_the_names_that_the_wire_sends() -> None:
    """What the dialect sends and what is printed must not part."""
    dialect = Dialect.for_provider(
        replace(Provider("pa"), header_prefix="real-", id_prefix="real_", key_header="x-real-key", credentials={})
    )
    sent = make_request(
        "POST",
        "https://pa_host.example/v1/files/pa_file_1?of=pa_2&pa_x=3",
        {"x-api-key": "k", "PA-Version": "2023-06-01", "content-type": "application/json"},
        {"pa_named": ["pa_file_1", "a pa_file_1"]},
    )
    real = Request(
        "POST",
        f"https://pa_host.example{dialect.path_out('/v1/files/pa_file_1')}?of=real_2&pa_x=3",
        {"x-real-key": "k", **dialect.headers_out({"PA-Version": "2023-06-01", "content-type": "application/json"})},
        dialect.json_out(sent.body),
    )
    assert real.headers.keys() == {"x-real-key", "real-version", "content-type"}
    assert shlex.split(format_line(sent, names={"pa": dialect.renamings})) == list_curl_words(real)
    assert shlex.split(format_line(sent)) == list_curl_words(sent)
