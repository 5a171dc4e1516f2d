"""Compatible servers on loopback: what each gets wrong is told by layers, and what it does not have is told once."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.layers import Layer
from catalog_probe.catalog.model.record_states import RecordState
from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.targets import target_file
from catalog_probe.reports.content.layers import LayerShare, list_layers, list_upstream_faults
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.views import summary, terminal
from tests.harness.command import NO_TEST_PLUGINS, probe_here, pytest_probes, run_command
from tests.harness.engines import probe
from tests.harness.fault_proxy import FaultProxy
from tests.harness.faults import Answer, Fault, FaultScope, FaultSelector
from tests.harness.instances import RunResults, make_run
from tests.harness.serving import serving
from tests.harness.walking import find_free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from catalog_probe.probes.targets.target import Target

MODELS, MESSAGES = "pa/endpoints/models/list_models", "pa/endpoints/messages/create_message"
MALFORMED, UNKNOWN_PATH = "pa/errors/general/malformed_request", "pa/errors/general/unknown_path"
RATE_LIMIT, OVERLOADED = "pa/errors/general/acceleration_limit", "pa/errors/general/overloaded"
LIST_BATCHES, CREATE_BATCH = "pa/endpoints/batches/list_batches", "pa/endpoints/batches/create_batch"
GET_BATCH, TOO_LARGE_BATCHES = "pa/endpoints/batches/get_batch", "pa/errors/general/too_large_batches"
UNKNOWN_URL = "pc/errors/not_found/unknown_url"
QUOTA, REGION = "pc/errors/rate_limit/insufficient_quota", "pc/errors/permission/unsupported_country_region_territory"

ENVIRON = {
    "PA_API_KEY": "mock-pa-inference",
    "PA_HEADER_PREFIX": "pa-",
    "PA_ID_PREFIX": "pa_",
    "PA_SMALL_MODEL": "mock-small",
    "PC_SMALL_MODEL": "mock-small",
    "PC_API_KEY": "mock-pc-inference",
    "PC_HEADER_PREFIX": "pc-",
}


def make_target(base: str, *left_out: Layer, upstream: str = "") -> Target:
    """Return the shipped target for a server at this base, with our mock at `upstream` behind it."""
    environ = {**ENVIRON, "PA_BASE_URL": f"{base}/pa", "PC_BASE_URL": f"{base}/pc"}
    target = target_file.load("compatible", environ)
    return replace(target, reprobe_after_s=0.0, leave_out=frozenset(left_out), upstream=upstream)


@contextmanager
def serving_with(*faults: Fault) -> Iterator[str]:
    """Serve our mock with these changes, and yield its base address."""
    with serving(FaultProxy(create_app(), FaultSelector(faults))) as base:
        yield base


def judge(target: Target, addresses: Sequence[str]) -> RunResults:
    results = probe(target, addresses)
    policy = {"leave_out": sorted(target.leave_out), "upstream": target.upstream}
    providers = {"expected": ("pa",), "providers": ("pa",)}
    return make_run("compatible", results, live=target.live, answered_by=target.answered_by, policy=policy, **providers)


def shares_of(run_results: RunResults) -> dict[Layer, LayerShare]:
    return {share.layer: share for share in list_layers(*run_results)}


def drop_vendor_headers(answer: Answer) -> Answer:
    kept = {"content-type", "content-length", "retry-after", "x-should-retry"}
    return answer.with_changes(headers={name: value for name, value in answer.headers.items() if name in kept})


def test_a_server_without_vendor_headers_is_told_by_layers() -> None:
    addresses = [MODELS, MESSAGES, MALFORMED, UNKNOWN_PATH]
    with serving_with(Fault(FaultScope(), answer=drop_vendor_headers)) as base:
        judged = judge(make_target(base), addresses)
        without = judge(make_target(base, Layer.VENDOR_HEADERS), addresses)

    assert {result.outcome for result in judged[1]} == {Outcome.DRIFTED}, "one header sinks each record"
    assert run_verdict.exit_status(*judged) is Exit.DRIFT, "nothing is pending"
    shares = shares_of(judged)
    assert {layer for layer, share in shares.items() if share.differences} == {Layer.VENDOR_HEADERS}
    assert shares[Layer.VENDOR_HEADERS].share == "0 of 4 records"
    assert shares[Layer.STATUS].share == shares[Layer.ENVELOPE].share == "4 of 4 records"

    assert {result.outcome for result in without[1]} == {Outcome.CONFORMS}
    assert run_verdict.exit_status(*without) is Exit.FINE
    assert shares_of(without)[Layer.VENDOR_HEADERS].share == "left out by the target"
    left_out = {code for result in without[1] for seen in result.observations for code in seen.not_observed.values()}
    assert "left-out" in left_out


def test_a_run_is_strict_and_leaves_the_records_alone(tmp_path: Path) -> None:
    with serving_with(Fault(FaultScope(), answer=drop_vendor_headers)) as base:
        environ = {**NO_TEST_PLUGINS, **ENVIRON, "PA_BASE_URL": f"{base}/pa"}
        words = [sys.executable, "-m", "pytest", "probes", "-p", "no:cacheprovider", "--target", "compatible"]
        words += ["--provider", "pa", "-k", MODELS]
        done = run_command(tmp_path / "out", [*words, "--out", str(tmp_path / "out")], environ)
        refused = run_command(tmp_path / "no", [*words, "--out", str(tmp_path / "no"), "--update"], environ)
    assert done.status == Exit.DRIFT
    assert {result.confirmation for result in done.results.values()} == {None}, "pending needs a confirmation"
    assert "Layers of the server" in done.output
    assert "Layers of the server" in (done.folder / "report.html").read_text(encoding="utf-8")
    assert refused.status == Exit.USAGE
    assert "only what was seen of a provider itself goes into the records" in refused.output + refused.errors


def spoil_as_a_gateway(answer: Answer) -> Answer:
    headers = {name: value for name, value in answer.headers.items() if name != "retry-after"}
    return answer.with_changes(status=500 if answer.status == 529 else answer.status, headers=headers)


def answer_not_found(answer: Answer) -> Answer:
    """Answer as a web framework does if it has no such path."""
    body = json.dumps({"detail": "Not Found"}).encode()
    return answer.with_changes(status=404, headers={"content-type": "application/json"}, body=body)


def test_faults_of_the_upstream_do_not_survive_a_bad_gateway() -> None:
    faults = [
        Fault(FaultScope(), answer=spoil_as_a_gateway),
        Fault(FaultScope(path="unknown|no[-_]such|nonexist", statuses={404}), answer=answer_not_found),
    ]
    with serving_with(*faults) as base:
        run, results = judge(make_target(base, upstream=base), [MODELS, OVERLOADED, RATE_LIMIT, UNKNOWN_URL, QUOTA])

    outcomes = {result.record: result.outcome for result in results}
    assert outcomes[MODELS] is Outcome.CONFORMS
    assert outcomes[OVERLOADED] is Outcome.DRIFTED
    shares = shares_of((run, results))
    (status,) = shares[Layer.STATUS].differences
    assert (status.cause.summary, status.extent) == ("status: documented 529, observed 500", OVERLOADED)
    assert status.rows
    assert status.command.startswith("pytest "), "no curl line arms the fault"
    assert f"--upstream {base.rpartition(':')[2]}" in status.command
    retry = shares[Layer.RETRY_HEADERS].differences
    assert "header retry-after: documented seconds, observed absent" in [each.cause.summary for each in retry]
    envelope = shares[Layer.ENVELOPE].differences
    assert {(difference.extent, difference.command.split()[0]) for difference in envelope} == {(UNKNOWN_URL, "curl")}
    text = terminal.render(run, results, width=200)
    assert "likely wrong: server" in text
    assert f"{status.extent}: documented in {status.rows[0].split()[0]}" in text
    assert status.command in text
    assert Layer.STATUS.advice in " ".join(text.split())
    assert f"{OVERLOADED}: differs in status" in text
    assert f"{QUOTA}: came through whole" in text, "its row names the fault; the documents promise no retry header"
    page = summary.render(run, results)
    assert "| status | 4 of 5 records | `status: documented 529, observed 500` (1 record) |" in page
    assert f"| `{RATE_LIMIT}` | status, envelope, type and code, vendor headers | retry headers |" in page


@pytest.fixture(scope="module")
def without_batches() -> RunResults:
    """The results of a server without batches, whose framework answers every unknown path."""
    with serving_with(Fault(FaultScope(path="/v1/messages/batches"), answer=answer_not_found)) as base:
        return judge(make_target(base), [MODELS, MALFORMED, LIST_BATCHES, CREATE_BATCH, GET_BATCH, TOO_LARGE_BATCHES])


def test_what_a_server_does_not_have_is_neither_drift_nor_blind(without_batches: RunResults) -> None:
    run, results = without_batches
    codes = {result.record: result.reason.code if result.reason else str(result.outcome) for result in results}
    assert codes[MODELS] == codes[MALFORMED] == "conforms"
    assert {codes[address] for address in (LIST_BATCHES, CREATE_BATCH, GET_BATCH)} == {"family-missing"}
    assert run_verdict.find_blind_providers(run, results) == {}
    assert run_verdict.exit_status(run, results) is Exit.FINE


def test_what_a_server_does_not_have_is_told_once(without_batches: RunResults) -> None:
    (section,) = (part for part in Overview(*without_batches).sections if part.name is RecordState.NOT_IMPLEMENTED)
    (detail,) = {record.reason_detail for record in section.records}
    assert detail.startswith("pa/endpoints/batches: ")
    assert detail.endswith("/v1/messages/batches without a fault was answered 404")
    text = " ".join(terminal.render(*without_batches).split())
    assert text.count(detail) == 1


class OwnGateway:
    """A gateway before our mock: it lists its models without asking again, and repeats a POST that failed once."""

    def __init__(self) -> None:
        self._mock = create_app()
        self._models: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        answer: list[Any] = []
        if scope["path"].endswith("/v1/models"):
            answer = self._models = self._models or await self._ask(scope, receive)
        elif scope["method"] == "POST" and "/v1/" in scope["path"]:
            body = await receive()
            answer = await self._ask(scope, receive, body)
            if answer[0]["status"] >= 500:
                answer = await self._ask(scope, receive, body)
        else:
            answer = await self._ask(scope, receive)
        for message in answer:
            await send(message)

    async def _ask(self, scope: Any, receive: Any, *bodies: Any) -> list[Any]:
        waiting, messages = list(bodies), []

        async def replay() -> Any:
            return waiting.pop() if waiting else await receive()

        async def collect(message: Any) -> None:
            messages.append(message)

        await self._mock(scope, replay, collect)
        return messages


def test_a_fault_meets_each_repetition_and_is_no_difference_where_nobody_asks_the_upstream() -> None:
    with serving(OwnGateway()) as base:
        run, results = judge(make_target(base, upstream=base), [REGION, OVERLOADED, RATE_LIMIT])
    codes = {result.record: result.reason.code if result.reason else str(result.outcome) for result in results}
    assert codes == {
        REGION: "upstream-not-asked",
        OVERLOADED: "conforms",
        RATE_LIMIT: "conforms",
    }
    assert run_verdict.find_blind_providers(run, results) == {}


def test_the_mock_as_a_compatible_server_has_all_layers(tmp_path: Path) -> None:
    """By the command of docs/compatible.md, which starts the mock itself."""
    assert all(share.observed for share in measure_full_layers("pb", tmp_path))


def measure_full_layers(provider: str, folder: Path) -> Sequence[LayerShare]:
    """Probe the mock as a server and its own upstream, and return its layers; none may differ anywhere."""
    port, name = find_free_port(), provider.upper()
    environ = {
        f"{name}_BASE_URL": f"http://127.0.0.1:{port}/{provider}",
        f"{name}_API_KEY": f"mock-{provider}-inference",
        f"{name}_RATE": "2000",
    }
    options = ["--target", "compatible", "--upstream", str(port), "--provider", provider]
    done = pytest_probes(folder / "out", *options, environ=environ)
    assert done.status == Exit.FINE, done.all_output
    shares = list_layers(done.run, list(done.results.values()))
    assert [share.layer for share in shares if share.conforming < share.observed] == []
    assert len(list_upstream_faults(done.run, list(done.results.values()))) > 5
    assert f"whose upstream is {provider} at http://127.0.0.1:{port}/{provider}" in done.output
    return shares


def test_a_mock_behind_something_else_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases = {
        ("--upstream", "8000"): "--upstream: target 'mock' is a mock; add --target compatible",
        ("--target", "compatible", "--upstream", "http://x"): "--upstream http://x: no port",
        ("--target", "compatible", "--upstream", "70000"): "--upstream 70000: no port",
    }
    for options, message in cases.items():
        with subtests.test(options=options):
            done = probe_here(tmp_path / "out", *options)
            assert (done.status, message in done.all_output) == (Exit.USAGE, True)
