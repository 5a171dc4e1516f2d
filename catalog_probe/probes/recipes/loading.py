"""Loads the recipes of a provider from its provider folder, ours and a user's alike."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING
from zlib import crc32

from catalog_probe.catalog.files.manifest import manifest, provider_folder
from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.model.errors import UserError, describe_missing_library, display_path

if TYPE_CHECKING:
    from types import ModuleType


class RecipeError(UserError):
    """Recipes that cannot be read, or that contradict each other."""


@cached_per_folders
def load_recipes_module(provider: str) -> ModuleType | None:
    """Import the recipes of a provider, `recipes/<name>` of its folder; None if there are none.

    Its modules import each other by relative imports.

    Raises:
        RecipeError: it is there and cannot be imported.
        CatalogError: no provider has this name, or its manifest cannot be read.
    """
    manifest(provider)  # raises with the names of all providers, if this is none
    folder = provider_folder(provider).recipes
    for file in (folder / provider / "__init__.py", folder / f"{provider}.py"):
        if file.is_file():
            return _load_module(provider, file)
    return None


def recipes_path(provider: str) -> str:
    """Return where the recipes of a provider lie, or would, as a person would type it."""
    folder = provider_folder(provider).recipes / provider
    return display_path(folder if folder.is_dir() else folder.with_suffix(".py"))


def _load_module(provider: str, file: Path) -> ModuleType:
    # The name contains the path: two provider folders may have recipes for one provider.
    name = f"recipes_of_{provider}_{crc32(str(file).encode()):08x}"
    if name in sys.modules:
        return sys.modules[name]
    search_locations = [str(file.parent)] if file.name == "__init__.py" else None
    spec = spec_from_file_location(name, file, submodule_search_locations=search_locations)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        for module_name in list(sys.modules):
            if f"{module_name}.".startswith(f"{name}."):
                del sys.modules[module_name]  # half loaded
        raise _import_failure(error, file, name) from error
    return module


def _import_failure(error: Exception, file: Path, name: str) -> RecipeError:
    if isinstance(error, UserError):
        return RecipeError(error.what, error.mend, file=error.file or file, location=error.location)
    failing_file, line = _find_failing_line(error, file)
    is_within_recipes = isinstance(error, ImportError) and f"{error.name}.".startswith(f"{name}.")
    if not is_within_recipes and describe_missing_library(error):
        return RecipeError(describe_missing_library(error), file=failing_file, location=line)
    message = str(error).replace(f"{name}.", ".")  # as the import is written there
    return RecipeError(
        f"cannot be imported ({type(error).__name__}: {message})",
        "mend the recipes there",
        file=failing_file,
        location=line,
    )


def _find_failing_line(error: Exception, file: Path) -> tuple[Path, str]:
    """Return the file and line of the recipes that failed last."""
    if isinstance(error, SyntaxError) and error.filename:
        return Path(error.filename), str(error.lineno)
    frames = [frame for frame in extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(file.parent)]
    return (Path(frames[-1].filename), str(frames[-1].lineno)) if frames else (file, "")
