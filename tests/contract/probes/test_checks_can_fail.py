"""Each statement is observed on the mock and fails when it is broken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import Attempt, Exchange, Outcome
from catalog_probe.catalog.reading.assertions import asserted_expectations, assertions
from catalog_probe.catalog.reading.expectations import expectations
from catalog_probe.catalog.reading.record_fields import claimed_endpoints, occurs_on
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.attempts import MAX_ATTEMPTS, conclude_step
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.recipes.book import recipe_book
from tests.harness.engines import CleanResults, catalog
from tests.harness.mutants.running import list_large_steps
from tests.harness.spoiling import SpoiledExchange, spoil, spoil_relations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.reading.expectations import Expected


@pytest.mark.parametrize("provider", providers())
def test_every_record_conforms_or_has_a_reason(provider: str, clean: CleanResults) -> None:
    wrong = {
        address: (result.outcome, result.reason, [finding.message for finding in result.drifts])
        for address, result in clean(provider).items()
        if result.outcome not in (Outcome.CONFORMS, Outcome.NOT_PROBED) and not result.is_beyond_verifying
    }
    assert wrong == {}


@pytest.mark.parametrize("provider", providers())
def test_each_asserted_aspect_can_fail(provider: str, clean: CleanResults) -> None:
    known = ProviderVocabulary.from_records(catalog().select(provider=provider))
    silent, count = [], 0
    for result, expected, neighbours, spoiled in iterate_spoiled(clean(provider)):
        count += 1
        verdict = judge([expected, *neighbours.compared], neighbours.attempt_with(spoiled.exchange), known)
        verdict = conclude_step([verdict] * MAX_ATTEMPTS)  # what may be an accident is drift if it stays
        if verdict.outcome is not Outcome.DRIFTED or not any(
            finding.aspect is spoiled.aspect and finding.label == expected.label and finding.is_drift
            for finding in verdict.findings
        ):
            silent.append((result.record, expected.label, spoiled.what, verdict.outcome, verdict.reason))
    assert silent == []
    assert count > 5 * sum(result.outcome is Outcome.CONFORMS for result in clean(provider).values()) or not count


@pytest.mark.parametrize("provider", providers())
def test_a_record_asserts_something_in_each_of_its_exchanges(provider: str, clean: CleanResults) -> None:
    asserting = {(result.record, expected.label) for result, expected, _, _ in iterate_spoiled(clean(provider))}
    judged = {
        (result.record, expected.label)
        for result in clean(provider).values()
        if result.outcome is Outcome.CONFORMS
        for expected in expectations(result.parsed_record, catalog().__getitem__)
    }
    assert judged - list_large_steps(provider) == asserting


@pytest.mark.parametrize("provider", providers())
def test_every_assertion_is_confirmed_on_the_mock(provider: str, clean: CleanResults) -> None:
    """No relation lacks a value to compare, and no field belongs to an answer that never comes.

    Optional values are observed at least once, in any answer.
    """
    unseen: set[str] = set()
    optional: set[str] = set()
    confirmed: set[str] = set()
    for address, result in clean(provider).items():
        if result.outcome is Outcome.CONFORMS:
            matched = {
                f"{observation.label}/{local_key}"
                for observation in result.observations
                for local_key in observation.matched
            }
            expected_steps = asserted_expectations(result.parsed_record, catalog().__getitem__)
            unsent = {label for record, label in list_large_steps(provider) if record == address}
            sent = (
                [
                    key
                    for key, assertion in expected.assertions.items()
                    if unsent.isdisjoint({expected.label, *assertion.compared_labels})
                ]
                for expected in expected_steps
            )
            all_assertions = assertions(result.parsed_record, catalog().__getitem__)
            may_be_absent = {str(assertion.key) for assertion in all_assertions if assertion.optional}
            unseen |= {f"{address}#{key}" for keys in sent for key in keys if key not in matched | may_be_absent}
            optional |= {key.partition("/")[2] for key in may_be_absent}
            confirmed |= {key.partition("/")[2] for key in matched}
    assert unseen == set()
    assert optional <= confirmed


def test_each_kind_of_relation_is_broken_somewhere(clean: CleanResults) -> None:
    """The test above spoils the relations that it meets; this one checks that it meets every kind."""
    shipped = {
        relation.kind
        for record in catalog().records
        for expected in expectations(record, catalog().__getitem__)
        for relation in expected.relations
    }
    broken = {
        spoiled.what.removeprefix("relation ").partition(":")[0]
        for provider in providers()
        for _, _, _, spoiled in iterate_spoiled(clean(provider))
        if spoiled.what.startswith("relation ")
    }
    assert broken == shipped


@dataclass(frozen=True)
class Neighbours:
    """The attempt around one exchange, shared by all ways in which that exchange is spoiled."""

    attempt: Attempt
    compared: list[Expected]
    """The expected answers that this one is compared with."""

    def attempt_with(self, spoiled: Exchange) -> Attempt:
        """Return the attempt with the spoiled exchange, as its last, instead of the original."""
        others = [exchange for exchange in self.attempt.exchanges if exchange.label != spoiled.label]
        return replace(self.attempt, exchanges=(*others, spoiled))


def iterate_spoiled(results: dict[str, Result]) -> Iterator[tuple[Result, Expected, Neighbours, SpoiledExchange]]:
    for result in results.values():
        if result.outcome is not Outcome.CONFORMS:
            continue
        attempt = result.attempts[-1]
        exchanges = {exchange.label: exchange for exchange in attempt.exchanges}
        all_expected = expectations(result.parsed_record, catalog().__getitem__)
        for expected in all_expected:
            if (result.record, expected.label) in list_large_steps(result.record.partition("/")[0]):
                continue
            exchange = exchanges[expected.label]
            compared_labels = {label for relation in expected.relations for label in relation.of}
            neighbours = Neighbours(attempt, [other for other in all_expected if other.label in compared_labels])
            for spoiled in (*spoil(expected, exchange), *spoil_relations(expected, exchange, exchanges)):
                yield result, expected, neighbours, spoiled


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
