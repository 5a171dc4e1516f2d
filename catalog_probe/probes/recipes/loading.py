"""Load the recipes of a provider from its home: those that this project ships, and those of anybody else, alike."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING
from zlib import crc32

from catalog_probe.catalog.files.manifest import manifest, provider_folder
from catalog_probe.catalog.files.missing_library import describe_missing_library
from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.model.errors import UserError, display_path

if TYPE_CHECKING:
    from types import ModuleType, TracebackType


class RecipeError(UserError):
    """Recipes that cannot be read, or that contradict themselves."""


@cached_per_folders
def recipes_module(provider: str) -> ModuleType | None:
    """The module or package of a provider's recipes, `recipes/<name>` of its home; None if there is none.

    It has a name of its own in `sys.modules`. Its modules import each other by relative imports.

    Raises:
        RecipeError: it is there and cannot be imported.
        CatalogError: no provider has this name, or its manifest cannot be read.
    """
    manifest(provider)  # names the providers that there are, if this is none
    home = provider_folder(provider)
    for file in (home.recipes / provider / "__init__.py", home.recipes / f"{provider}.py"):
        if file.is_file():
            return _loaded(provider, file)
    return None


def recipes_place(provider: str) -> str:
    """Where the recipes of a provider lie, or would, as a person would type it."""
    folder = provider_folder(provider).recipes / provider
    return display_path(folder if folder.is_dir() else folder.with_suffix(".py"))


def _loaded(provider: str, file: Path) -> ModuleType:
    """A module of a home, under a name that no other has: two homes may have recipes for one provider."""
    name = f"recipes_of_{provider}_{crc32(str(file).encode()):08x}"
    if name in sys.modules:
        return sys.modules[name]
    inside = [str(file.parent)] if file.name == "__init__.py" else None
    spec = spec_from_file_location(name, file, submodule_search_locations=inside)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        for half_loaded in [known for known in sys.modules if f"{known}.".startswith(f"{name}.")]:
            del sys.modules[half_loaded]
        raise _unreadable(error, file, name) from error
    return module


def _unreadable(error: Exception, file: Path, name: str) -> RecipeError:
    if isinstance(error, UserError):
        return RecipeError(error.what, error.mend, file=error.file or file, location=error.location)
    at, number = _where(error, file)
    is_of_recipes = isinstance(error, ImportError) and f"{error.name}.".startswith(f"{name}.")
    if not is_of_recipes and describe_missing_library(error):
        return RecipeError(describe_missing_library(error), file=at, location=number)
    said = str(error).replace(f"{name}.", ".")  # as the import is written there
    return RecipeError(
        f"cannot be imported ({type(error).__name__}: {said})", "mend the recipes there", file=at, location=number
    )


def _where(error: Exception, file: Path) -> tuple[Path, str]:
    """The file and line of a home that failed last."""
    if isinstance(error, SyntaxError) and error.filename:
        return Path(error.filename), str(error.lineno)
    trace: TracebackType | None = error.__traceback__
    own = [frame for frame in extract_tb(trace) if Path(frame.filename).is_relative_to(file.parent)]
    return (Path(own[-1].filename), str(own[-1].lineno)) if own else (file, "")
