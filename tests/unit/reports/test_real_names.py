"""Printed commands for a live provider have its real names; evidence has the stand-ins."""

from __future__ import annotations

from dataclasses import replace

from catalog_probe.catalog.evidence.results import Invocation, Run
from catalog_probe.catalog.model import Attempt, Exchange, Outcome, Request, Response
from catalog_probe.catalog.model.exchange import Event
from catalog_probe.probes.targets.dialect import Dialect
from catalog_probe.probes.targets.target import Provider
from catalog_probe.reports.exchanges.real_names import use_real_names
from catalog_probe.reports.exchanges.reproduction_script import build_script
from tests.unit.reports.factories import make_exchange, make_finding, make_result, make_run

REAL = {
    "header_prefix": {"stand_in": "pa-", "real": "real-"},
    "id_prefix": {"stand_in": "pa_", "real": "real_"},
    "key_header": {"stand_in": "x-api-key", "real": "x-real-key"},
}
SENT = Request(
    "POST",
    "https://pa_host.example/v1/files/pa_file_1?of=pa_2&pa_x=3",
    {"x-api-key": "${PA_API_KEY}", "PA-Version": "2023-06-01", "content-type": "application/json"},
    {"pa_named": ["pa_file_1", "a pa_file_1"]},
)


def test_headers_and_identifiers_are_those_of_the_provider() -> None:
    sent = use_real_names(REAL, make_exchange(request=SENT)).request
    assert sent.url == "https://pa_host.example/v1/files/real_file_1?of=real_2&pa_x=3"
    assert list(sent.headers) == ["x-real-key", "real-version", "content-type"]
    assert sent.body == {"pa_named": ["real_file_1", "a pa_file_1"]}
    assert use_real_names({}, make_exchange(request=SENT)).request is SENT


def test_printed_names_are_those_that_the_wire_sends() -> None:
    """What the dialect sends and what is printed must not part."""
    dialect = Dialect.for_provider(
        replace(Provider("pa"), header_prefix="real-", id_prefix="real_", key_header="x-real-key", credentials={})
    )
    assert dialect.renamings == REAL
    sent = use_real_names(dialect.renamings, make_exchange(request=SENT)).request
    of_dialect = dialect.headers_out({name: value for name, value in SENT.headers.items() if name != "x-api-key"})
    assert {name: value for name, value in sent.headers.items() if name != "x-real-key"} == of_dialect
    assert sent.body == dialect.json_out(SENT.body)
    assert sent.url.endswith(dialect.path_out("/v1/files/pa_file_1") + "?of=real_2&pa_x=3")
    assert "x-real-key" in sent.headers


def test_only_sent_socket_messages_are_translated() -> None:
    events = (Event("message", {"file": "pa_1"}, sent=True), Event("message", {"file": "pa_1"}))
    response = use_real_names(REAL, make_exchange(response=Response(101, {}, None, "empty", events=events))).response
    assert response is not None
    assert [event.data for event in response.events or ()] == [{"file": "real_1"}, {"file": "pa_1"}]


def test_a_method_has_the_package_that_the_target_names() -> None:
    call = make_exchange(request=Request("GRPC", "pd.example:443/pd_api.Chat/GetCompletion", {}, {}))
    pairs = Dialect.for_provider(replace(Provider("pd"), grpc_package="real_api.v1")).renamings
    assert use_real_names(pairs, call).request.url == "pd.example:443/real_api.v1.Chat/GetCompletion"


def make_script(run: Run, *exchanges: Exchange) -> str:
    attempts = (Attempt("2026-11-21T04:05:00Z", 9.0, exchanges),)
    return build_script(
        run,
        make_result("pa/errors/general/a", Outcome.DRIFTED, findings=(make_finding(),), attempts=attempts),
    )


def test_only_a_script_for_a_live_target_has_real_names() -> None:
    live = make_script(make_run(invocation=Invocation(target="live", names={"pa": REAL})), make_exchange(request=SENT))
    assert '--header "x-real-key: ${PA_API_KEY}"' in live
    assert "--header 'real-version: 2023-06-01'" in live
    assert "/v1/files/real_file_1?of=real_2" in live
    assert ': "${PA_API_KEY:?' in live
    mock = make_script(make_run(live=False, invocation=Invocation(target="mock")), make_exchange(request=SENT))
    assert "real" not in mock


def test_an_id_from_a_new_answer_is_not_translated() -> None:
    upload = make_exchange("setup", request=replace(SENT, url="https://h/v1/files", body=None))
    upload = replace(upload, response=Response(200, {}, {"id": "pa_file_0123"}, "json"))
    download = make_exchange(request=Request("GET", "https://h/v1/files/pa_file_0123", SENT.headers, None))
    text = make_script(make_run(invocation=Invocation(target="live", names={"pa": REAL})), upload, download)
    assert '--url "https://h/v1/files/${PA_SEEN_1}"' in text
    assert "pa_file_0123" not in text
