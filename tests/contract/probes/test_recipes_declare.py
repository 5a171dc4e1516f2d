"""Recipes with steps declare everything that they use on the mock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model.exchange import SUCCESS
from catalog_probe.catalog.reading.expectations import http_status_of
from catalog_probe.probes.calls import get, post
from catalog_probe.probes.planning.plan import list_other_endpoints
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.recipes.recipe import Family, Recipe, Steps, declare_steps
from tests.harness.declared import RecipeUse, find_gaps, list_undeclared, observe_use
from tests.harness.engines import catalog
from tests.harness.recipes import load_recipes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.probes.calls import Removal
    from catalog_probe.probes.recipes.probe import Probe
    from catalog_probe.probes.targets.target import Target

AGENT_REMOVAL: Removal = load_recipes("pa").requests.AGENT_REMOVAL

GENERAL = Family("pa/errors/general")


def iterate_stepwise(recipe: Recipe) -> Iterator[tuple[str, Recipe]]:
    """Yield the recipe and its optional parts, each alone, if they have steps."""
    if recipe.steps is not None:
        alone = replace(recipe, optional={})
        yield f"{recipe.address}#{min(alone.labels)}", alone
    for part in recipe.optional.values():
        yield from iterate_stepwise(part)


def iterate_all_endpoints(recipe: Recipe) -> Iterator[tuple[str, Recipe]]:
    """Yield the recipe, and its variants for the other endpoints of its record, if they have steps."""
    yield from iterate_stepwise(recipe)
    others = list_other_endpoints(
        recipe, catalog()[recipe.address], catalog(), recipe_book(recipe.provider).minimal_requests
    )
    yield from ((f"{recipe.address}@{at}", cell) for at, cell in others.items() if cell.steps is not None)


@pytest.mark.parametrize("name", providers())
def test_recipes_declare_what_they_use(name: str, mock_target: Target) -> None:
    stepwise = dict(item for recipe in recipe_book(name).recipes.values() for item in iterate_all_endpoints(recipe))
    assert stepwise, "every provider has recipes with steps"
    assert find_gaps(stepwise, mock_target) == {}


def test_a_recipe_that_stops_is_a_gap(mock_target: Target) -> None:
    @declare_steps(requests=1)
    async def lost(probe: Probe) -> None:
        await probe.setup(get("/v1/models/no-such-model"))

    recipe = GENERAL.recipe("x", lost)
    (gap,) = find_gaps({"x": recipe}, mock_target)["x"]
    assert gap.startswith("stops: ")


@declare_steps("answer", SUCCESS, requests=3, needs={"small_model", "fast_model"}, roles={"restricted"})
async def two_models(probe: Probe) -> None:
    """Use a value by placeholder and one by name, another key, and two labels."""
    await probe.setup(get("/v1/models/{small_model}"))
    listed = await probe.send(get("/v1/models", credential="restricted"), SUCCESS)
    assert listed.response is not None
    assert http_status_of(listed.response, probe.provider)
    await probe.send(get(f"/v1/models/{probe.values['fast_model']}"))


@declare_steps(requests=2)
async def send_wrong_keys(probe: Probe) -> None:
    """Use a wrong key and no key, which need no declaration."""
    await probe.send(get("/v1/models", credential="wrong"))
    await probe.send(get("/v1/models", credential=None))


@declare_steps(requests=1, needs={"small_model"})
async def make_agent(probe: Probe) -> None:
    """Make a resource, which is removed when the attempt ends."""
    agent = post("/v1/agents", {"name": "x", "model": "{small_model}"})
    await probe.send(agent.replace(removal=AGENT_REMOVAL))


DECLARED: list[tuple[Steps, str]] = [
    (two_models, ""),
    (
        replace(two_models, labels=("answer", SUCCESS, "more")),
        "declares the label 'more' and sends nothing under it",
    ),
    (replace(two_models, labels=("answer",)), "sends 'success', which it does not declare"),
    (replace(two_models, requests=2), "sends 3 requests and declares 2"),
    (
        replace(two_models, roles=frozenset()),
        "uses the key of role 'restricted', which it does not declare",
    ),
    (
        replace(two_models, needs=frozenset({"fast_model"})),
        "uses the value 'small_model', which it does not declare",
    ),
    (
        replace(two_models, needs=frozenset({"small_model"})),
        "uses the value 'fast_model', which it does not declare",
    ),
    (send_wrong_keys, ""),
    (make_agent, ""),
]


@pytest.mark.parametrize("steps, line", DECLARED)
def test_each_undeclared_use_is_a_gap(steps: Steps, line: str, mock_target: Target) -> None:
    recipe = GENERAL.recipe("x", steps)
    assert "; ".join(list_undeclared(recipe, observe_use(recipe, mock_target))) == line


def test_an_undeclared_service_is_a_gap() -> None:
    seen = RecipeUse(1, frozenset({"answer"}), services=frozenset({"base_url", "auth_url"}))
    declaring = replace(send_wrong_keys, services=frozenset({"auth_url"}))
    assert list(list_undeclared(GENERAL.recipe("x", send_wrong_keys), seen)) == [
        "asks at 'auth_url', which it does not declare"
    ]
    assert list(list_undeclared(GENERAL.recipe("x", declaring), seen)) == []


def test_a_resource_that_cannot_be_removed_is_a_gap(mock_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing shows it on a mock, but on an account the resource would stay."""
    lost = replace(AGENT_REMOVAL, name="lost", id_pointer="/agent/id")
    listed = replace(recipe_book("pa"), removals={"lost": lost})
    monkeypatch.setattr("catalog_probe.probes.running.teardown.recipe_book", lambda provider: listed)

    @declare_steps(requests=1, needs={"small_model"})
    async def makes(probe: Probe) -> None:
        agent = post("/v1/agents", {"name": "x", "model": "{small_model}"})
        await probe.send(agent.replace(removal=lost))

    found_gaps = find_gaps({"x": GENERAL.recipe("x", makes)}, mock_target)
    assert found_gaps == {"x": ["leaves the object of the removal 'lost': it finds no id in the answer"]}
