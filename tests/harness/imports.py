"""Reads which modules import which, without running any: all imports count, wherever in a file they stand."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

Graph = Mapping[str, frozenset[str]]
"""Module -> the modules of the same graph that it imports."""


def root_packages() -> list[str]:
    """Return the packages of the project, as the import contracts name them."""
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    packages: list[str] = settings["tool"]["importlinter"]["root_packages"]
    return packages


def build_graph(folders: Iterable[Path]) -> Graph:
    """Read every module below some folders, each a package that is named as its folder is."""
    files = {module: file for folder in folders for module, file in find_modules(folder)}
    return {module: _known_imports(module, file, files.keys()) for module, file in files.items()}


def find_modules(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield each module below a folder, a package that is named as the folder is, and its file."""
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def list_imports(module: str, file: Path) -> Iterator[tuple[str, str]]:
    """Yield each module that a file imports from, and the name that it takes; no name if it takes the whole module.

    Modules go by absolute names. What a relative import finds outside of the topmost folder begins with a dot.
    """
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            yield from ((name.name, "") for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = _absolute_name(package, node)
            yield from ((source, name.name) for name in node.names)


def find_cycles(graph: Graph) -> list[list[str]]:
    """Return the modules of each cycle, in alphabetical order.

    Two modules are in one cycle if each can be reached from the other.
    """
    reachable = {module: _reach(graph, module) for module in graph}
    cycles = {
        tuple(sorted(other for other in reached if module in reachable[other]))
        for module, reached in reachable.items()
        if module in reached
    }
    return [list(cycle) for cycle in sorted(cycles)]


def _reach(graph: Graph, start: str) -> set[str]:
    """Every module that can be reached by imports from one; itself only if it is in a cycle."""
    reached: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting += graph[module]
    return reached


def _known_imports(module: str, file: Path, known: Iterable[str]) -> frozenset[str]:
    imported = ((source, f"{source}.{name}") for source, name in list_imports(module, file))
    nearest = {submodule if submodule in known else source for source, submodule in imported}
    return frozenset(nearest & set(known) - {module})


def _absolute_name(package: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    kept = len(parts) - (node.level - 1)
    parents = parts[:kept] if kept > 0 else [""]
    return ".".join([*parents, *([node.module] if node.module else [])])
