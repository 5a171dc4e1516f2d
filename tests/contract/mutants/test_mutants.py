"""Mutants of the mock: each row means something, each fact on the wire has one, and what a row names notices it.

All of them take minutes: `nox -s mutants`. Here are the rows, and one that is run; `tests/system` draws a few a day.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import pytest

from catalog_probe.catalog.files.manifest import providers
from tests.harness.mutants import tables
from tests.harness.mutants.running import Shown, of, run
from tests.harness.mutants.tables import LARGE, NOT_YET, listed, mutants, refusals

each_provider = pytest.mark.parametrize("provider", providers())


def unbroken(provider: str) -> set[str]:
    """The facts on the wire that no mutant breaks, though something is sent that looks at them."""
    return of(provider).wanting - {fact for mutant in mutants([provider]) for fact in mutant.facts}


@each_provider
def test_each_row_names_what_exists(provider: str) -> None:
    assert list(refusals(mutants([provider]))) == []


@each_provider
def test_each_fact_has_a_mutant_or_is_still_to_be_done(provider: str) -> None:
    assert sorted(unbroken(provider) - set(listed(NOT_YET, provider))) == []


@each_provider
def test_what_is_done_leaves_the_list(provider: str) -> None:
    still = sorted(set(listed(NOT_YET, provider)) & unbroken(provider))
    if os.environ.get("SHRINK"):
        (NOT_YET / f"{provider}.txt").write_text("".join(f"{line}\n" for line in still), encoding="utf-8")
    assert listed(NOT_YET, provider) == still


@each_provider
def test_what_is_too_large_for_each_run_is_a_mutant_in_order(provider: str) -> None:
    known = listed(LARGE, provider)
    assert known == [each.slug for each in sorted(mutants([provider]), key=lambda each: each.slug) if each.is_large]


def test_all_folders_are_of_providers() -> None:
    folders = {each.name for each in tables.TABLES.iterdir() if each.is_dir()} - {
        NOT_YET.name,
        LARGE.name,
        "__pycache__",
    }
    assert folders <= set(providers())


def test_one_is_noticed_and_the_mock_is_as_before_when_it_is_done() -> None:
    before = {name: module for name, module in sys.modules.items() if name.startswith("catalog_probe.mockserver")}
    values = [dict(vars(module)) for module in before.values()]
    verdict = run(next(iter(mutants(["pd"]))), Shown.NAMED)
    assert verdict.detected, verdict
    after = {name: module for name, module in sys.modules.items() if name.startswith("catalog_probe.mockserver")}
    assert {name: module for name, module in after.items() if name in before} == before
    assert [dict(vars(module)) for module in before.values()] == values


def test_what_rests_on_an_assumption_is_told_and_no_drift() -> None:
    mutant = next(each for each in mutants(["pd"]) if each.slug == "text_is_a_list")
    address = "pd/endpoints/tokenize/tokenize_text"
    assert run(mutant, Shown.NAMED).state == "told"
    assert run(replace(mutant, noticed_by=(address,)), Shown.NAMED).missed == (address,)
    another = "pd/endpoints/models/list_models"
    assert run(replace(mutant, noticed_by=(f"~{another}",)), Shown.NAMED).missed == (another,)
