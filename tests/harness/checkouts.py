"""Copies of this checkout, so that a test writes nothing into the real one."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    import pytest

_UNFINISHED = shutil.ignore_patterns(".cache", "*.pyc.*")
"""Locks and temporary bytecode files: other tests make and remove them while this one copies."""


def copy_folder(folder: Path, to: Path) -> Path:
    """Copy a folder of the checkout with its bytecode: a process there would compile everything again."""
    shutil.copytree(folder, to, ignore=_ignore)
    return to


def _ignore(folder: str, names: list[str]) -> set[str]:
    outputs = {"out", "history"} if Path(folder) == CHECKOUT / "reports" else set()
    return _UNFINISHED(folder, names) | outputs


def wheel_layout() -> dict[str, str]:
    """Return the folders that a wheel holds: where each lies in the checkout, and where in site-packages."""
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    return {**{package: package for package in wheel["packages"]}, **wheel["force-include"]}


def install_into(site: Path) -> None:
    """Copy the package and its data into a folder, laid out as in a wheel."""
    for source, target in wheel_layout().items():
        copy_folder(CHECKOUT / source, site / target)


def copy_parts(to: Path, *names: str) -> Path:
    """Copy these files and folders of the checkout into a folder, and return it."""
    for name in names:
        path = CHECKOUT / name
        (copy_folder if path.is_dir() else shutil.copy2)(path, to / name)
    return to


def remove_providers(catalog: Path, *names: str) -> None:
    """Remove providers from a copy of the catalog that needs to hold the others alone."""
    for name in names:
        shutil.rmtree(catalog / "records" / name)
        (catalog / "facts" / f"{name}.tsv").unlink()
        (catalog / "providers" / f"{name}.toml").unlink()


def use_as_checkout(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Make a folder the working directory, and have commands take it for the checkout."""
    patch.chdir(folder)
    patch.setattr(provider_folders, "base_folder", lambda: folder)
