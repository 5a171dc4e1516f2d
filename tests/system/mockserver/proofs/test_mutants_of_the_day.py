"""The day's sample of mutants, and the large ones, are noticed."""

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
def test_the_mutants_of_the_day_are_noticed(provider: str) -> None:
    today = date.today()
    chosen = [mutant for mutant in mutants([provider]) if mutant.is_large or drawn(mutant, today, SHARES)]
    verdicts = [run(mutant, Shown.NAMED) for mutant in chosen]
    assert [(verdict.id, verdict.missed, verdict.broken) for verdict in verdicts if verdict.survived] == []
