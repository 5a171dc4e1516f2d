"""A pytest plugin that prints the ids of all tests in the order of their collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conftest import COLLECTED

if TYPE_CHECKING:
    import pytest


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """Print one id a line."""
    return config.stash[COLLECTED]
