"""A night of one provider in the field finds exactly its known contradictions.

All four, as slow as their documented limits have it: `proofs/test_whole_field.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from catalog_probe.mockserver.as_published.serving import CONTRADICTIONS
from tests.harness import field

if TYPE_CHECKING:
    from pathlib import Path

PROVIDER = "pc"
"""Its contradictions are told as drifts and as settled assumptions."""


def test_exactly_the_known_contradictions_of_one_provider_are_found(tmp_path: Path) -> None:
    with field.serving_as_published() as addresses:
        ran = field.run_night(tmp_path, addresses, "--provider", PROVIDER, rate=200)
    assert field.collect_findings(ran.lines) == {
        finding for finding in field.read_known_findings() if finding.provider == PROVIDER
    }
    outcomes = {result.outcome for result in ran.results.values()}
    assert outcomes == {Outcome.CONFORMS, Outcome.DRIFTED, Outcome.NOT_PROBED}, "no edge made anything unclear"


def test_each_known_contradiction_contradicts_the_mock() -> None:
    there = {(provider, contradiction.name) for provider, table in CONTRADICTIONS.items() for contradiction in table}
    assert {(finding.provider, name) for finding, name in field.read_known_findings().items()} <= there
