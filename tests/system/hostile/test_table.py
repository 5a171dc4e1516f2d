"""The share of the table of hostile servers that answers at once, in this process; `nox -s hostile` runs all of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from catalog.model import Outcome
from probes.target import target as targets
from tests.harness.engines import probe
from tests.harness.hostile_run import leaked, write_target
from tests.harness.hostile_table import CANARY, RECORDS, Case, cases

SLOW = frozenset({"read-timeout", "connect-timeout", "stream-stalled", "stream-endless", "body-too-large"})
"""Reasons for which somebody waited, or read much."""


def told(case: Case, folder: Path) -> tuple[str, str]:
    """The outcome and reason of the case's record, and everything that would be kept of it."""
    with case.serve(folder) as where:
        write_target(folder / "hostile.toml", case, where)
        target = targets.load(str(folder / "hostile.toml"), {"CANARY": CANARY})
        result = probe(target, [case.record])[case.record]
    code = f" {result.reason.code}" if result.reason and result.outcome is Outcome.INCONCLUSIVE else ""
    return f"{result.outcome}{code}", json.dumps(result.to_json(), ensure_ascii=False)


@pytest.mark.parametrize("over", RECORDS)
def test_what_hostile_servers_do_is_told_as_what_it_is_and_shows_no_key(over: str, tmp_path: Path) -> None:
    mistakes = []
    for case in cases():
        if case.over == over and case.reason not in SLOW:
            outcome, kept = told(case, tmp_path)
            if outcome != case.expected:
                mistakes.append(f"{case.name}: {outcome}, expected {case.expected}")
            if leaked(kept):
                mistakes.append(f"{case.name}: leaks")
    assert mistakes == []


def test_the_table_is_as_large_as_it_says() -> None:
    names = [(case.over, case.name) for case in cases()]
    assert len(names) == len(set(names))
    assert len(names) >= 150
    assert {over for over, _ in names} >= RECORDS.keys()
