"""Compatible servers on loopback: what each gets wrong is told by layers, and what it does not have is told once."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.layers import Layer
from catalog_probe.catalog.model.record_states import RecordState
from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.targets import target_file
from catalog_probe.reports.content.layers import LayerShare, list_layers
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.views import summary, terminal
from tests.harness.command import NO_TEST_PLUGINS, run_command
from tests.harness.engines import probe
from tests.harness.fault_proxy import FaultProxy
from tests.harness.faults import Answer, Fault, FaultScope, FaultSelector
from tests.harness.instances import RunResults, make_run
from tests.harness.serving import serving

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
STREAM_ERROR = "pa/errors/stream/overloaded"

ENVIRON = {
    "PA_API_KEY": "mock-pa-inference",
    "PA_HEADER_PREFIX": "pa-",
    "PA_ID_PREFIX": "pa_",
    "PA_SMALL_MODEL": "mock-small",
    "PC_SMALL_MODEL": "mock-small",
    "PC_API_KEY": "mock-pc-inference",
    "PC_HEADER_PREFIX": "pc-",
}


def make_target(base: str, *left_out: Layer, live: bool = True) -> Target:
    """Return the shipped target for a server at this base; if it is not live, scenarios of the mock pass through it."""
    environ = {**ENVIRON, "PA_BASE_URL": f"{base}/pa", "PC_BASE_URL": f"{base}/pc"}
    target = target_file.load("compatible", environ)
    return replace(target, reprobe_after_s=0.0, live=live, leave_out=frozenset(left_out))


@contextmanager
def serving_with(*faults: Fault) -> Iterator[str]:
    """Serve our mock with these changes, and yield its base address."""
    with serving(FaultProxy(create_app(), FaultSelector(faults))) as base:
        yield base


def judge(target: Target, addresses: Sequence[str]) -> RunResults:
    results = probe(target, addresses)
    policy = {"leave_out": sorted(target.leave_out)}
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
        run, results = judge(make_target(base, live=False), [MODELS, OVERLOADED, RATE_LIMIT, UNKNOWN_URL])

    outcomes = {result.record: result.outcome for result in results}
    assert outcomes[MODELS] is Outcome.CONFORMS
    assert outcomes[OVERLOADED] is Outcome.DRIFTED
    shares = shares_of((run, results))
    (status,) = shares[Layer.STATUS].differences
    assert (status.cause.summary, status.extent) == ("status: documented 529, observed 500", OVERLOADED)
    assert status.rows
    assert status.command.startswith("curl ")
    retry = shares[Layer.RETRY_HEADERS].differences
    assert "header retry-after: documented seconds, observed absent" in [each.cause.summary for each in retry]
    envelope = shares[Layer.ENVELOPE].differences
    assert {difference.extent for difference in envelope} == {UNKNOWN_URL}
    text = terminal.render(run, results, width=200)
    assert "likely wrong: server" in text
    assert f"{status.extent}: documented in {status.rows[0].split()[0]}" in text
    assert status.command in text
    assert Layer.STATUS.advice in " ".join(text.split())
    assert "| status | 3 of 4 records |" in summary.render(run, results)


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
    assert run_verdict.blind_providers(run, results) == {}
    assert run_verdict.exit_status(run, results) is Exit.FINE


def test_what_a_server_does_not_have_is_told_once(without_batches: RunResults) -> None:
    (section,) = (part for part in Overview(*without_batches).sections if part.name is RecordState.NOT_IMPLEMENTED)
    (detail,) = {record.reason_detail for record in section.records}
    assert detail.startswith("pa/endpoints/batches: ")
    assert detail.endswith("/v1/messages/batches without a fault was answered 404")
    text = " ".join(terminal.render(*without_batches).split())
    assert text.count(detail) == 1


def test_the_mock_as_a_compatible_server_has_all_layers() -> None:
    with serving_with() as base:
        judged = judge(
            make_target(base, live=False), [MODELS, MESSAGES, MALFORMED, RATE_LIMIT, OVERLOADED, STREAM_ERROR]
        )
    assert [share.share for share in list_layers(*judged) if share.conforming < share.observed] == []
    assert all(share.observed for share in list_layers(*judged))
