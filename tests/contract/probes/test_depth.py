"""Each depth asks its endpoints, and the evidence of nights is written per endpoint."""

from __future__ import annotations

from dataclasses import replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.files.store import RECORDS
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.reading.record_fields import claimed_endpoints
from catalog_probe.catalog.writeback.planner import Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.record_evidence import Sighting
from catalog_probe.catalog.writeback.update import update_records
from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.planning.plan import ALL_ENDPOINTS
from tests.harness.checkouts import copy_folder
from tests.harness.engines import FIRST_ENDPOINTS, catalog, mock_target_at, probe
from tests.harness.serving import serving
from tests.unit.reports.factories import TODAY, make_run

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

    from catalog_probe.probes.planning.plan import Rotation
    from catalog_probe.probes.targets.target import Target


REVOKED = "pa/errors/general/key_revoked"
CLAIMED = claimed_endpoints(catalog()[REVOKED])
LAST_ENDPOINT = CLAIMED[-1]


def probe_revoked(target: Target, drawing: Rotation = ALL_ENDPOINTS) -> Result:
    return probe(target, [REVOKED], drawing=drawing)[REVOKED]


def test_a_quick_run_looks_at_the_first_endpoint_and_names_the_others(mock_target: Target) -> None:
    quick, full = probe_revoked(mock_target, FIRST_ENDPOINTS), probe_revoked(mock_target)
    assert quick.outcome is full.outcome is Outcome.CONFORMS
    (first,) = {observation.endpoint for observation in quick.observations}
    assert set(quick.not_drawn) == set(CLAIMED) - {first}
    assert full.not_drawn == ()
    assert {observation.endpoint for observation in full.observations} == set(CLAIMED)
    assert {exchange.endpoint for exchange in full.attempts[0].exchanges} >= set(quick.not_drawn)


def plan_evidence(result: Result, today: Run) -> Patch:
    record = catalog()[REVOKED]
    patch = plan_patch(
        record, [Sighting(today, result)], UpdatePolicy(), TODAY, assertions(record, catalog().__getitem__)
    )
    assert isinstance(patch, Patch)
    return patch


def test_evidence_is_kept_per_endpoint(mock_target: Target) -> None:
    result = probe_revoked(mock_target)
    lines = plan_evidence(result, make_run()).record.data["evidence"]["endpoints"]
    assert set(lines) == set(CLAIMED)
    assert not any(line.get("mismatched") for line in lines.values())
    spoiled = tuple(
        replace(
            observation,
            matched=tuple(key for key in observation.matched if key != "status"),
            mismatched={"status": "403"},
        )
        if observation.endpoint == LAST_ENDPOINT
        else observation
        for observation in result.observations
    )
    drifted = replace(result, observations=spoiled, outcome=Outcome.DRIFTED)
    lines = plan_evidence(drifted, make_run()).record.data["evidence"]["endpoints"]
    assert {at: line["mismatched"] for at, line in lines.items() if "mismatched" in line} == {
        LAST_ENDPOINT: {"answer/status": "403"}
    }


ADDRESSES = (
    "pa/endpoints/models/get_model",
    "pa/errors/general/overloaded",
    "pa/errors/general/unknown_model",
    "pd/endpoints/models/list_models",
    "pd/errors/authentication/no_credentials",
)
"""An endpoint and errors on many endpoints, with what was assumed of them."""


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """The results of a night in which everything conforms, at fixed times."""
    with serving(create_app()) as base:
        found = probe(mock_target_at(base), ADDRESSES, drawing=ALL_ENDPOINTS)
    return {address: _at_noon(result) for address, result in found.items()}


def _at_noon(result: Result) -> Result:
    attempts = tuple(replace(attempt, started_at="2026-11-20T12:00:00Z") for attempt in result.attempts)
    return replace(result, attempts=attempts, observed_at="2026-11-20T12:00:00Z")


def night(day: str) -> Run:
    return Run(f"night-{day}", "live", live=True, started_at=f"{day}T04:00:00Z", today=day, selected=ADDRESSES)


def read_texts(root: Path) -> dict[str, list[str]]:
    return {path.relative_to(root).as_posix(): path.read_text().splitlines() for path in sorted(root.rglob("*.json"))}


def diff_texts(before: dict[str, list[str]], after: dict[str, list[str]]) -> list[str]:
    """Return removed and added lines per file, as a reviewer sees them."""
    lines_changed = []
    for name, lines in after.items():
        old = before[name]
        changed = [
            opcode for opcode in SequenceMatcher(None, old, lines, autojunk=False).get_opcodes() if opcode[0] != "equal"
        ]
        lines_changed += [name] if changed else []
        for _, start, end, again, until in changed:
            lines_changed += [f"-{line}" for line in old[start:end]] + [f"+{line}" for line in lines[again:until]]
    return lines_changed


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return copy_folder(RECORDS, tmp_path / "records")


def test_the_first_night_adds_one_line_per_endpoint(
    results: dict[str, Result], records: Path, snapshot: SnapshotAssertion
) -> None:
    before = read_texts(records)
    summary = update_records([(night("2026-11-20"), list(results.values()))], records)
    assert {address for address, _ in summary.patched} == set(ADDRESSES)
    lines = diff_texts(before, read_texts(records))
    assert lines == snapshot
    for_people = [line for line in lines if '"evidence": {' not in line]
    assert [line for line in for_people if len(line) >= 200] == [], "a line that nobody reads"
    evidence = sum("/endpoints/" in line and '"on"' in line for line in lines)
    assert evidence == sum(
        len({observation.endpoint for observation in result.observations if observation.endpoint})
        for result in results.values()
    )
    again = {line[1:].rstrip(",") for line in lines if line.startswith("+")}
    removed = {line[1:].strip() for line in lines if line.startswith("-") and line[1:].rstrip(",") not in again}
    assert removed <= {'"UNVERIFIED"', '"example": null,'}, "of what a record states a line was rewritten"


def test_the_second_night_changes_nothing(results: dict[str, Result], records: Path) -> None:
    update_records([(night("2026-11-20"), list(results.values()))], records)
    before = read_texts(records)
    assert update_records([(night("2026-11-21"), list(results.values()))], records).files == ()
    assert diff_texts(before, read_texts(records)) == []
