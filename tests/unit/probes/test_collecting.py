"""Records are probed in our order, whatever order another plugin such as pytest-randomly gives the items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.probes.plugin.collection.collecting import address_of
from tests.harness.command import run_pytest_here
from tests.harness.live import write_live_target

if TYPE_CHECKING:
    from pathlib import Path


class Reversing:
    """Reverses the items, and keeps the addresses in the final order."""

    def __init__(self) -> None:
        self.addresses: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.reverse()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.addresses = [address_of(item) or "" for item in session.items]


def collect(*arguments: str) -> list[str]:
    """Return the addresses of a run with these arguments, in its order."""
    reversing = Reversing()
    assert run_pytest_here("probes", "--collect-only", "-q", *arguments, plugins=[reversing]) == 0
    return reversing.addresses


FEW = ("--kind", "errors", "-k", "404")


def test_records_are_grouped_by_provider(tmp_path: Path) -> None:
    addresses = collect("--out", str(tmp_path), *FEW)
    providers = [address.partition("/")[0] for address in addresses]
    assert len(set(providers)) > 1
    assert providers == sorted(providers)


def test_limited_run_probes_records_with_most_facts_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orders: list[list[str]] = []
    for max_requests in (None, 5):
        target = write_live_target(tmp_path, {"pa": "http://127.0.0.1:9/pa"}, max_requests=max_requests)
        for name, value in target.environ.items():
            monkeypatch.setenv(name, value)
        orders.append(collect("--target", str(target.path), "--out", str(tmp_path), *FEW))
    unlimited_order, limited_order = orders
    assert sorted(unlimited_order) == sorted(limited_order)
    assert unlimited_order != limited_order
