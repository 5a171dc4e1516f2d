"""Each `>>>` example in a docstring of the product gives the result that it prints."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import catalog_probe

PACKAGE = Path(catalog_probe.__file__).parent
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


def test_docstring_examples_hold() -> None:
    for module in MODULES:
        result = doctest.testmod(importlib.import_module(module))
        assert result.attempted, module
        assert not result.failed, module
