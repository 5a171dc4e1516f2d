"""Every fact on the wire has an assertion, and every assertion a fact.

What neither names the other yet stands in `not_yet/<provider>.txt`: facts that nothing looks at, by their id, and
records of which some documented assertion is named by no fact, by their address. A line leaves it with the work that
makes it untrue, and none is ever added: `SHRINK=1 pytest` with this file takes out those that are done. Where a new
assertion is named by no fact, name it in `checked_by` of the fact that it compares; if there is none, the assertion
says more than the documents, or a fact is missing: `catalog-probe catalog facts pb --unnamed` lists them.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.reading import facts
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from catalog_probe.catalog.reading.facts import FactChecks

NOT_YET = Path(__file__).parent / "not_yet"


@cache
def checks(provider: str) -> FactChecks:
    return facts.load_fact_checks(provider, catalog())


def open_ids(provider: str) -> set[str]:
    """Every fact that no assertion checks, and every record with a documented assertion that no fact names."""
    unchecked = {fact.id for fact in checks(provider).facts if checks(provider).is_unchecked(fact)}
    return unchecked | {assertion.address for assertion in checks(provider).assertions_without_fact}


def listed_ids(provider: str) -> list[str]:
    file = NOT_YET / f"{provider}.txt"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def test_no_new_fact_or_record_is_unchecked() -> None:
    for provider in providers():
        assert sorted(open_ids(provider) - set(listed_ids(provider))) == []


def test_checked_facts_and_records_leave_the_list() -> None:
    for provider in providers():
        still = [line for line in listed_ids(provider) if line in open_ids(provider)]
        if os.environ.get("SHRINK"):
            (NOT_YET / f"{provider}.txt").write_text("".join(f"{line}\n" for line in still), encoding="utf-8")
        assert listed_ids(provider) == still


def test_the_list_is_in_order() -> None:
    for provider in providers():
        assert listed_ids(provider) == sorted(set(listed_ids(provider)))


def test_an_id_is_of_its_provider_and_section() -> None:
    """`pb-2.7.4-row-1` stands in pb.tsv and speaks of 2:7.4."""
    for provider in providers():
        wrong = [
            fact.id
            for fact in checks(provider).facts
            if not fact.id.startswith(f"{provider}-{fact.section.replace(':', '.')}-")
        ]
        assert wrong == [], provider


def test_facts_are_in_the_order_of_the_documents() -> None:
    for provider in providers():
        sections = [fact.section for fact in checks(provider).facts]
        assert sections == sorted(sections), provider


def test_cells_are_well_formed() -> None:
    for provider in providers():
        raw = facts.facts_file(provider).read_bytes()
        assert b"\r" not in raw, provider
        assert raw.endswith(b"\n"), provider
        cells = [cell for line in raw.decode().splitlines() for cell in line.split("\t")]
        assert [cell for cell in cells if cell != cell.strip()] == [], provider
        wrong = [
            fact.id
            for fact in checks(provider).facts
            if not re.fullmatch(r"[12]:\d(\.\d)?", fact.section)
            or not fact.row
            or "#" in fact.row
            or not fact.statement
        ]
        assert wrong == [], provider
