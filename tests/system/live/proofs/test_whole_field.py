"""A night of all providers in the field finds exactly the known contradictions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from tests.harness import field

if TYPE_CHECKING:
    from pathlib import Path


def test_exactly_the_known_contradictions_of_all_providers_are_found(tmp_path: Path) -> None:
    with field.serving_as_published() as addresses:
        ran = field.run_night(tmp_path, addresses)
    assert field.collect_findings(ran.lines) == field.read_known_findings().keys()
    outcomes = Counter(result.outcome for result in ran.results.values() if not result.is_beyond_verifying)
    assert set(outcomes) == {Outcome.CONFORMS, Outcome.DRIFTED, Outcome.NOT_PROBED}, "no edge made anything unclear"
    assert outcomes[Outcome.CONFORMS] > 200
