"""The day's sample of mutants, and the large ones, are noticed."""

from __future__ import annotations

from datetime import date

import pytest

from catalog_probe.catalog.files.manifest import providers
from tests.harness.mutants.__main__ import is_drawn
from tests.harness.mutants.running import ProbedRecords, run_mutant
from tests.harness.mutants.tables import read_mutants

SHARES = 100
"""A hundredth a day."""


@pytest.mark.parametrize("provider", providers())
def test_the_mutants_of_the_day_are_noticed(provider: str) -> None:
    today = date.today()
    drawn = [mutant for mutant in read_mutants([provider]) if mutant.is_large or is_drawn(mutant, today, SHARES)]
    chosen = [mutant for mutant in drawn if not mutant.unnoticed_because]
    verdicts = [run_mutant(mutant, ProbedRecords.NAMED) for mutant in chosen]
    assert [(verdict.id, verdict.missed, verdict.error) for verdict in verdicts if verdict.is_survivor] == []
