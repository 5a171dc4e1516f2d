"""Exhausting a limit works on a slow machine too: the mock's clock stands still."""

from __future__ import annotations

import time
from itertools import count
from types import SimpleNamespace

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.core import world
from catalog_probe.probes.recipes.book import recipe_book
from tests.harness.engines import mock_target_at, probe
from tests.harness.serving import serving

STEP_S = 7
"""Seconds that pass between two requests; a bucket of 60 a minute has seven more by then."""


@pytest.mark.parametrize("provider", ["pa", "pb", "pd"])
def test_a_limit_does_not_fill_again_while_it_is_used_up(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start_s, steps = time.time(), count()
    monkeypatch.setattr(world, "time", SimpleNamespace(time=lambda: start_s + STEP_S * next(steps)))
    http_recipes = [recipe for address, recipe in recipe_book(provider).recipes.items() if "/grpc/" not in address]
    chosen = [
        recipe.address
        for recipe in http_recipes
        if recipe.is_disruptive and not recipe.optional and not recipe.needs_scenario
    ]
    with serving(create_app(only=[provider])) as base:
        results = probe(mock_target_at(base), chosen)
    assert len(results) >= 2
    others = {result.record: result.reason for result in results.values() if result.outcome is not Outcome.CONFORMS}
    assert not others
