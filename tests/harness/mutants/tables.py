"""The rows: which fact each mutant breaks, by which hook, and which records were said to notice before it was run."""

from __future__ import annotations

import csv
import importlib
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.reading.facts import Wire, load_fact_checks, read_facts
from catalog_probe.probes.recipes.book import recipe_book
from tests.harness.engines import catalog
from tests.harness.mutants import instead
from tests.harness.mutants.hooks import Hook, Unresolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.facts import Fact

TABLES = Path(__file__).parents[2] / "contract" / "mutants"
NOT_YET = TABLES / "not_yet"
"""Of each provider the facts on the wire that no mutant breaks yet; the lists only shrink."""
LARGE = TABLES / "large"
"""Of each provider the mutants that requests alone show which no ordinary run sends, for they are too large."""

COLUMNS = ("mutant", "facts", "hook", "instead", "noticed_by")

_SLUG = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


class Refused(ValueError):
    """A table cannot be read: file, line, and what is wrong."""


@dataclass(frozen=True)
class Mutant:
    """One row."""

    file: Path
    line: int
    slug: str
    facts: tuple[str, ...]
    hook: str
    instead: str
    noticed_by: tuple[str, ...]
    """Addresses of records that must drift; patterns, of which one match must and all may; in brackets, who may;
    after a tilde, who must tell of it in another way, for how it is asked or where it stands is assumed."""

    @property
    def provider(self) -> str:
        return self.file.parent.name

    @property
    def id(self) -> str:
        """`pb/key_is_401`: what names it in all that is printed."""
        return f"{self.provider}/{self.slug}"

    @property
    def place(self) -> str:
        return f"{self.file.parent.name}/{self.file.name}:{self.line}"

    @property
    def wanted(self) -> tuple[str, ...]:
        """Of the names those of which a record must drift."""
        return tuple(name for name in self.noticed_by if not name.startswith(("(", "~")))

    @property
    def told(self) -> tuple[str, ...]:
        """Of the names, without their tilde, those of which a record must say that what we assumed of it is not so."""
        return tuple(name[1:] for name in self.noticed_by if name.startswith("~"))

    @property
    def allowed(self) -> tuple[str, ...]:
        """Of the names, without their brackets, those whose records may drift as well."""
        return tuple(name[1:-1] for name in self.noticed_by if name.startswith("("))

    @property
    def is_large(self) -> bool:
        """Whether requests alone show it that are too large for each run."""
        return self.slug in listed(LARGE, self.provider)

    def goes_by(self, name: str) -> bool:
        return name in (self.slug, self.id)


def listed(folder: Path, provider: str) -> list[str]:
    """The lines of a list that only shrinks."""
    file = folder / f"{provider}.txt"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def mutants(providers: Iterable[str], folder: Path = TABLES) -> list[Mutant]:
    """The mutants of these providers, in the order of the tables.

    Raises:
        Refused: a table has other columns, or a line another number of cells.
    """
    files = (file for provider in providers for file in sorted((folder / provider).glob("*.tsv")))
    return [mutant for file in files for mutant in _read(file)]


def _read(file: Path) -> Iterator[Mutant]:
    header, *lines = csv.reader(
        file.read_text(encoding="utf-8").splitlines() or [""], delimiter="\t", quoting=csv.QUOTE_NONE
    )
    if tuple(header) != COLUMNS:
        raise Refused(f"{file.parent.name}/{file.name}: has the columns {header}; they are {', '.join(COLUMNS)}")
    for number, cells in enumerate(lines, start=2):
        if len(cells) != len(COLUMNS):
            raise Refused(f"{file.parent.name}/{file.name}:{number}: has {len(cells)} cells; write {len(COLUMNS)}")
        slug, named, hook, stands, noticed_by = cells
        yield Mutant(file, number, slug, tuple(named.split()), hook, stands, tuple(noticed_by.split()))


class Of:
    """What the rows of one provider may speak of: its facts, its records that have a recipe."""

    def __init__(self, provider: str) -> None:
        self.provider = provider

    @cached_property
    def facts(self) -> dict[str, Fact]:
        return {fact.id: fact for fact in read_facts(self.provider)}

    @cached_property
    def breakable(self) -> set[str]:
        """The facts that a mutant may break: on the wire, and within what anybody can look at."""
        return {fact.id for fact in self.facts.values() if fact.wire is Wire.YES and not fact.reason}

    @cached_property
    def wanting(self) -> set[str]:
        """The facts that want a mutant: those of them that are not left to recorded traffic alone."""
        held = load_fact_checks(self.provider, catalog())
        looks = {id_: held.assertions_for(self.facts[id_]) for id_ in self.breakable}
        return {id_ for id_, those in looks.items() if not those or any(map(self._is_sent, those))}

    def _is_sent(self, assertion: Assertion) -> bool:
        recipe = recipe_book(self.provider).recipes.get(assertion.address)
        return recipe is None or recipe.labels >= {assertion.key.label, *assertion.compared_labels}

    @cached_property
    def addresses(self) -> list[str]:
        every = (str(record.address) for record in catalog().select(provider=self.provider))
        return [address for address in every if address in recipe_book(self.provider).recipes]

    def matching(self, pattern: str) -> set[str]:
        return {address for address in self.addresses if fnmatchcase(address, pattern)}


def refusals(found: Iterable[Mutant]) -> Iterator[str]:
    """What is wrong with rows, a line each."""
    of: dict[str, Of] = {}
    seen: set[str] = set()
    for mutant in found:
        known = of.setdefault(mutant.provider, Of(mutant.provider))
        said = [*_of_names(mutant, known), *_of_hook(mutant)]
        said += ["another row has this slug"] if mutant.id in seen else []
        seen.add(mutant.id)
        yield from (f"{mutant.place}: {mutant.slug}: {each}" for each in said)


def _of_names(mutant: Mutant, known: Of) -> Iterator[str]:
    if not _SLUG.fullmatch(mutant.slug):
        yield "is no slug: lower case letters, digits and underscores"
    if not mutant.facts:
        yield "breaks no fact: name at least one"
    for fact in mutant.facts:
        if fact not in known.facts:
            yield f"{fact!r} is no fact of {mutant.provider}"
        elif fact not in known.breakable:
            yield f"{fact!r} has no effect on the wire, or nobody can look at it"
    if not mutant.wanted and not mutant.told:
        yield "nobody notices: name the records that must drift"
    for pattern in (*mutant.wanted, *mutant.told, *mutant.allowed):
        if not known.matching(pattern):
            yield f"{pattern!r} is no record of {mutant.provider} that has a recipe"


def _of_hook(mutant: Mutant) -> Iterator[str]:
    try:
        hook = Hook.parse(mutant.hook)
        original = hook.original(importlib.import_module(hook.module))
        is_result = any(step.is_call for step in hook.steps)
        instead.check(mutant.instead, mutant.file, None if is_result else original)
    except (Unresolved, ImportError) as error:
        yield str(error)
