"""One hostile server for each outcome, in this process.

`proofs/test_whole_table.py` has all that answer at once; `nox -s hostile` gives each server of the table its own run.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.probes.targets import target_file as targets
from tests.harness.engines import probe
from tests.harness.hostile_run import is_leaked, write_target
from tests.harness.hostile_table import CANARY, RECORDS, HostileCase, list_cases

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SLOW = frozenset({"read-timeout", "connect-timeout", "stream-stalled", "stream-endless", "body-too-large"})
"""Reasons that take long waits or large reads."""


def probe_case(case: HostileCase, folder: Path) -> tuple[str, str]:
    """Return outcome and reason of a case, and its stored result as text."""
    with case.serve(folder) as where:
        write_target(folder / "hostile.toml", case, where)
        target = targets.load(str(folder / "hostile.toml"), {"CANARY": CANARY})
        result = probe(target, [case.record])[case.record]
    code = f" {result.reason.code}" if result.reason and result.outcome is Outcome.INCONCLUSIVE else ""
    return f"{result.outcome}{code}", json.dumps(result.to_json(), ensure_ascii=False)


def mistakes(chosen: Iterable[HostileCase], folder: Path) -> list[str]:
    """List the cases whose outcome differs from the table, and those that leak the key."""
    found = []
    for case in chosen:
        outcome, kept = probe_case(case, folder)
        if outcome != case.expected:
            found.append(f"{case.name}: {outcome}, expected {case.expected}")
        if is_leaked(kept):
            found.append(f"{case.name}: leaks")
    return found


@pytest.mark.parametrize("over", RECORDS)
def test_one_hostile_server_per_outcome_gets_it_and_leaks_no_key(over: str, tmp_path: Path) -> None:
    quick = (case for case in list_cases() if case.over == over and case.reason not in SLOW)
    one_of_each = {case.expected: case for case in quick}
    assert mistakes(one_of_each.values(), tmp_path) == []


def test_the_table_has_150_servers_with_unique_names() -> None:
    names = [(case.over, case.name) for case in list_cases()]
    assert len(names) == len(set(names))
    assert len(names) >= 150
    assert {over for over, _ in names} >= RECORDS.keys()
