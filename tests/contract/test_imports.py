"""No import cycles, and recipes import only what recipes may. All imports count, wherever in a file they stand."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from catalog_probe import catalog as catalog_package
from catalog_probe import mockserver as mock_package
from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.probes import calls, recipes
from catalog_probe.probes.targets import target
from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


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


def find_cycle(graph: Graph) -> set[str]:
    """Return the modules of a cycle, or nothing if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return set(error.args[1])
    return set()


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


FOR_RECIPES = (catalog_package.__name__, calls.__name__, recipes.__name__)
"""The packages that recipes may import."""

FROM_TARGETS = frozenset((target.__name__, name) for name in ("WRONG_KEY", "Cost"))
"""What else a recipe names: what it may cost, and the role of a key that cannot be right."""


def write_package(folder: Path, **modules: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def foreign_imports(folder: Path) -> list[str]:
    """Return what the recipes in a folder import of the project and must not."""
    own = folder.name
    return [
        f"{file.relative_to(folder.parent)}: {source} {name}".strip()
        for module, file in find_modules(folder)
        for source, name in list_imports(module, file)
        if not is_for_recipes(source, own) and (source, name) not in FROM_TARGETS
    ]


def is_for_recipes(source: str, own: str) -> bool:
    within = any(f"{source}.".startswith(f"{package}.") for package in (*FOR_RECIPES, own))
    return within or source.partition(".")[0] not in {*root_packages(), SHIPPED.recipes.parent.name, "tests", ""}


def test_no_modules_import_each_other() -> None:
    graph = build_graph(CHECKOUT / package for package in root_packages())
    assert {"catalog_probe.catalog.model", "catalog_probe.mockserver.pa.compliance"} <= graph.keys(), "all is read"
    assert find_cycle(graph) == set(), "move what both need to where it belongs"


def test_no_recipes_import_each_other(subtests: pytest.Subtests) -> None:
    for provider in providers():
        with subtests.test(provider=provider):
            graph = build_graph([SHIPPED.recipes / provider])
            assert any(graph.values()), "relative imports are read"
            assert find_cycle(graph) == set(), "move what both need to where it belongs"


def test_a_cycle_is_found_wherever_the_import_stands(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        "import made.second",
        "from made import second",
        "from made.second import something",
        "from . import second",
        "from .second import something",
        "def late():\n    from made import second",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from made.second import Something",
    ]
    for text in cases:
        with subtests.test(text=text):
            folder = write_package(
                tmp_path / "made", __init__="", first=text, second="from made import third", third="import made.first"
            )
            assert find_cycle(build_graph([folder])) == {"made.first", "made.second", "made.third"}


def test_a_module_that_two_import_is_no_cycle(tmp_path: Path) -> None:
    modules = {"first": "from . import third, second", "second": "import made.third", "third": "import os"}
    graph = build_graph([write_package(tmp_path / "made", **modules)])
    assert graph == {"made.first": {"made.second", "made.third"}, "made.second": {"made.third"}, "made.third": set()}
    assert find_cycle(graph) == set()


def test_recipes_import_only_what_they_are_written_in(subtests: pytest.Subtests) -> None:
    for provider in providers():
        with subtests.test(provider=provider):
            assert foreign_imports(SHIPPED.recipes / provider) == []


def test_a_foreign_import_of_recipes_is_found(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, bool]] = [
        ("import anyio, json", True),
        ("from .second import X", True),
        (f"from {calls.__name__}.call import get", True),
        (f"from {recipes.__name__} import recipe", True),
        (f"from {catalog_package.__name__}.model import Reason", True),
        (f"from {target.__name__} import WRONG_KEY, Cost", True),
        (f"from {target.__name__} import Target", False),
        (f"from {target.__name__.rpartition('.')[0]} import target", False),
        (f"from {mock_package.__name__} import app", False),
        (f"def late():\n    import {mock_package.__name__}.app", False),
        (f"from {SHIPPED.recipes.parent.name}.recipes.pb import shapes", False),
        ("from ..pb import shapes", False),
        ("from tests.harness import engines", False),
    ]
    for text, allowed in cases:
        with subtests.test(text=text):
            folder = write_package(tmp_path / "pz", first=text, second="")
            assert (foreign_imports(folder) == []) is allowed


def test_nothing_imports_shipped_recipes_by_name() -> None:
    """The loader has them under a name of its own: an import would make a second copy, with records of its own."""
    folder, name = SHIPPED.recipes.parent.name, SHIPPED.recipes.name
    by_name = re.compile(rf"^\s*(import|from) {folder}(\.| import ){name}\b", re.MULTILINE)
    assert by_name.search(f"x\n  from {folder}.{name}.pa import shapes")
    files = [file for root in (*root_packages(), folder, "tests") for file in (CHECKOUT / root).rglob("*.py")]
    assert [str(file) for file in files if by_name.search(file.read_text(encoding="utf-8"))] == []
