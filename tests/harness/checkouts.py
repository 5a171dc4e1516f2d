"""Copies of this checkout, and a folder that takes its place, so that a test writes nothing into the real one."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import paths
from tests.harness.command import CHECKOUT

if TYPE_CHECKING:
    import pytest

_UNFINISHED = shutil.ignore_patterns(".cache", "*.pyc.*")
"""Locks, and compiled code before it has its name: other tests make and remove them while this one copies."""


def copied(folder: Path, to: Path) -> Path:
    """A copy of a folder of the checkout, with what was compiled: else whoever runs there compiles all of it anew."""
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
        copied(CHECKOUT / source, site / target)


def parts(to: Path, *names: str) -> Path:
    """A copy of these files and folders of the checkout."""
    for name in names:
        path = CHECKOUT / name
        (copied if path.is_dir() else shutil.copy2)(path, to / name)
    return to


def as_checkout(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Commands are called there, and take it for the checkout."""
    patch.chdir(folder)
    patch.setattr(paths, "base_folder", lambda: folder)
