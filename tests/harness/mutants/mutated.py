"""Imports the mock once more with one behaviour replaced; the mock that this process has stays as it is.

The replacement is made where the module defines the name. All that is built from it later (tables, routes, imports by
name in other modules) is built from the replacement, and nothing has to be undone.
"""

from __future__ import annotations

import ast
import importlib
import sys
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.harness.mutants.hooks import Hook, Replace
from tests.harness.mutants.source import MOCK, names_defined, parse_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

SHARED = f"{MOCK}.pd.generated"
"""Never imported again: protobuf registers each file of messages once in a process."""

REPLACE = "replaced_in_the_mutant"
"""The name of the replacing function in a mutated module."""


def find_last_definition(tree: ast.Module, names: set[str]) -> int:
    """Return the index of the last statement of a module that defines one of the names."""
    return max(index for index, statement in enumerate(tree.body) if names & set(names_defined(statement)))


class ReplacingImporter(MetaPathFinder, Loader):
    """Imports the hook's module with the replacement in it."""

    def __init__(self, hook: Hook, replace: Replace, used_names: set[str]) -> None:
        self._hook, self._replace_value, self._used_names = hook, replace, used_names

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self._hook.module:
            return None
        file_spec = PathFinder.find_spec(name, path)
        if file_spec is None or file_spec.origin is None:
            return None
        spec = ModuleSpec(
            name, self, origin=file_spec.origin, is_package=file_spec.submodule_search_locations is not None
        )
        spec.submodule_search_locations = file_spec.submodule_search_locations
        spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        file = module.__spec__.origin
        assert file is not None
        tree = parse_module(Path(file).read_text(encoding="utf-8"))
        statements = parse_module(f"{self._hook.name} = {REPLACE}({self._hook.name})").body
        index = find_last_definition(tree, {self._hook.name} | self._used_names) + 1
        for node in ast.walk(statements[0]):
            ast.copy_location(node, tree.body[index - 1])
        tree.body[index:index] = statements
        vars(module)[REPLACE] = self._replace
        exec(compile(ast.fix_missing_locations(tree), file, "exec"), vars(module))

    def _replace(self, value: Any) -> Any:
        return self._hook.apply(value, self._replace_value)


@contextmanager
def reimported_mock(
    hook: Hook | None = None, replace: Replace | None = None, used_hook: str = ""
) -> Iterator[ModuleType]:
    """Import the mock again and yield its module `app`; `replace` is applied at the hook, if one is given.

    `used_hook` is what the replacement reads: in the same module, it must be bound first. While the block runs, imports
    find the new modules; afterwards those from before.

    Raises:
        HookError: the hook leads nowhere.
    """
    modules_before = _mock_modules()
    used = Hook.parse(used_hook) if used_hook else None
    used_names = {used.name} if hook and used and used.module == hook.module else set()
    finder = ReplacingImporter(hook, replace, used_names) if hook and replace else None
    _unload(modules_before)
    if finder:
        sys.meta_path.insert(0, finder)
    try:
        app = importlib.import_module(f"{MOCK}.app")
        if hook:
            importlib.import_module(hook.module)
        yield app
    finally:
        if finder:
            sys.meta_path.remove(finder)
        _unload(_mock_modules())
        sys.modules.update(modules_before)


def _mock_modules() -> dict[str, ModuleType]:
    return {
        name: module
        for name, module in sys.modules.items()
        if f"{name}.".startswith(f"{MOCK}.") and not name.startswith(SHARED)
    }


def _unload(modules: Mapping[str, ModuleType]) -> None:
    for name in modules:
        del sys.modules[name]
