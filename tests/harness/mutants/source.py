"""The source of the mock: its modules as syntax trees, and which of them defines a name."""

from __future__ import annotations

import ast
import gc
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOCK = "catalog_probe.mockserver"
ROOT = Path(__file__).parents[3]
FOLDER = ROOT.joinpath(*MOCK.split("."))
CORE = "core"
"""Stands in a hook for what all providers share: the package `core` and the modules beside it."""


def parse_module(source: str) -> ast.Module:
    """Return the syntax tree of a module, while other threads run.

    Before Python 3.11.8 and 3.12 that may fail (python/cpython#106905): all threads share the counter of a tree's
    depth. A garbage collection during the parsing lets another thread run; if that prints a traceback, as mocks that
    are broken on purpose do, it parses as well.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        if was_enabled:
            gc.enable()


def name_module(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def read_modules(provider: str) -> Mapping[str, ast.Module]:
    """Parse the modules of one provider's mock, or of `core`."""
    files = [*(FOLDER / provider).rglob("*.py"), *(FOLDER.glob("*.py") if provider == CORE else ())]
    return {name_module(file): parse_module(file.read_text(encoding="utf-8")) for file in files}


@cache
def find_definitions(provider: str) -> Mapping[str, list[str]]:
    """Return the names at the top of a provider's modules, each with the modules that define it."""
    definitions: dict[str, list[str]] = defaultdict(list)
    for module, tree in read_modules(provider).items():
        for name in {name for statement in tree.body for name in names_defined(statement)}:
            definitions[name].append(module)
    return dict(definitions)


def names_defined(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement at the top of a module defines; an import defines none."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case _:
            nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            yield from (node.id for node in nodes if isinstance(node.ctx, ast.Store))
