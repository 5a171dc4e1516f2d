"""Lapses: the mock without one of its behaviours. Exactly the records that state it must stop conforming."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog.model import Outcome
from mockserver.app import create_app
from probes.elicit.book import book
from tests.harness.engines import mock_target_at, probe
from tests.harness.serving import serving

if TYPE_CHECKING:
    import pytest


@dataclass(frozen=True)
class Lapse:
    """What no longer holds, the part of the mock that made it hold, what stands there instead, and who states it.

    `owners` are all modules and classes in which the part is looked up by `name`.
    """

    what: str
    owners: tuple[Any, ...]
    name: str
    instead: Any
    stated_by: frozenset[str]

    def take_effect(self, patch: pytest.MonkeyPatch) -> None:
        for owner in self.owners:
            patch.setattr(owner, self.name, self.instead)


def lapse(what: str, owner: Any, name: str, instead: Any, *stated_by: str) -> Lapse:
    """A lapse of a public part of one owner, or of a tuple of them.

    Raises:
        ValueError: the part is private, so its next renaming would break the lapse, or no record states it.
    """
    if name.startswith("_") or not stated_by:
        raise ValueError(f"{what}: name a public part, and who states it")
    return Lapse(what, owner if isinstance(owner, tuple) else (owner,), name, instead, frozenset(stated_by))


def nothing(*args: Any, **options: Any) -> None:
    """Stand where something was checked."""


class Lapses:
    """The lapses of one provider's mock, and the records that are probed with each."""

    def __init__(self, provider: str, addresses: Iterable[str], *lapses: Lapse) -> None:
        self.provider = provider
        self.addresses = [address for address in addresses if address in book(provider).recipes]
        self._lapses = lapses

    def __iter__(self) -> Iterator[Lapse]:
        return iter(self._lapses)

    def no_longer_conforming(self) -> set[str]:
        """Which records that have a recipe do not conform, with the mock as it is now."""
        with serving(create_app(only=[self.provider])) as base:
            results = probe(mock_target_at(base), self.addresses)
        return {address for address, each in results.items() if each.outcome is not Outcome.CONFORMS}
