"""Collects one item for each selected record, in the order of probing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Address
from catalog_probe.catalog.search.query import keywords_for_k
from catalog_probe.probes.planning.budgeting import plan_budget
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.plugin.collection.options_table import PROBES

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path

    from catalog_probe.probes.plugin.collection.options import Options


class Collector:
    """The plugin object that collects items; it imports nothing that sends."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out the file of a kind without a selected record."""
        kind = collection_path.stem.removeprefix("test_")
        if collection_path.parent != PROBES or not collection_path.name.startswith("test_"):
            return None
        return True if not self._addresses(kind) else None

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "result" in metafunc.fixturenames and hasattr(metafunc.module, "KIND"):
            metafunc.parametrize("result", self._addresses(metafunc.module.KIND), indirect=True, ids=str)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None, object, object]:
        """Add each record's words for `-k`, and sort by provider after all plugins."""
        for item in items if config.getoption("keyword") else ():
            address = address_of(item)
            if address is not None:
                item.extra_keyword_matches.update(keywords_for_k(self.options.catalog[address]))
        result = yield
        ranks = self._ranks([address for item in items if (address := address_of(item)) is not None])
        items.sort(key=lambda item: (_provider_of(item), ranks.get(address_of(item) or "", 0)))
        return result

    def _ranks(self, addresses: Sequence[str]) -> Mapping[str, int]:
        """Return the order in which a short budget is spent: most facts first."""
        options = self.options
        budgeted = [provider for provider in options.target.providers.values() if provider.has_budget]
        if not options.target.live or not budgeted:
            return {}
        recipes = make_plan(options.catalog, options.planned_target, options.allow, addresses, options.drawing).recipes
        ranks: dict[str, int] = {}
        for provider in budgeted:
            own = [recipe for recipe in recipes if recipe.provider == provider.name]
            ranks.update(plan_budget(own, provider, options.catalog).ranks)
        return ranks

    def _addresses(self, kind: str) -> list[str]:
        return [
            str(record.address)
            for record in self.options.catalog.select(kind=kind)
            if self.options.selects(record.address)
        ]


def address_of(item: pytest.Item) -> str | None:
    """Return the address that an item probes, or None for any other test."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("result") if callspec is not None and "result" in callspec.params else None


def address_in(nodeid: str) -> str:
    """Return the address in a node id; empty for a test that is no probe."""
    return nodeid.partition("[")[2].rpartition("]")[0]


def _provider_of(item: pytest.Item) -> str:
    """Return the provider that an item probes; empty, to sort first, if none."""
    address = address_of(item)
    return Address.parse(address).provider if address is not None else ""
