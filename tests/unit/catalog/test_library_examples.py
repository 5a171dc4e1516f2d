"""The examples in the docstrings of the library run."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog import library
from catalog_probe.catalog.recognition import advice
from catalog_probe.catalog.text import sanitizing

if TYPE_CHECKING:
    from types import ModuleType


@pytest.mark.parametrize("module", [library, advice, sanitizing], ids=lambda module: module.__name__)
def test_each_example_says_what_comes_of_it(module: ModuleType) -> None:
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed
