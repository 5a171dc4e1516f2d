"""A broken stage between answer and exit status is found by the self-test."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.results_file import read_run
from tests.harness.command import CommandResult, pytest_probes, run_command
from tests.harness.fault_proxy import FaultServer, serving_faults
from tests.harness.live import LiveTarget, write_live_target

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SELF_TEST = "pa/harness/self_test/inference"

STAGES = {
    "the judge sees nothing": """
import catalog_probe.probes.judging.self_test, catalog_probe.probes.running.probing
from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.judging.verdicts.verdict import Verdict
nothing = lambda *_, **__: Verdict(Outcome.CONFORMS)
catalog_probe.probes.judging.self_test.judge = catalog_probe.probes.running.probing.judge = nothing
""",
    "attempts are never agreed on": """
import catalog_probe.probes.judging.verdicts.attempts
from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.judging.verdicts.verdict import Verdict
catalog_probe.probes.judging.verdicts.attempts.conclude_step = lambda verdicts: Verdict(Outcome.CONFORMS)
""",
    "step verdicts are combined to nothing": """
import catalog_probe.probes.judging.verdicts.attempts
from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.judging.verdicts import attempts
from catalog_probe.probes.judging.verdicts.verdict import Verdict
attempts.judge_record = lambda steps: Verdict(Outcome.CONFORMS, step_verdicts=steps)
""",
    "an inconclusive rule takes every drift back": """
import catalog_probe.probes.judging.inconclusive.settling
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.probes.judging.verdicts.record_verdict import retract
gone = Reason("one-answer-to-everything")
def apply_rules(evidence, sees):
    verdict = evidence.verdict
    return retract(verdict, gone) if verdict.outcome is Outcome.DRIFTED else verdict
catalog_probe.probes.judging.inconclusive.settling.apply_rules = apply_rules
""",
    "a worker swallows what drifts": """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    report.user_properties[:] = [
        each for each in report.user_properties if not isinstance(each[1], dict) or each[1].get("outcome") != "drifted"
    ]
""",
    "a line is lost on its way to the file": """
from catalog_probe.catalog.evidence.results_file import ResultsWriter
kept = ResultsWriter.append
ResultsWriter.append = lambda self, line: None if line["outcome"] == "drifted" else kept(self, line)
""",
    "a finding is lost on its way from the file": """
from catalog_probe.catalog.evidence.results import Result
from dataclasses import replace
read = Result.from_json.__func__
Result.from_json = classmethod(lambda cls, line: replace(read(cls, line), findings=()))
""",
    "no drift counts": """
from catalog_probe.catalog.evidence.verdicts import run_verdict
run_verdict.is_failure = lambda result: False
""",
    "a cause is dropped": """
from catalog_probe.catalog.evidence import causes
causes.find_causes = lambda results: ()
""",
}


@pytest.fixture(scope="module")
def fault_server() -> Iterator[FaultServer]:
    with serving_faults() as made:
        made.target_behind()
        yield made


@pytest.fixture
def tonight(tmp_path: Path, fault_server: FaultServer) -> LiveTarget:
    return write_live_target(tmp_path, {"pa": f"{fault_server.base}/pa"}, expected=None)


def probe(tonight: LiveTarget, folder: Path, *arguments: str, stage: str = "") -> CommandResult:
    (folder / "broken_stage.py").write_text(stage)
    environ = {**tonight.environ, "PYTHONPATH": str(folder)}
    common = ("-p", "broken_stage", "--target", str(tonight.path), "-k", "list_models")
    return pytest_probes(folder / "out", *common, *arguments, environ=environ)


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_run_detects_its_self_test_and_shows_it_nowhere(
    tonight: LiveTarget, tmp_path: Path, workers: tuple[str, ...]
) -> None:
    seen = probe(tonight, tmp_path, *workers)
    assert seen.status == 0, seen.all_output
    assert seen.run.self_tests == ("pa:inference",)
    assert SELF_TEST in {line.record for line in seen.lines}
    assert not re.search("self.test", seen.output)
    for name in ("report.html", "summary.md", "junit.xml"):
        said = (seen.folder / name).read_text(encoding="utf-8")
        said = said.replace('"self-test-silent"', "")  # one of the words that a query may hold
        assert not re.search("self.test", said)
    assert not list((seen.folder / "catalog").rglob("*self_test*"))
    rebuilt = run_command(
        tmp_path,
        ["python", "-m", "catalog_probe", "report", "build", str(seen.folder), "--out", str(tmp_path / "again")],
    )
    assert rebuilt.status == 0, rebuilt.all_output
    assert SELF_TEST in {result.record for result in read_run(tmp_path / "again" / "results.jsonl")[1]}


@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)
def test_a_broken_stage_is_our_fault(tonight: LiveTarget, tmp_path: Path, stage: str) -> None:
    seen = probe(tonight, tmp_path, *(("-n", "1") if "logreport" in stage else ()), stage=stage)
    assert seen.status == 3, seen.all_output
    assert "self-test-silent: what is false on purpose did not come out as drift in lane pa:inference" in seen.output
