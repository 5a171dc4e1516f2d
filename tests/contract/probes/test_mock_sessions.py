"""Isolated calls run in a mock session of their own and clean up there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.model.labels import ANSWER, CLEANUP
from catalog_probe.probes.calls.call import get
from catalog_probe.probes.recipes.performing import perform_recipe
from catalog_probe.probes.recipes.recipe import Family, isolate_each
from catalog_probe.probes.running.attempt_probe import AttemptProbe
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.pacing.budget import Budget
from tests.harness.declared import make_redactor
from tests.harness.recipes import load_recipes

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Target

UPLOAD: Call = load_recipes("pa").requests.UPLOAD

FAMILY = Family("pa/endpoints/models")
MODELS = get("/v1/models")
SESSION = "run/pa/x/y/z/1"


def perform(target: Target, recipe: Recipe) -> list[tuple[str, str]]:
    """Return label and session of each request of an attempt, clean-up included."""
    sessions: list[tuple[str, str]] = []

    async def attempt() -> None:
        provider = target.providers["pa"]
        lane = Lane(provider, "inference", make_redactor(target), Budget(provider), mock=True)
        probe = AttemptProbe("pa/x/y/z", "inference", lane, SESSION)
        try:
            await perform_recipe(recipe, probe)
        finally:
            await probe.remove_all()
            await lane.aclose()
        sessions.extend((exchange.label, exchange.request.headers["x-mock-session"]) for exchange in probe.exchanges)

    anyio.run(attempt)
    return sessions


def test_isolated_calls_use_and_clean_up_their_own_session(mock_target: Target) -> None:
    looks = {name: FAMILY.recipe("list_models", MODELS, label=name) for name in ("one", "two")}
    isolated = isolate_each({**looks, "made": FAMILY.recipe("list_models", UPLOAD, label="made")})
    isolated["two"] = replace(isolated["two"], mock_session="one")
    recipe = FAMILY.recipe("list_models", MODELS, optional=isolated)
    assert perform(mock_target, recipe) == [
        (ANSWER, SESSION),
        ("one", f"{SESSION}+one"),
        ("two", f"{SESSION}+one"),
        ("made", f"{SESSION}+made"),
        (CLEANUP, f"{SESSION}+made"),
    ]
