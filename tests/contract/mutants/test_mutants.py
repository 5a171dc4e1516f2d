"""Mutants of the mock: rows without mistakes, a mutant for each fact on the wire, and one mutant that is tried.

`nox -s mutants` tries all, which takes half an hour; `tests/system` tries a few each day.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import pytest

from catalog_probe.catalog.files.manifest import providers
from tests.harness.mutants import tables
from tests.harness.mutants.running import ProbedRecords, provider_scope, run_mutant
from tests.harness.mutants.tables import LARGE, NOT_YET, find_broken_facts, find_table_errors, read_list, read_mutants

each_provider = pytest.mark.parametrize("provider", providers())


def facts_without_mutant(provider: str) -> set[str]:
    """Return the facts that need a mutant and have none."""
    return provider_scope(provider).needing_mutant - find_broken_facts(provider)


@each_provider
def test_rows_have_no_mistakes(provider: str) -> None:
    assert list(find_table_errors(read_mutants([provider]))) == []


@each_provider
def test_each_fact_has_a_mutant_or_is_in_the_list(provider: str) -> None:
    assert sorted(facts_without_mutant(provider) - set(read_list(NOT_YET, provider))) == []


@each_provider
def test_list_has_no_fact_with_a_mutant(provider: str) -> None:
    remaining = sorted(set(read_list(NOT_YET, provider)) & facts_without_mutant(provider))
    if os.environ.get("SHRINK"):
        (NOT_YET / f"{provider}.txt").write_text("".join(f"{line}\n" for line in remaining), encoding="utf-8")
    assert read_list(NOT_YET, provider) == remaining


@each_provider
def test_list_of_large_mutants_is_sorted_and_names_mutants(provider: str) -> None:
    large = read_list(LARGE, provider)
    assert large == sorted(mutant.slug for mutant in read_mutants([provider]) if mutant.is_large)


def test_folders_of_tables_are_named_after_providers() -> None:
    folders = {path.name for path in tables.TABLES.iterdir() if path.is_dir()} - {
        NOT_YET.name,
        LARGE.name,
        "__pycache__",
    }
    assert folders <= set(providers())


def test_mutant_is_noticed_and_leaves_the_mock_unchanged() -> None:
    before = {name: module for name, module in sys.modules.items() if name.startswith("catalog_probe.mockserver")}
    values = [dict(vars(module)) for module in before.values()]
    verdict = run_mutant(next(iter(read_mutants(["pd"]))), ProbedRecords.NAMED)
    assert verdict.is_detected, verdict
    after = {name: module for name, module in sys.modules.items() if name.startswith("catalog_probe.mockserver")}
    assert {name: module for name, module in after.items() if name in before} == before
    assert [dict(vars(module)) for module in before.values()] == values


def test_broken_assumption_is_reported_and_is_no_drift() -> None:
    mutant = next(mutant for mutant in read_mutants(["pd"]) if mutant.slug == "text_is_a_list")
    address = "pd/endpoints/tokenize/tokenize_text"
    assert run_mutant(mutant, ProbedRecords.NAMED).state == "told"
    assert run_mutant(replace(mutant, noticed_by=(address,)), ProbedRecords.NAMED).missed == (address,)
    another = "pd/endpoints/models/list_models"
    assert run_mutant(replace(mutant, noticed_by=(f"~{another}",)), ProbedRecords.NAMED).missed == (another,)


def test_mutant_of_nobody_is_unnoticed_or_noticed_after_all() -> None:
    mutants = {mutant.slug: mutant for mutant in read_mutants(["pd"])}
    assert run_mutant(mutants["tokens_by_the_hour"]).state == "unnoticed"
    told = replace(mutants["text_is_a_list"], noticed_by=(), unnoticed_because="nobody looks")
    verdict = run_mutant(told)
    assert verdict.state == "noticed after all"
    assert verdict.unexpected == ("pd/endpoints/tokenize/tokenize_text",)
