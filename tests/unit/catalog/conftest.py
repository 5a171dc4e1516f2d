"""Fixture of the tests of the catalog commands: a folder with a small catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.checkouts import use_as_checkout
from tests.unit.catalog.catalog_factories import write_catalog

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder in which commands are called, with a small catalog in `records`."""
    use_as_checkout(tmp_path, monkeypatch)
    monkeypatch.setenv("COLUMNS", "100")
    write_catalog(tmp_path / "records")
