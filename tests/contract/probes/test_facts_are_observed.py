"""Every assertion in a fact's `checked_by` is observed on the mock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.reading import facts
from catalog_probe.probes.recipes.book import recipe_book
from tests.harness.engines import CleanResults, catalog
from tests.harness.mutants.running import list_large_steps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model.assertion import Assertion


def matched_assertions(results: Iterable[Result]) -> set[str]:
    """The ids of the assertions that some exchange showed as they are stated."""
    return {
        f"{result.record}#{look.label}/{within}"
        for result in results
        for look in result.observations
        for within in look.matched
    }


def is_sent(assertion: Assertion) -> bool:
    """Whether something is sent for it and for what it is compared with: the rest is left to recorded traffic."""
    recipe = recipe_book(assertion.address.partition("/")[0]).recipes[assertion.address]
    return recipe.labels >= {assertion.key.label, *assertion.compared_labels}


@pytest.mark.parametrize("provider", providers())
def test_each_assertion_that_a_fact_names_is_confirmed_on_the_mock(provider: str, clean: CleanResults) -> None:
    """Optional assertions may be absent in some answers, but each fact needs one observation."""
    checks = facts.load_fact_checks(provider, catalog())
    named = {fact.id: [each for each in checks.assertions_for(fact) if is_sent(each)] for fact in checks.facts}
    matched = matched_assertions(clean(provider).values())
    by_proofs = tuple(f"{address}#{label}/" for address, label in list_large_steps(provider))
    unseen = {
        assertion.id for assertions in named.values() for assertion in assertions if not assertion.optional
    } - matched
    assert sorted(each for each in unseen if not each.startswith(by_proofs)) == []
    blind = (
        fact
        for fact, assertions in named.items()
        if assertions and matched.isdisjoint(assertion.id for assertion in assertions)
    )
    assert [each for each in blind if not all(look.id.startswith(by_proofs) for look in named[each])] == []
