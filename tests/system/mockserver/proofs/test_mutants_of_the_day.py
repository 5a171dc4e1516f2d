"""A few mutants of the mock, others each day, and those too large for each run, are noticed as their rows say."""

from __future__ import annotations

from datetime import date

import pytest

from catalog_probe.catalog.files.manifest import providers
from tests.harness.mutants.__main__ import drawn
from tests.harness.mutants.running import Shown, run
from tests.harness.mutants.tables import mutants

SHARES = 100
"""A hundredth a day."""


@pytest.mark.parametrize("provider", providers())
def test_those_of_the_day_are_noticed(provider: str) -> None:
    today = date.today()
    chosen = [each for each in mutants([provider]) if each.is_large or drawn(each, today, SHARES)]
    verdicts = [run(mutant, Shown.NAMED) for mutant in chosen]
    assert [(each.id, each.missed, each.broken) for each in verdicts if each.survived] == []
