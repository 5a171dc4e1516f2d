"""A provider that differs only in our assumptions is green and reported once."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.store import RECORDS, Catalog
from catalog_probe.catalog.model import Outcome, Severity, Tag
from catalog_probe.catalog.model.outcome import ReasonCode
from tests.harness.command import CommandResult, probe_here
from tests.harness.live import write_live_target
from tests.harness.serving import serving
from tests.harness.wrong_provider import SpoilableAnswer, WrongProvider

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness.once import Once

MODEL, TOKENS = "pa/endpoints/models/get_model", "pa/endpoints/messages/count_tokens"
UNKNOWN_MODEL, BATCHES = "pa/errors/general/unknown_model", "pa/endpoints/batches/list_batches"

CHOSEN = "models or count_tokens or batches or (general and unknown)"

CREATED = re.compile(r"/pa/v1/(models/.+|messages/count_tokens)")
NOWHERE = {"type": "error", "error": {"type": "not_found_error", "message": "No such path."}}


def contradict_assumptions(answer: SpoilableAnswer) -> None:
    """Contradict only assumptions: another success status, another place of the id, a missing path."""
    if answer.path == "/pa/v1/messages/batches":  # 1:4.1: "paths: not shown"
        if answer.status >= 400:
            return
        answer.status, answer.body = 404, json.dumps({**NOWHERE, "request_id": answer.headers["request-id"]}).encode()
        answer.headers["x-should-retry"] = "false"
    elif CREATED.fullmatch(answer.path) and answer.status == 200:  # no document shows the status of a success
        answer.status = 201
    elif answer.status >= 400:  # 2:7.1: the id "appears in the body", not where
        answer.edit(lambda body: body["error"].update(request_id=body.pop("request_id")))


@dataclass(frozen=True)
class Nights:
    """Two nights in a row, what each left in the records, and the records as the second left them."""

    first: CommandResult
    second: CommandResult
    texts: tuple[str, str]
    records: Path


@pytest.fixture
def nights(once: Once) -> Nights:
    return once("only-assumptions-differ", probe_two_nights)


def probe_two_nights(folder: Path) -> Nights:
    records = folder / "records"
    shutil.copytree(RECORDS / "pa", records / "pa")
    nights_results, texts = [], []
    with serving(WrongProvider(contradict_assumptions)) as base:
        tonight = write_live_target(folder, {"pa": f"{base}/pa"})
        for today in ("2026-11-20", "2026-11-21"):
            arguments = ("--target", str(tonight.path), "--catalog", str(records), "--today", today, "-k", CHOSEN)
            nights_results.append(probe_here(folder / today, *arguments, "--update", environ=tonight.environ))
            texts.append("".join(path.read_text() for path in sorted(records.rglob("*.json"))))
    return Nights(nights_results[0], nights_results[1], (texts[0], texts[1]), records)


def test_the_first_night_is_green_and_reports_each_resolved_assumption(nights: Nights) -> None:
    assert nights.first.status == 0, nights.first.all_output
    results = nights.first.results
    assert not [result.record for result in results.values() if result.drifts]
    reported = {(result.record, finding.assertion) for result in results.values() for finding in result.findings
            if finding.severity is Severity.SHOULD}  # fmt: skip
    assert {(MODEL, "success/status"), (TOKENS, "success/status")} <= reported
    assert (UNKNOWN_MODEL, "answer/body:/request_id") in reported
    assert "Resolved assumptions" in nights.first.output
    summary = (nights.first.folder / "summary.md").read_text()
    assert "pa status: assumed 200, observed 201" in summary


def test_a_wrong_assumption_about_a_request_is_ours_to_mend(nights: Nights) -> None:
    result = nights.first.results[BATCHES]
    assert result.outcome is Outcome.INCONCLUSIVE
    assert result.reason is not None
    assert result.reason.code == ReasonCode.ASSUMPTION_FAILED


def test_resolved_assumptions_are_written_to_the_records(nights: Nights) -> None:
    written = Catalog.load(nights.records)
    for address, key, seen in (
        (MODEL, "success/status", "201"),
        (UNKNOWN_MODEL, "answer/body:/request_id", "absent"),
    ):
        record = written[address]
        assert record.data["evidence"]["resolved"][key] == {"observed": seen, "on": "2026-11-20"}
        assert {Tag.LIVE_VERIFIED, Tag.LIVE_DISCOVERED} <= record.tags
        assert Tag.UNVERIFIED not in record.tags


def test_the_second_night_is_quiet(nights: Nights) -> None:
    assert nights.second.status == 0, nights.second.all_output
    assert "Resolved assumptions" not in nights.second.output
    assert not [
        finding.message
        for result in nights.second.results.values()
        for finding in result.findings
        if finding.severity is not Severity.INFO
    ]
    assert "0 records changed in 0 files" in nights.second.output
    assert nights.texts[0] == nights.texts[1]
