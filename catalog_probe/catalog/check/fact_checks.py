"""Whether facts and records speak of each other rightly: who looks at each fact, and which rows records cite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.check import unfinished
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.schema_messages import Complaint
from catalog_probe.catalog.model.errors import CatalogError, display_path
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.reading.facts import (
    UNCHECKED,
    Wire,
    checks_fact,
    facts_file,
    load_fact_checks,
    out_of_reach_reasons,
    read_facts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.reading.facts import Fact, FactChecks

_CELL = "checked_by"


def problems(catalog: Catalog, folder: Path | None = None) -> Iterator[tuple[Path, str, Complaint]]:
    """Every problem of the facts in a folder, with its file and the id of the fact."""
    for provider in providers():
        file = facts_file(provider, folder)
        try:
            found = load_fact_checks(provider, catalog, folder)
        except CatalogError as error:
            yield file, "", Complaint(error.location, error.what, error.mend)
            continue
        except KeyError:  # a record names another that is not there, which is told itself
            continue
        yield from ((file, fact.id, complaint) for fact, complaint in check_facts(found))


def unknown_rows(catalog: Catalog, folder: Path) -> Iterator[tuple[Record, Complaint]]:
    """Each row that a record cites and that the facts in a folder do not have."""
    for provider in providers():
        try:
            rows = {fact.citation for fact in read_facts(provider, folder)}
        except CatalogError:  # told itself
            continue
        for record in catalog.select(provider):
            for row in _cited(record, catalog):
                if row and row not in rows and "://" not in row:
                    what = f"cites {row!r}, which is no row of {display_path(facts_file(provider, folder))}"
                    yield record, Complaint("", what, "add the row there, or cite the one that states it")


def _cited(record: Record, catalog: Catalog) -> Iterable[str]:
    try:
        stated = [row for each in assertions(record, catalog.__getitem__) for row in each.source.split("; ")]
    except KeyError:  # names a record that is not there, which is told itself
        stated = []
    return dict.fromkeys((*record.sources, *stated))


def check_facts(checks: FactChecks) -> Iterator[tuple[Fact, Complaint]]:
    """Each fact that names what is not there or is assumed, and each that contradicts itself."""
    ids: set[str] = set()
    for fact in checks.facts:
        yield from ((fact, each._replace(json_path="statement")) for each in unfinished.find_unfinished(fact.statement))
        if fact.id in ids:
            yield fact, Complaint("id", "is the id of an earlier fact", "number it anew")
        ids.add(fact.id)
    for fact in checks.facts:
        yield from ((fact, complaint) for complaint in (*_of_names(fact, checks), *_of_its_own(fact)))
        if fact.restates and fact.restates not in ids:
            yield fact, Complaint("note", f"restates {fact.restates}, which is no fact", "name a fact of this file")


def _of_names(fact: Fact, checks: FactChecks) -> Iterator[Complaint]:
    for name in fact.checked_by:
        found = checks.find_assertions(name)
        if not found:
            mend = (
                checks.suggest(name)
                or f"name an assertion, as <address>#<key>, or one of {', '.join(out_of_reach_reasons())}"
            )
            yield Complaint(_CELL, f"{name!r} names no assertion", mend)
        elif not any(checks_fact(each, fact) for each in found):
            what = f"{name!r} is assumed, which checks no fact"
            yield Complaint(_CELL, what, "name what is documented, or take it out of the record's `assumed`")


def _of_its_own(fact: Fact) -> Iterator[Complaint]:
    if fact.wire is not Wire.YES and (fact.checked_by or fact.reason):
        yield Complaint(_CELL, f"is filled, and wire is {fact.wire}", "empty it, or correct wire")
    if fact.in_part and (not fact.checked_by or UNCHECKED not in fact.note):
        mend = f"name the assertions, and tell in the note after {UNCHECKED!r} what they leave out"
        yield Complaint(_CELL, "says in part, and not of what", mend)
    if not fact.in_part and UNCHECKED in fact.note:
        yield Complaint("note", f"tells what is {UNCHECKED} and {_CELL} claims the whole", "write `part: ` before it")
