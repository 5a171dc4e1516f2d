"""The tables of mutants: which facts each one breaks, by which hook, and which records must notice."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.reading.facts import Wire, documents_something, load_fact_checks, read_facts
from catalog_probe.probes.recipes.book import recipe_book
from tests.harness.engines import catalog
from tests.harness.mutants import instead
from tests.harness.mutants.hooks import Hook, HookError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.facts import Fact, FactChecks

TABLES = Path(__file__).parents[2] / "contract" / "mutants"
NOT_YET = TABLES / "not_yet"
"""For each provider, the facts on the wire that no mutant breaks yet; the lists only shrink."""
LARGE = TABLES / "large"
"""For each provider, the mutants that only requests of megabytes show."""

COLUMNS = ("mutant", "facts", "hook", "instead", "noticed_by")

NOBODY = "nobody:"
"""Begins `noticed_by` of a mutant that is expected to go unnoticed; the reason follows."""

_SLUG = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


class MutantTableError(ValueError):
    """A table cannot be read: file, line, and mistake."""


@dataclass(frozen=True)
class MockMutant:
    """One row: a broken behaviour of the mock."""

    file: Path
    line: int
    slug: str
    facts: tuple[str, ...]
    hook: str
    instead: str
    noticed_by: tuple[str, ...]
    """Addresses and patterns of records that must drift; in brackets, those that may; after a tilde, those that must
    report a wrong assumption. One match of a pattern must, all may."""
    unnoticed_because: str = ""
    """Why nobody is expected to notice: no request of a run shows what is broken. Empty if somebody must notice."""

    @property
    def provider(self) -> str:
        return self.file.parent.name

    @property
    def id(self) -> str:
        """The mutant as it is printed: `pb/key_is_401`."""
        return f"{self.provider}/{self.slug}"

    @property
    def location(self) -> str:
        return f"{self.file.parent.name}/{self.file.name}:{self.line}"

    @property
    def must_drift(self) -> tuple[str, ...]:
        """The patterns of which a record must drift."""
        return tuple(name for name in self.noticed_by if not name.startswith(("(", "~")))

    @property
    def must_report(self) -> tuple[str, ...]:
        """The patterns of which a record must report a wrong assumption, without their tilde."""
        return tuple(name[1:] for name in self.noticed_by if name.startswith("~"))

    @property
    def may_drift(self) -> tuple[str, ...]:
        """The patterns whose records may drift as well, without their brackets."""
        return tuple(name[1:-1] for name in self.noticed_by if name.startswith("("))

    @property
    def is_large(self) -> bool:
        """Whether only requests of megabytes show it."""
        return self.slug in read_list(LARGE, self.provider)

    def has_name(self, name: str) -> bool:
        return name in (self.slug, self.id)


def read_list(folder: Path, provider: str) -> list[str]:
    """Return the lines of a provider's list."""
    file = folder / f"{provider}.txt"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def read_mutants(providers: Iterable[str], folder: Path = TABLES) -> list[MockMutant]:
    """Return the mutants of these providers, in the order of the tables.

    Raises:
        MutantTableError: a table has other columns, or a line another number of cells.
    """
    files = (file for provider in providers for file in sorted((folder / provider).glob("*.tsv")))
    return [mutant for file in files for mutant in _read(file)]


def find_broken_facts(provider: str) -> set[str]:
    """Return the facts with a mutant that somebody must notice."""
    mutants = read_mutants([provider])
    return {fact for mutant in mutants if not mutant.unnoticed_because for fact in mutant.facts}


def _read(file: Path) -> Iterator[MockMutant]:
    header, *lines = csv.reader(
        file.read_text(encoding="utf-8").splitlines() or [""], delimiter="\t", quoting=csv.QUOTE_NONE
    )
    if tuple(header) != COLUMNS:
        raise MutantTableError(
            f"{file.parent.name}/{file.name}: has the columns {header}; they are {', '.join(COLUMNS)}"
        )
    for number, cells in enumerate(lines, start=2):
        if len(cells) != len(COLUMNS):
            raise MutantTableError(
                f"{file.parent.name}/{file.name}:{number}: has {len(cells)} cells; write {len(COLUMNS)}"
            )
        slug, facts, hook, replacement, noticed_by = cells
        names, _, reason = noticed_by.partition(NOBODY)
        yield MockMutant(
            file, number, slug, tuple(facts.split()), hook, replacement, tuple(names.split()), reason.strip()
        )


