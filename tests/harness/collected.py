"""A pytest plugin: prints the ids of all tests in the order in which they were collected, before any were moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conftest import COLLECTED

if TYPE_CHECKING:
    import pytest


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """One a line."""
    return config.stash[COLLECTED]
