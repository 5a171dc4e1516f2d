"""Where providers are found: this package, the homes that other distributions bring, and the one a command names.

A home is a folder laid out as follows; of this package, recipes and targets lie in another folder:

    providers/pe.toml            the manifest
    records/pe/…                 the records
    schemas/envelopes/pe.json    the shapes of its bodies; schemas/limits_pe.json, the form of its limits
    facts/pe.tsv                 what its documents say
    recipes/pe.py                how its records are provoked, or a folder recipes/pe/ with relative imports
    targets/live.toml            where it is; targets/mock.toml, where a mock of it is
    divergences.json             what of it is accepted

A distribution brings one by an entry point of the group `catalog_probe.providers`, whose value names a package that is
such a folder. What two homes have, the nearest has: the one that was named, then those installed, then this package.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from catalog_probe.catalog.files import paths
from catalog_probe.catalog.model.errors import CatalogError, shown

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

GROUP = "catalog_probe.providers"
"""The group of the entry points by which an installed distribution brings a home."""

_MANIFESTS = "providers"


@dataclass(frozen=True, slots=True)
class Home:
    """A folder that holds everything about some providers, side by side."""

    folder: Path
    suite: Path | None = None
    """The folder of its recipes and targets, where they lie apart from its data."""

    @property
    def manifests(self) -> Path:
        return self.folder / _MANIFESTS

    @property
    def records(self) -> Path:
        return self.folder / "records"

    @property
    def schemas(self) -> Path:
        return self.folder / "schemas"

    @property
    def envelopes(self) -> Path:
        return self.schemas / "envelopes"

    @property
    def facts(self) -> Path:
        return self.folder / "facts"

    @property
    def recipes(self) -> Path:
        return (self.suite or self.folder) / "recipes"

    @property
    def targets(self) -> Path:
        return (self.suite or self.folder) / "targets"

    @property
    def accepted_differences(self) -> Path:
        return self.folder / "divergences.json"

    def providers(self) -> tuple[str, ...]:
        """The names of those that have a manifest here, in alphabetical order; reads none of them."""
        return names_in(self.manifests)


PACKAGE = Home(paths.shipped("catalog"), suite=paths.shipped("probes"))
"""What this package ships: its recipes and targets lie beside the tests that use them."""

_named: tuple[Home, ...] = ()
_forgetting: list[Callable[[], None]] = []


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """As functools.cache, for what is read from homes: forgotten where others are used."""
    kept = cache(function)
    _forgetting.append(kept.cache_clear)
    return cast("Callable[P, T]", kept)


def homes() -> tuple[Home, ...]:
    """Every home, the nearest first.

    Raises:
        CatalogError: a distribution names one that is none.
    """
    return (*_named, *_installed(), PACKAGE)


def use(named: Path | None) -> tuple[Path, ...]:
    """Look for providers in the home that a folder is, too; the folders of the records that are meant.

    A home may be named by its folder or by its records. Any other folder holds records of providers that are known
    already. Without one, all that is installed is meant, and no home that was named before.
    """
    found = home_of(named) if named is not None else None
    _set((found,) if found is not None and found != PACKAGE else ())
    if found is not None:
        return (found.records,)
    return (named,) if named is not None else installed_records()


def demanded(named: Path | None) -> tuple[Path, ...]:
    """As `use`, of folders that hold records.

    Raises:
        CatalogError: in one of them lies none.
    """
    return tuple(map(demand_records, use(named)))


def demand_records(folder: Path) -> Path:
    """A folder in which a record lies, or of a home: of nothing nobody should read that it is fine.

    Raises:
        CatalogError: it is none, or none is there.
    """
    if not folder.is_dir() or not (is_of_a_home(folder) or any(folder.rglob("*.json"))):
        raise no_folder(folder)
    return folder


def no_folder(folder: Path) -> CatalogError:
    """What is said of a folder of records that is none."""
    return CatalogError("is no folder of records", "name a folder that holds pa/, pb/, …", file=folder)


def also_use(named: Path) -> Path:
    """As `use`, and homes that were named before stay; the folder of the records."""
    found = home_of(named)
    if found is not None and found not in homes():
        _set((found, *_named))
    return found.records if found is not None else named


def installed_records() -> tuple[Path, ...]:
    """The folders of this package's records, and of those that distributions bring."""
    return (PACKAGE.records, *(each.records for each in _installed() if each.records.is_dir()))


def home_of(folder: Path) -> Home | None:
    """The home that a folder is, or whose records it holds; None where it is neither."""
    beside = (folder.parent,) if folder.name == PACKAGE.records.name else ()
    for each in (folder, *beside):
        if names_in(each / _MANIFESTS):
            found = Home(each.resolve())
            return PACKAGE if found.folder == PACKAGE.folder.resolve() else found
    return None


def is_of_a_home(records: Path) -> bool:
    """Whether a folder holds the records of a home, or of this package: where evidence of a mock has no place."""
    return home_of(records) is not None and records.name == PACKAGE.records.name


def demand_own(folder: Path) -> None:
    """Refuse a folder that an upgrade or a new environment would replace, with all that was written there.

    Raises:
        CatalogError: it lies in an installed package.
    """
    path = folder.resolve()
    ours = paths.installed() and path.is_relative_to(PACKAGE.folder.resolve())
    if ours or not {"site-packages", "dist-packages"}.isdisjoint(path.parts):
        mend = "name a folder of yours by `--catalog DIR`; `--update` into an empty one begins with the shipped records"
        raise CatalogError(
            "lies in an installed package, where an upgrade would lose what is written", mend, file=folder
        )


def begin_own(folder: Path) -> None:
    """Copy an installed package's records into a folder that is empty or yet to be; any other is left alone.

    A checkout has records to write into: there a name that is nowhere is a slip.
    """
    if not paths.installed():
        return
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        shutil.copytree(PACKAGE.records, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))


def named_home() -> Home | None:
    """The home that was named, where one was."""
    return _named[0] if _named else None


def option_for(records: Path) -> list[str]:
    """The option by which a printed command finds these records; nothing where it finds them unnamed."""
    if records in installed_records():
        return []
    home = home_of(records)
    return ["--catalog", shown(home.folder if home is not None else records)]


def names_in(manifests: Path) -> tuple[str, ...]:
    """The names of the providers whose manifests lie in a folder."""
    return tuple(sorted(path.stem for path in manifests.glob("*.toml") if not path.name.startswith(".")))


def first(part: Callable[[Home], Path]) -> Path | None:
    """Of the files that homes may have, that of the nearest which has it."""
    return next((path for path in map(part, homes()) if path.is_file()), None)


def forget() -> None:
    """Read everything anew, installed distributions too."""
    _installed.cache_clear()
    for each in _forgetting:
        each()


def _set(named: tuple[Home, ...]) -> None:
    global _named  # noqa: PLW0603 - which homes there are is said once, before anything is read
    if named != _named:
        _named = named
        forget()


@cache
def _installed() -> tuple[Home, ...]:
    return tuple(_brought(each.name, each.value) for each in sorted(entry_points(group=GROUP)))


def _brought(name: str, package: str) -> Home:
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        found = home_of(Path(folder))
        if found is not None:
            return found
    what = f"entry point {name!r} of {GROUP} names {package!r}, which is no package with a folder {_MANIFESTS}/"
    raise CatalogError(what, "reinstall the distribution that brings it, or mend its entry point")
