"""The cells of one attempt: each expectation on each endpoint that was asked under its label, and what came there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from catalog_probe.probes.judging.comparison.relations import Answer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from catalog_probe.catalog.model import Attempt, Exchange
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.probes.judging.comparison.relations import Answers

Place = tuple[str, str]
"""Label and endpoint; the endpoint is empty where the recipe names none."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One expectation, and the exchange that is held against it."""

    expected: Expected
    exchange: Exchange

    @property
    def chosen(self) -> Expected:
        """The expectation, or what the documents leave in its place, where that is what came."""
        return self.expected.chosen_by(self.exchange.response)

    @property
    def label(self) -> str:
        return self.exchange.label

    @property
    def endpoint(self) -> str:
        """The endpoint that the recipe names."""
        return self.exchange.endpoint


@dataclass(frozen=True, slots=True)
class Asked:
    """The exchanges of an attempt by place; of several in one place the last counts."""

    exchanges: Mapping[Place, Exchange]

    @classmethod
    def of(cls, attempt: Attempt) -> Self:
        return cls({(each.label, each.endpoint): each for each in attempt.exchanges})

    def cells(self, expected: Iterable[Expected]) -> list[Cell]:
        """Each expectation in each of its places, in the order of the expectations and then of sending."""
        by_label: dict[str, list[Exchange]] = {}
        for exchange in self.exchanges.values():
            by_label.setdefault(exchange.label, []).append(exchange)
        return [Cell(each, exchange) for each in expected for exchange in by_label.get(each.label, ())]


def answers_beside(cell: Cell, cells: Iterable[Cell], seen: Collection[Cell]) -> Answers:
    """The answers with which one may be compared: of those `seen` as documented, on its endpoint, else where sent.

    One that differs, or never came, says nothing of another.
    """
    named = {label for relation in cell.chosen.relations for label in relation.of}
    if not named:
        return {}
    there = {each.label for each in cells if each.endpoint == cell.endpoint}
    found: dict[str, Answer] = {}
    for each in seen:
        if each.label in named and (each.endpoint == cell.endpoint or each.label not in there):
            found.setdefault(each.label, Answer(each.chosen, each.exchange))
    return found
