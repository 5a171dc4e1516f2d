"""The mock with one behaviour replaced, imported anew beside the one that this process has, which stays as it is.

The replacement is made where the name is bound, in the module's own import: whatever is built from it later (tables,
routes, what other modules import by name) is built from the replacement, and nothing has to be found and undone.
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

from tests.harness.mutants.hooks import MOCK, Change, Hook, Unresolved
from tests.harness.mutants.parsing import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

SHARED = f"{MOCK}.pd.grpc.generated"
"""What protobuf has made of a file is known to its own registry, which takes no file twice."""

REPLACE = "replaced_in_the_mutant"
"""How a changed module calls what replaces."""


def bound_at(tree: ast.Module, names: set[str]) -> int:
    """The index of the last statement of a module that binds one of the names.

    Raises:
        Unresolved: none does.
    """
    found = [index for index, statement in enumerate(tree.body) if names & set(_binds(statement))]
    if not found:
        raise Unresolved(f"nothing binds {', '.join(sorted(names))}")
    return found[-1]


def _binds(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name
        case ast.Import() | ast.ImportFrom():
            yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case _:
            targets = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            yield from (node.id for node in targets if isinstance(node.ctx, ast.Store))


class Replacing(MetaPathFinder, Loader):
    """Imports the hook's module with the replacement in it."""

    def __init__(self, hook: Hook, change: Change, needed: set[str]) -> None:
        self._hook, self._change, self._needed = hook, change, needed

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self._hook.module:
            return None
        found = PathFinder.find_spec(name, path)
        if found is None or found.origin is None:
            return None
        spec = ModuleSpec(name, self, origin=found.origin, is_package=found.submodule_search_locations is not None)
        spec.submodule_search_locations = found.submodule_search_locations
        spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        file = module.__spec__.origin
        assert file is not None
        tree = parsed(Path(file).read_text(encoding="utf-8"))
        replace = parsed(f"{self._hook.name} = {REPLACE}({self._hook.name})").body
        at = bound_at(tree, {self._hook.name} | self._needed) + 1
        for node in ast.walk(replace[0]):
            ast.copy_location(node, tree.body[at - 1])
        tree.body[at:at] = replace
        vars(module)[REPLACE] = self._replace
        exec(compile(ast.fix_missing_locations(tree), file, "exec"), vars(module))

    def _replace(self, value: Any) -> Any:
        return self._hook.changed(value, self._change)


@contextmanager
def imported_anew(hook: Hook | None = None, change: Change | None = None, needed: str = "") -> Iterator[ModuleType]:
    """The mock's `app`, of a mock imported anew: with the change where a hook is given; `needed` is what it reads.

    While the block runs, imports mean that mock; afterwards the modules are those from before it.

    Raises:
        Unresolved: the hook leads nowhere.
    """
    kept = _ours()
    other = Hook.parse(needed) if needed else None
    needs = {other.name} if hook and other and other.module == hook.module else set()
    finder = Replacing(hook, change, needs) if hook and change else None
    _forget(kept)
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
        _forget(_ours())
        sys.modules.update(kept)


def _ours() -> dict[str, ModuleType]:
    return {
        name: module
        for name, module in sys.modules.items()
        if f"{name}.".startswith(f"{MOCK}.") and not name.startswith(SHARED)
    }


def _forget(modules: Mapping[str, ModuleType]) -> None:
    for name in modules:
        del sys.modules[name]
