"""A broken stage between answer and exit status is found by the self-test."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.results_file import ResultsWriter, read_run
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.cli.main import main
from catalog_probe.probes.judging.verdict import Verdict, retract
from tests.harness.command import CommandResult, probe_here, pytest_probes
from tests.harness.fault_proxy import FaultServer, serving_faults
from tests.harness.live import LiveTarget, write_live_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.reading.expectations import Expected

SELF_TEST = "pa/harness/self_test/inference"

GONE = Reason("one-answer-to-everything")
SWALLOWING_WORKER = """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    for _, lines in report.user_properties:
        lines[:] = [line for line in lines if line[0]["outcome"] != "drifted"]
"""
"""A plugin that drops the results of drifts which a worker reports."""


def see_nothing(*_: object, **__: object) -> Verdict:
    return Verdict(Outcome.CONFORMS)


def judge_nothing(expected: Iterable[Expected], *_: object) -> Verdict:
    return conclude_nothing({(expectation.label, ""): see_nothing() for expectation in expected})


def conclude_nothing(steps: Any) -> Verdict:
    return Verdict(Outcome.CONFORMS, step_verdicts=steps)


def retract_drift(evidence: Any, _: object) -> Verdict:
    verdict: Verdict = evidence.verdict
    return retract(verdict, GONE) if verdict.outcome is Outcome.DRIFTED else verdict


def append_unless_drifted(writer: ResultsWriter, line: Any, append: Any = ResultsWriter.append) -> None:
    if line["outcome"] != "drifted":
        append(writer, line)


def read_without_findings(line: Any, read: Any = Result.from_json) -> Result:
    result: Result = read(line)
    return replace(result, findings=())


JUDGING, EVIDENCE = "catalog_probe.probes.judging", "catalog_probe.catalog.evidence"
STAGES: dict[str, dict[str, Callable[..., Any]]] = {
    "the judge sees nothing": {
        f"{JUDGING}.control.judge": judge_nothing,
        "catalog_probe.probes.running.probing.judge": judge_nothing,
    },
    "attempts are never agreed on": {f"{JUDGING}.attempts.conclude_step": see_nothing},
    "step verdicts are combined to nothing": {
        f"{JUDGING}.attempts.judge_record": conclude_nothing,
        f"{JUDGING}.inconclusive.provisional.judge_record": conclude_nothing,
    },
    "an inconclusive rule takes every drift back": {f"{JUDGING}.inconclusive.provisional.apply_rules": retract_drift},
    "a line is lost on its way to the file": {f"{EVIDENCE}.results_file.ResultsWriter.append": append_unless_drifted},
    "a finding is lost on its way from the file": {f"{EVIDENCE}.results.Result.from_json": read_without_findings},
    "no drift counts": {f"{EVIDENCE}.run_verdict.is_failure": lambda _: False},
    "a cause is dropped": {f"{EVIDENCE}.causes.find_causes": lambda _: ()},
}
"""A stage between answer and exit status that is broken -> what is put in place of its functions."""


@pytest.fixture(scope="module")
def fault_server() -> Iterator[FaultServer]:
    with serving_faults() as made:
        made.target_behind()
        yield made


@pytest.fixture
def tonight(tmp_path: Path, fault_server: FaultServer) -> LiveTarget:
    return write_live_target(tmp_path, {"pa": f"{fault_server.base}/pa"}, expected=None)


def options(tonight: LiveTarget) -> tuple[str, ...]:
    return ("--target", str(tonight.path), "-k", "list_models")


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_run_detects_its_self_test_and_shows_it_nowhere(
    tonight: LiveTarget, tmp_path: Path, workers: tuple[str, ...]
) -> None:
    seen = (pytest_probes if workers else probe_here)(
        tmp_path / "out", *options(tonight), *workers, environ=tonight.environ
    )
    assert seen.status == 0, seen.all_output
    assert seen.run.self_tests == ("pa:inference",)
    assert SELF_TEST in {line.record for line in seen.lines}
    assert not re.search("self.test", seen.output)
    for name in ("report.html", "summary.md", "junit.xml"):
        said = (seen.folder / name).read_text(encoding="utf-8")
        said = said.replace('"self-test-silent"', "")  # one of the words that a query may hold
        assert not re.search("self.test", said)
    assert not list((seen.folder / "catalog").rglob("*self_test*"))
    assert main(["report", "build", str(seen.folder), "--out", str(tmp_path / "again")]) == 0
    assert SELF_TEST in {result.record for result in read_run(tmp_path / "again" / "results.jsonl")[1]}


@pytest.mark.parametrize("stage", STAGES)
def test_a_broken_stage_is_our_fault(
    tonight: LiveTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    for name, broken in STAGES[stage].items():
        monkeypatch.setattr(name, broken)
    assert_silent(probe_here(tmp_path / "out", *options(tonight), environ=tonight.environ))


def test_a_worker_that_swallows_what_drifts_is_our_fault(tonight: LiveTarget, tmp_path: Path) -> None:
    (tmp_path / "swallowing.py").write_text(SWALLOWING_WORKER)
    environ = {**tonight.environ, "PYTHONPATH": str(tmp_path)}
    swallowing = ("-p", "swallowing", "-n", "1")
    assert_silent(pytest_probes(tmp_path / "out", *swallowing, *options(tonight), environ=environ))


def assert_silent(seen: CommandResult) -> None:
    assert seen.status == 3, seen.all_output
    assert "self-test-silent: what is false on purpose did not come out as drift in lane pa:inference" in seen.output