class ProviderScope:
    """The facts of one provider, and its records that have a recipe: rows name nothing else."""

    def __init__(self, provider: str) -> None:
        self.provider = provider

    @cached_property
    def facts(self) -> dict[str, Fact]:
        return {fact.id: fact for fact in read_facts(self.provider)}

    @cached_property
    def _checks(self) -> FactChecks:
        return load_fact_checks(self.provider, catalog())

    @cached_property
    def on_the_wire(self) -> set[str]:
        """The facts that have an effect on the wire."""
        return {fact.id for fact in self.facts.values() if fact.wire is Wire.YES}

    @cached_property
    def breakable(self) -> set[str]:
        """The facts that a noticed mutant may break: they have an effect on the wire, and somebody can observe it."""
        checked_fact = self._checks.checked_fact
        return {fact_id for fact_id in self.on_the_wire if not checked_fact(self.facts[fact_id]).reason}

    @cached_property
    def needing_mutant(self) -> set[str]:
        """The breakable facts that need a mutant: recorded traffic is not their only check."""
        needing: set[str] = set()
        for fact_id in self.breakable:
            assertions = self._checks.assertions_for(self.facts[fact_id])
            if not assertions or any(map(self._is_sent, assertions)):
                needing.add(fact_id)
        return needing

    def _is_sent(self, assertion: Assertion) -> bool:
        recipe = recipe_book(self.provider).recipes.get(assertion.address)
        return recipe is None or recipe.labels >= {assertion.key.label, *assertion.compared_labels}

    @cached_property
    def addresses(self) -> list[str]:
        """The records that are probed: they have a recipe, and something of them is documented."""
        records = catalog().select(provider=self.provider)
        addresses = (
            str(record.address) for record in records if documents_something(assertions(record, catalog().__getitem__))
        )
        return [address for address in addresses if address in recipe_book(self.provider).recipes]

    def matching(self, pattern: str) -> set[str]:
        return {address for address in self.addresses if fnmatchcase(address, pattern)}


def find_table_errors(mutants: Iterable[MockMutant]) -> Iterator[str]:
    """Yield a line for each mistake in these rows."""
    scopes: dict[str, ProviderScope] = {}
    seen_ids: set[str] = set()
    for mutant in mutants:
        scope = scopes.setdefault(mutant.provider, ProviderScope(mutant.provider))
        errors = [*_find_wrong_names(mutant, scope), *_find_wrong_hook(mutant)]
        if mutant.id in seen_ids:
            errors.append("another row has this slug")
        seen_ids.add(mutant.id)
        yield from (f"{mutant.location}: {mutant.slug}: {error}" for error in errors)


def _find_wrong_names(mutant: MockMutant, scope: ProviderScope) -> Iterator[str]:
    if not _SLUG.fullmatch(mutant.slug):
        yield "is no slug: write lower case letters, digits and underscores"
    if not mutant.facts:
        yield "breaks no fact: name at least one"
    for fact in mutant.facts:
        if fact not in scope.facts:
            yield f"{fact!r} is no fact of {mutant.provider}"
        elif fact not in (scope.on_the_wire if mutant.unnoticed_because else scope.breakable):
            yield f"{fact!r} has no effect on the wire, or nobody can observe it"
    if mutant.unnoticed_because and mutant.noticed_by:
        yield f"names records before `{NOBODY}`: write either"
    if not mutant.unnoticed_because and not mutant.must_drift and not mutant.must_report:
        yield f"nobody notices: name the records that must drift, or write `{NOBODY}` and the reason"
    for pattern in (*mutant.must_drift, *mutant.must_report, *mutant.may_drift):
        if not scope.matching(pattern):
            yield f"{pattern!r} is no record of {mutant.provider} that has a recipe"


def _find_wrong_hook(mutant: MockMutant) -> Iterator[str]:
    try:
        hook = Hook.parse(mutant.hook)
        original = hook.load_original()
        is_result = any(step.is_call for step in hook.steps)
        instead.check_replacement(mutant.instead, mutant.file, None if is_result else original)
    except HookError as error:
        yield str(error)
