"""Check facts against records: which assertions check each fact, and which rows the records cite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.check import unfinished
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.schema_messages import Complaint
from catalog_probe.catalog.model.errors import CatalogError, display_path
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.reading.error_records import retry_advice
from catalog_probe.catalog.reading.facts import (
    UNCHECKED,
    Wire,
    checks_fact,
    facts_file,
    load_fact_checks,
    read_facts,
    unchecked_reasons,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.reading.facts import Fact, FactChecks

_COLUMN = "checked_by"


def problems(catalog: Catalog, folder: Path | None = None) -> Iterator[tuple[Path, str, Complaint]]:
    """Yield every problem of the facts in a folder, with its file and the id of the fact."""
    for provider in providers():
        file = facts_file(provider, folder)
        try:
            checks = load_fact_checks(provider, catalog, folder)
        except CatalogError as error:
            yield file, "", Complaint(error.location, error.what, error.mend)
            continue
        except KeyError:  # a record names one that does not exist, which its own check reports
            continue
        for fact, complaint in check_facts(checks):
            yield file, fact.id, complaint


def unknown_rows(catalog: Catalog, folder: Path) -> Iterator[tuple[Record, Complaint]]:
    """Yield each row that a record cites and that the facts in a folder do not have."""
    for provider in providers():
        try:
            rows = {fact.citation for fact in read_facts(provider, folder)}
        except CatalogError:  # `problems` reports it
            continue
        for record in catalog.select(provider):
            for row in _cited_rows(record, catalog):
                if row and row not in rows and "://" not in row:
                    what = f"cites {row!r}, which is no row of {display_path(facts_file(provider, folder))}"
                    yield record, Complaint("", what, "add the row there, or cite the one that states it")


def _cited_rows(record: Record, catalog: Catalog) -> Iterable[str]:
    rows = dict.fromkeys([*record.sources, *retry_advice(record).action_source.split("; ")])
    try:
        for assertion in assertions(record, catalog.__getitem__):
            rows |= dict.fromkeys(assertion.source.split("; "))
    except KeyError:  # the record names one that does not exist, which its own check reports
        pass
    return rows


def check_facts(checks: FactChecks) -> Iterator[tuple[Fact, Complaint]]:
    """Yield each fact that names unknown or assumed assertions, and each that contradicts itself."""
    ids: set[str] = set()
    for fact in checks.facts:
        for complaint in unfinished.find_unfinished(fact.statement):
            yield fact, complaint._replace(json_path="statement")
        if fact.id in ids:
            yield fact, Complaint("id", "is the id of an earlier fact", "give it another id")
        ids.add(fact.id)
    for fact in checks.facts:
        for complaint in (*_check_names(fact, checks), *_check_consistency(fact)):
            yield fact, complaint
        if fact.restates and fact.restates not in ids:
            yield fact, Complaint("note", f"restates {fact.restates}, which is no fact", "name a fact of this file")


def _check_names(fact: Fact, checks: FactChecks) -> Iterator[Complaint]:
    for pattern in fact.checked_by:
        named = checks.find_assertions(pattern)
        if not named:
            reasons = ", ".join(unchecked_reasons())
            mend = checks.suggest(pattern) or f"name an assertion, as <address>#<key>, or one of {reasons}"
            yield Complaint(_COLUMN, f"{pattern!r} names no assertion", mend)
        elif not any(checks_fact(assertion, fact) for assertion in named):
            what = f"{pattern!r} is assumed, which checks no fact"
            yield Complaint(_COLUMN, what, "name what is documented, or take it out of the record's `assumed`")


def _check_consistency(fact: Fact) -> Iterator[Complaint]:
    if fact.wire is not Wire.YES and (fact.checked_by or fact.reason):
        yield Complaint(_COLUMN, f"is filled, and wire is {fact.wire}", "empty it, or correct wire")
    if fact.in_part and (not fact.checked_by or UNCHECKED not in fact.note):
        mend = f"name the assertions, and say in the note after {UNCHECKED!r} what they leave out"
        yield Complaint(_COLUMN, "begins with `part:`, and the note does not say what is unchecked", mend)
    if not fact.in_part and UNCHECKED in fact.note:
        what = f"says what is unchecked, but {_COLUMN} does not begin with `part:`"
        yield Complaint("note", what, "write `part: ` before it")
