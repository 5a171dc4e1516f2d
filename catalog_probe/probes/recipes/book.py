"""The recipe book of a provider: its recipes, loaded, with the fault-free ones."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING
from zlib import crc32

from catalog_probe.catalog.files.manifest import Control, manifest, provider_folder
from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.model import Address, Reason
from catalog_probe.catalog.model.errors import UserError, display_path
from catalog_probe.catalog.model.exchange import SUCCESS
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.installation import describe_missing_library
from catalog_probe.probes.calls import Call, Removal
from catalog_probe.probes.recipes.recipe import Recipe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import ModuleType

    from catalog_probe.probes.recipes.minimal_requests import MinimalRequests


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


@dataclass(frozen=True, slots=True)
class RecipeBook:
    """All recipes of one provider.

    Attributes:
        recipes: by the address of their record.
        unprobed: the reason of every record that has no recipe on purpose.
        controls: the cheapest free request for each credential role, as the provider's manifest names it.
        minimal_requests: the smallest request of each endpoint.
        removals: how what recipes make is removed, by name.
    """

    recipes: Mapping[str, Recipe]
    unprobed: Mapping[str, Reason]
    controls: Mapping[str, Call]
    minimal_requests: MinimalRequests = field(default_factory=dict)
    removals: Mapping[str, Removal] = field(default_factory=dict)


@cached_per_folders
def recipe_book(provider: str) -> RecipeBook:
    """Load the recipes of a provider.

    Raises:
        RecipeError: two recipes for one record, a recipe and a reason against one, or recipes that cannot be read.
        CatalogError: no provider has this name, or its manifest cannot be read.
    """
    path = recipes_path(provider)
    controls = {role: _control_call(control) for role, control in manifest(provider).controls.items()}
    package = load_recipes_module(provider)
    if package is None:
        return RecipeBook({}, {}, controls)
    recipes: dict[str, Recipe] = {}
    unprobed = {address: Reason(*reason) for address, reason in getattr(package, "UNPROBED", {}).items()}
    for provided in (
        provided for module in getattr(package, "FAMILIES", (package,)) for provided in _list_recipes(module)
    ):
        if provided.address in recipes:
            raise RecipeError(f"two recipes for {provided.address}", f"keep one of them in {path}")
        if provided.address in unprobed:
            raise RecipeError(f"{provided.address} has a recipe and a reason for having none", "keep one of them")
        recipes[provided.address] = provided
    removals = _index_removals(getattr(package, "REMOVALS", ()), path)
    minimal_requests = getattr(package, "MINIMAL_REQUESTS", {})
    return RecipeBook(recipes, unprobed, controls, minimal_requests, removals)


def find_control(recipe: Recipe) -> Call | None:
    """Return the request that shows that key and host of a recipe work: its own control, or the lane's."""
    return recipe.control or recipe_book(recipe.provider).controls.get(recipe.credential)


def _control_call(control: Control) -> Call:
    return Call(control.method, control.path, query=control.query, service=control.address)


def _list_recipes(module: ModuleType) -> list[Recipe]:
    """List the rows of the module's RECIPES table, and the recipes that are constants of the module."""
    table = list(getattr(module, "RECIPES", ()))
    return [*table, *(value for value in vars(module).values() if isinstance(value, Recipe))]


def _index_removals(removals: Iterable[Removal], path: str) -> dict[str, Removal]:
    removal_by_name: dict[str, Removal] = {}
    for removal in removals:
        if removal_by_name.setdefault(removal.name, removal) != removal:
            raise RecipeError(f"two removals are called {removal.name!r}", f"rename one of them in {path}")
    return removal_by_name


# The label of the request; no record judges it.
FAULT_FREE = "twin"

# Why an endpoint has no fault-free request.
NEEDS_SETUP = "its success needs something made first, by other requests"


def fault_free_request(endpoint: str) -> Recipe | Reason:
    """Return how an endpoint is asked without a fault, or why it cannot be.

    The recipes declare it (`FAULT_FREE_REQUESTS`, or why there is none: `NO_FAULT_FREE_REQUEST`). Else it is the
    successful call of the endpoint's own recipe.
    """
    provider = Address.parse(endpoint).provider
    recipes, reasons = _declared_requests(provider)
    if endpoint in recipes:
        return recipes[endpoint]
    if endpoint in reasons:
        return Reason(ReasonCode.NO_RECIPE, reasons[endpoint])
    own = recipe_book(provider).recipes.get(endpoint)
    if own is None or SUCCESS not in own.calls:
        return Reason(ReasonCode.NO_RECIPE, "no request without a fault is declared for it")
    calls = {FAULT_FREE: own.calls[SUCCESS]}
    return Recipe(address=endpoint, calls=calls, cost=own.cost, credential=own.credential, tokens=own.tokens)


@cached_per_folders
def _declared_requests(provider: str) -> tuple[Mapping[str, Recipe], Mapping[str, str]]:
    package = load_recipes_module(provider)
    recipes: tuple[Recipe, ...] = getattr(package, "FAULT_FREE_REQUESTS", ())
    return {recipe.address: recipe for recipe in recipes}, getattr(package, "NO_FAULT_FREE_REQUEST", {})
