"""Each (error, endpoint) pair that a record names is observed on the mock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.reading.record_fields import claimed_endpoints, occurs_on
from catalog_probe.probes.recipes.book import recipe_book
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.harness.engines import CleanResults


def pairs_with_a_recipe(provider: str) -> Iterator[tuple[str, str]]:
    """The pairs of a provider that something is sent for: error and endpoint."""
    recipes = recipe_book(provider).recipes
    for record in catalog().select(provider=provider, kind="errors"):
        if str(record.address) in recipes:
            yield from ((str(record.address), endpoint) for endpoint in claimed_endpoints(record))


@pytest.mark.parametrize("provider", providers())
def test_each_pair_with_a_recipe_is_observed_on_the_mock_and_conforms(provider: str, clean: CleanResults) -> None:
    looked_at: dict[tuple[str, str], bool] = {}
    for address, result in clean(provider).items():
        for observation in result.observations:
            cell = (address, observation.endpoint)
            looked_at[cell] = looked_at.get(cell, True) and bool(observation.matched) and not observation.mismatched
    wanted = set(pairs_with_a_recipe(provider))
    assert wanted - looked_at.keys() == set(), "nothing is sent"
    assert {claim for claim in wanted if not looked_at[claim]} == set(), "not as stated"


@pytest.mark.parametrize("provider", providers())
def test_an_answer_is_judged_on_an_endpoint_that_its_record_names(provider: str, clean: CleanResults) -> None:
    """Or on none, or on one that has the method which another refuses."""
    elsewhere = {
        (address, observation.endpoint)
        for address, result in clean(provider).items()
        if (claimed := occurs_on(catalog()[address])) and "/errors/" in address
        for observation in result.observations
        if observation.endpoint and observation.endpoint not in claimed
    }
    assert {address for address, _ in elsewhere} <= {"pc/errors/request/wrong_method"}
