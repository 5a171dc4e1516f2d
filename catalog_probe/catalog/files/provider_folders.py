"""Where files are: provider folders, shipped data, runs, and what a user names.

In a checkout all of them are in the checkout, whatever the current folder is. In an installed copy the data is inside
the package, and everything that a command reads or writes is relative to the current folder.

A provider folder has this layout. In the shipped one, recipes and targets are in another folder.

    providers/pe.toml            the manifest
    records/pe/…                 the records
    schemas/envelopes/pe.json    the shapes of its bodies; schemas/limits_pe.json, the form of its limits
    facts/pe.tsv                 the statements of its documents
    recipes/pe.py                how its records are provoked, or a folder recipes/pe/ with relative imports
    targets/live.toml            its addresses; targets/mock.toml, the addresses of a mock of it
    divergences.json             the accepted differences

A distribution brings one by an entry point of the group `catalog_probe.providers`, whose value names a package that is
such a folder. If two folders have the same thing, the nearest wins: the named one, then installed ones, then ours.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from catalog_probe import installation
from catalog_probe.catalog.model.errors import CatalogError, display_path

if TYPE_CHECKING:
    from collections.abc import Callable


RUNS = "reports/out"
"""The folder of all runs, as a user writes it (DESIGN.md, contract 3)."""


def shipped_folder(name: str) -> Path:
    """Return the shipped `catalog`, `probes` or `reports`; the wheel has them below the package (pyproject.toml)."""
    return (installation.PACKAGE / "shipped" if installation.is_installed() else installation.CHECKOUT) / name


def base_folder() -> Path:
    """Return the checkout, or in an installed copy the current folder."""
    return Path.cwd() if installation.is_installed() else installation.CHECKOUT


def runs_folder() -> Path:
    """Return the folder of all runs."""
    return base_folder() / RUNS


def latest_run() -> Path:
    """Return the folder of the latest run."""
    return runs_folder() / "latest"


def history_folder() -> Path:
    """Return the folder of the history: a line for each earlier run."""
    return base_folder() / "reports" / "history"


def locate(name: str | Path) -> Path:
    """Find a file or folder that a user names: from the current folder, else from the base folder."""
    path, fallback = Path(name), base_folder() / name
    return fallback if _exists(fallback) and not _exists(path) else path


def locate_run(name: str | Path) -> Path:
    """Find a run that a user names: its folder or a file in it, as `locate` does, else its name below RUNS."""
    path, fallback = locate(name), runs_folder() / name
    return fallback if _exists(fallback) and fallback.is_dir() and not _exists(path) else path


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # the name is too long, for instance; opening the file reports it
        return False


P = ParamSpec("P")
T = TypeVar("T")

ENTRY_POINT_GROUP = "catalog_probe.providers"

_MANIFESTS = "providers"


@dataclass(frozen=True, slots=True)
class ProviderFolder:
    """A folder with everything about some providers."""

    path: Path
    suite: Path | None = None
    """The folder of recipes and targets, if they are not beside the data."""

    @property
    def manifests(self) -> Path:
        return self.path / _MANIFESTS

    @property
    def records(self) -> Path:
        return self.path / "records"

    @property
    def schemas(self) -> Path:
        return self.path / "schemas"

    @property
    def envelopes(self) -> Path:
        return self.schemas / "envelopes"

    @property
    def facts(self) -> Path:
        return self.path / "facts"

    @property
    def recipes(self) -> Path:
        return (self.suite or self.path) / "recipes"

    @property
    def targets(self) -> Path:
        return (self.suite or self.path) / "targets"

    @property
    def accepted_differences(self) -> Path:
        return self.path / "divergences.json"

    def providers(self) -> tuple[str, ...]:
        """List the providers that have a manifest here, without reading any."""
        return provider_names(self.manifests)


SHIPPED = ProviderFolder(shipped_folder("catalog"), suite=shipped_folder("probes"))

_named_folders: tuple[ProviderFolder, ...] = ()
_cache_clears: list[Callable[[], None]] = []


def cached_per_folders(function: Callable[P, T]) -> Callable[P, T]:
    """Cache the results of a function as functools.cache does, until other provider folders are used."""
    cached = cache(function)
    _cache_clears.append(cached.cache_clear)
    return cast("Callable[P, T]", cached)


def clear_caches() -> None:
    """Forget everything that was read from provider folders, and which distributions are installed."""
    _installed_folders.cache_clear()
    for clear in _cache_clears:
        clear()


def all_folders() -> tuple[ProviderFolder, ...]:
    """List every provider folder, the nearest first.

    Raises:
        CatalogError: the entry point of a distribution names something else.
    """
    return (*_named_folders, *_installed_folders(), SHIPPED)


def named_folder() -> ProviderFolder | None:
    """Return the provider folder that the user named, if any."""
    return _named_folders[0] if _named_folders else None


def use(path: Path | None) -> tuple[Path, ...]:
    """Use the provider folder at a path, and return the folders of the records that a command works on.

    The path may also be the `records/` of a provider folder. Any other folder holds records of providers that are known
    already. None selects everything that is installed, and drops the folder that was named before.
    """
    folder = find_folder(path) if path is not None else None
    _set_named_folders((folder,) if folder is not None and folder != SHIPPED else ())
    if folder is not None:
        return (folder.records,)
    return (path,) if path is not None else installed_records()


def use_records(path: Path | None) -> tuple[Path, ...]:
    """Do what `use` does, and require that each folder holds records.

    Raises:
        CatalogError: a folder holds none.
    """
    return tuple(map(require_records, use(path)))


def use_also(path: Path) -> Path:
    """Use the provider folder at a path besides those in use, and return the folder of its records."""
    folder = find_folder(path)
    if folder is None:
        return path
    if folder not in all_folders():
        _set_named_folders((folder, *_named_folders))
    return folder.records


def require_records(folder: Path) -> Path:
    """Return a folder if it holds a record or belongs to a provider folder: a check of nothing must not pass.

    Raises:
        CatalogError: it does neither.
    """
    if not folder.is_dir() or not (is_provider_records(folder) or any(folder.rglob("*.json"))):
        raise no_records_error(folder)
    return folder


def no_records_error(folder: Path) -> CatalogError:
    """Make the error for a path that is no folder of records."""
    mend = "name a folder that holds pa/, pb/, …"
    if not folder.exists():
        return CatalogError("is not there", f"{mend}; `probe --update` on a live target makes one", file=folder)
    return CatalogError("is no folder of records", mend, file=folder)


def installed_records() -> tuple[Path, ...]:
    """List the folders of records that are shipped or that distributions bring."""
    return (SHIPPED.records, *(folder.records for folder in _installed_folders() if folder.records.is_dir()))


def find_folder(path: Path) -> ProviderFolder | None:
    """Return the provider folder at a path, or the one whose `records/` the path is; None if there is neither."""
    candidates = (path, path.parent) if path.name == SHIPPED.records.name else (path,)
    for candidate in candidates:
        if provider_names(candidate / _MANIFESTS):
            folder = ProviderFolder(candidate.resolve())
            return SHIPPED if folder.path == SHIPPED.path.resolve() else folder
    return None


def is_provider_records(records: Path) -> bool:
    """Whether a path is the `records/` of a provider folder, where evidence of a mock must not be written."""
    return find_folder(records) is not None and records.name == SHIPPED.records.name


def require_own(folder: Path) -> None:
    """Refuse to write into a folder that an upgrade or a new environment would replace.

    Raises:
        CatalogError: it is in an installed package.
    """
    path = folder.resolve()
    is_shipped = installation.is_installed() and path.is_relative_to(SHIPPED.path.resolve())
    if is_shipped or not {"site-packages", "dist-packages"}.isdisjoint(path.parts):
        mend = "name a folder of yours by `--catalog DIR`; `--update` into an empty one begins with the shipped records"
        raise CatalogError("is in an installed package: an upgrade would lose what is written", mend, file=folder)


def copy_shipped_records(folder: Path) -> None:
    """Copy the records of an installed copy into a folder that is empty or does not exist; leave any other alone."""
    if not installation.is_installed():
        return  # a checkout has records to write into: there a folder that does not exist is a mistyped name
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        shutil.copytree(SHIPPED.records, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))


def catalog_option(records: Path) -> list[str]:
    """Return the option by which a printed command finds these records; empty if it finds them without."""
    if records in installed_records():
        return []
    folder = find_folder(records)
    return ["--catalog", display_path(folder.path if folder is not None else records)]


def provider_names(manifests: Path) -> tuple[str, ...]:
    """List the providers whose manifests are in a folder, in alphabetical order."""
    return tuple(sorted(path.stem for path in manifests.glob("*.toml") if not path.name.startswith(".")))


def find_file(path_in: Callable[[ProviderFolder], Path]) -> Path | None:
    """Find a file that any provider folder may have: `path_in` says where; the nearest one wins."""
    return next((path for path in map(path_in, all_folders()) if path.is_file()), None)


def _set_named_folders(folders: tuple[ProviderFolder, ...]) -> None:
    global _named_folders  # noqa: PLW0603 - a command names its folder once, before anything is read
    if folders != _named_folders:
        _named_folders = folders
        clear_caches()


@cache
def _installed_folders() -> tuple[ProviderFolder, ...]:
    return tuple(_load_entry_point(entry.name, entry.value) for entry in sorted(entry_points(group=ENTRY_POINT_GROUP)))


def _load_entry_point(name: str, package: str) -> ProviderFolder:
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    for location in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = find_folder(Path(location))
        if folder is not None:
            return folder
    entry = f"entry point {name!r} of {ENTRY_POINT_GROUP}"
    what = f"{entry} names {package!r}, which is no package with a folder {_MANIFESTS}/"
    raise CatalogError(what, "reinstall the distribution that brings it, or correct its entry point")
