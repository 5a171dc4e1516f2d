"""A fact counts as checked only if a full run sends each exchange of its assertions, and confirms them on the mock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.reading import facts
from catalog_probe.probes.coverage.records_and_facts import count_by_section, format_fact_table, list_fact_coverage
from catalog_probe.probes.planning.reach import provider_reaches
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.targets import target_file as targets
from tests.harness.command import CHECKOUT
from tests.harness.engines import CleanResults, catalog
from tests.harness.mutants.running import list_large_steps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from syrupy.assertion import SnapshotAssertion

    from catalog_probe.catalog.evidence.results import Result


def matched_assertions(results: Iterable[Result]) -> set[str]:
    """Return the ids of the assertions that some exchange showed as they are stated."""
    return {
        f"{result.record}#{observation.label}/{local_key}"
        for result in results
        for observation in result.observations
        for local_key in observation.matched
    }


@pytest.mark.parametrize("provider", providers())
def test_each_assertion_that_a_fact_names_is_sent_and_confirmed(provider: str, clean: CleanResults) -> None:
    """Optional assertions may be absent in some answers, but each fact needs one observation.

    The requests of megabytes are sent by `nox -s proofs`.
    """
    results = clean(provider)
    checks = facts.load_fact_checks(provider, catalog())
    named = {fact.id: checks.assertions_for(fact) for fact in checks.facts if checks.assertions_for(fact)}
    sent_by_proofs = tuple(f"{address}#{label}/" for address, label in list_large_steps(provider))
    sent = {
        f"{result.record}#{observation.label}/" for result in results.values() for observation in result.observations
    }
    matched = matched_assertions(results.values())

    assertions = {assertion.id: assertion for found in named.values() for assertion in found}
    ordinary = {id_: assertion for id_, assertion in assertions.items() if not id_.startswith(sent_by_proofs)}
    assert sorted(id_ for id_ in ordinary if id_[: id_.index("/", id_.index("#")) + 1] not in sent) == []
    assert sorted(id_ for id_, assertion in ordinary.items() if not assertion.optional and id_ not in matched) == []
    ids_by_fact = {fact_id: {assertion.id for assertion in found} & ordinary.keys() for fact_id, found in named.items()}
    assert [fact_id for fact_id, ids in ids_by_fact.items() if ids and matched.isdisjoint(ids)] == []


def test_the_number_of_checked_facts_does_not_change_unseen(snapshot: SnapshotAssertion) -> None:
    live = targets.load("live", {})
    reaches = provider_reaches({name: recipe_book(name) for name in providers()}, live)
    table = count_by_section(list_fact_coverage(catalog(), reaches, live))
    totals = {row: counts for row, counts in table.items() if row in (*providers(), "total")}
    assert "\n".join(format_fact_table(totals)) == snapshot
    total = table["total"]
    readme = " ".join((CHECKOUT / "README.md").read_text(encoding="utf-8").split())
    assert f"{total.checked:,} of the {total.on_wire:,} facts on the wire" in readme
    assert f"{total.traffic_only + total.mock_only} are only rehearsed" in readme
    assert f"{total.reasoned} take a payment" in readme
