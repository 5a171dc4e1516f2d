"""Which facts of the documents the probes look at, which in part, and which not yet. Pure."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog.reading.documents import Wire, checks
from probes.planning.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog.model.assertion import Assertion
    from catalog.reading.documents import Checks, Fact
    from catalog.reading.store import Catalog
    from probes.elicit.book import Book


class Standing(StrEnum):
    """How a fact stands: who looks at it."""

    CHECKED = "checked"
    IN_PART = "in part"
    REASONED = "reasoned"
    REST = "rest"
    TOLD = "told"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True, slots=True)
class Looked:
    """One fact, and how it stands: on the mock, where each cause can be brought about, and live."""

    provider: str
    fact: Fact
    standing: Standing
    live: bool
    """Whether some of what looks at it is within a client's reach."""


@dataclass(slots=True)
class Count(Tally):
    """One row of the table. `on_wire` is what the share is of; the reasoned and those in part are none of its whole."""

    on_wire: int = 0
    checked: int = 0
    in_part: int = 0
    reasoned: int = 0
    rest: int = 0
    live: int = 0
    told_only: int = 0
    impossible: int = 0

    @property
    def share(self) -> float:
        """Of the facts with an effect on the wire, those that are checked whole: 0 to 1."""
        return self.checked / self.on_wire if self.on_wire else 0.0


Table = dict[str, Count]


def looked_at(catalog: Catalog, books: Mapping[str, Book]) -> tuple[Looked, ...]:
    """Every fact of the providers that have a book, in the order of the documents.

    Raises:
        CatalogError: the facts of a provider cannot be read.
    """
    return tuple(
        each for provider, book in books.items() for each in of_provider(provider, checks(provider, catalog), book)
    )


def of_provider(provider: str, checks: Checks, book: Book) -> Iterator[Looked]:
    """Each fact of one provider. An assertion that nothing provokes counts for none that looks at it."""
    for fact in checks.facts:
        provoked = [each for each in checks.of(fact) if _is_sent(each, book)]
        yield Looked(
            provider=provider,
            fact=fact,
            standing=_standing(checks.told_by(fact), fact, looked_at=bool(provoked)),
            live=any(_within_reach(each, book) for each in provoked),
        )


def _is_sent(each: Assertion, book: Book) -> bool:
    """Whether something is sent under its label."""
    recipe = book.recipes.get(each.address)
    return recipe is not None and each.key.label in recipe.labels


def _within_reach(each: Assertion, book: Book) -> bool:
    """Whether a client's requests can bring it about."""
    recipe = book.recipes[each.address].look_under(each.key.label)
    return not (each.out_of_reach or recipe.scenario or recipe.live)


def _standing(telling: Fact, fact: Fact, *, looked_at: bool) -> Standing:
    if fact.wire is not Wire.YES:
        return Standing.TOLD if fact.wire is Wire.TOLD else Standing.IMPOSSIBLE
    if looked_at:
        return Standing.IN_PART if telling.in_part else Standing.CHECKED
    return Standing.REASONED if telling.reason else Standing.REST


def by_section(found: Iterable[Looked]) -> Table:
    """Rows `provider section`, one for each provider as a whole, and a total."""
    table: Table = {}
    whole = Count()
    for each in found:
        count = _count(each)
        for row in (each.provider, f"{each.provider} {each.fact.section}"):
            table.setdefault(row, Count()).add(count)
        whole.add(count)
    return {**dict(sorted(table.items())), "total": whole}


def _count(each: Looked) -> Count:
    on_wire = each.fact.wire is Wire.YES
    return Count(
        on_wire=int(on_wire),
        checked=int(each.standing is Standing.CHECKED),
        in_part=int(each.standing is Standing.IN_PART),
        reasoned=int(each.standing is Standing.REASONED),
        rest=int(each.standing is Standing.REST),
        live=int(on_wire and each.live),
        told_only=int(each.standing is Standing.TOLD),
        impossible=int(each.standing is Standing.IMPOSSIBLE),
    )


def told(table: Table) -> list[str]:
    """The table as aligned lines."""
    heads = [each.name.replace("_", " ") for each in fields(Count)]
    width = max(map(len, [*table, "total"]), default=5)
    lines = [" ".join([" " * width, *heads, " share"])]
    for name, count in table.items():
        cells = [f"{getattr(count, each.name):>{len(head)}}" for each, head in zip(fields(Count), heads, strict=True)]
        lines.append(" ".join([f"{name:<{width}}", *cells, f"{count.share:>6.1%}" if count.on_wire else "     -"]))
    return lines


def rest(found: Sequence[Looked]) -> list[str]:
    """Each fact on the wire that is not checked whole, a line each: how it stands, its id, and what it says."""
    left = [each for each in found if each.standing in (Standing.REST, Standing.IN_PART, Standing.REASONED)]
    return [f"{each.standing:<8} {each.fact.id}: {each.fact.statement}{_why(each.fact)}" for each in left]


def _why(fact: Fact) -> str:
    said = " ".join(part for part in (fact.reason, fact.note) if part)
    return f" ({said})" if said else ""
