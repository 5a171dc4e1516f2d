"""One drift followed through everything that a run prints and writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from catalog_probe.catalog.model import Outcome
from tests.harness.command import pytest_probes
from tests.harness.serving import serving
from tests.harness.target_files import pa_target
from tests.harness.wrong_provider import SpoilableAnswer, WrongProvider

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

UNKNOWN_MODEL = "pa/errors/general/unknown_model"
GET_MODEL = "pa/endpoints/models/get_model"
LIST_MODELS = "pa/endpoints/models/list_models"

VOLATILE = (
    (r"--(target|out) ('[^']*'|/\S+)", r"--\1 PATH"),
    (r"\d{8}T\d{6}Z-[\w-]+", "RUN"),
    (r": /.+/RUN", ": OUT/RUN"),
    (r"127\.0\.0\.1:\d+", "HOST"),
    (r"in \d+\.\d+s( \([\d:]+\))?", "in TIME"),
    (r"=+", "="),
)


WIDE = {"COLUMNS": "200"}


def steady(text: str) -> str:
    """A terminal's text without what differs from run to run."""
    for pattern, replacement in VOLATILE:
        text = re.sub(pattern, replacement, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def gone(answer: SpoilableAnswer) -> None:
    if "no-such-model" in answer.path:
        answer.status = 410
        answer.headers.pop("request-id", None)


def test_a_drift_through_the_whole_line(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    """From the command line to the exit status, the terminal, results.jsonl and junit.xml."""
    with serving(WrongProvider(gone)) as base:
        target = pa_target(tmp_path / "target.toml", base)
        chosen = "get_model or list_models or unknown_model"
        ran = pytest_probes(tmp_path / "out", "--target", target, "-p", "no:randomly", "-k", chosen, environ=WIDE)
    assert ran.status == 1, ran.all_output
    failed = {record for record, each in ran.results.items() if each.outcome is Outcome.DRIFTED}
    assert failed == {GET_MODEL, UNKNOWN_MODEL}
    assert "FAILED " not in ran.output, "each is told by its cause"
    result = ran.results[UNKNOWN_MODEL]
    assert result.outcome is Outcome.DRIFTED
    assert {(finding.code, finding.location) for finding in result.drifts} == {
        ("status-differs", ""),
        ("header-missing", "request-id"),
    }
    assert [attempt.exchanges[0].response.status for attempt in result.attempts if attempt.exchanges[0].response] == [
        410,
        410,
    ]
    conforming = [record for record, each in ran.results.items() if each.outcome is Outcome.CONFORMS]
    assert LIST_MODELS in conforming
    failures = ElementTree.parse(ran.folder / "junit.xml").getroot().iter("failure")
    assert any(
        "status: documented 404, observed 410" in f"{failure.get('message')}{failure.text}" for failure in failures
    )
    assert ran.output.count("observed 410") == 1
    assert ran.output.splitlines()[-1] == "PA drifts: 2 new causes behind 2 records. 1 of 3 conform on the mock."
    assert steady(ran.output[ran.output.index(" catalog probe ") :]) == snapshot
