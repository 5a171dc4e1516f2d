"""Paths of shipped data, of runs, and of the files that a user names.

In a checkout all of them are in the checkout, whatever the current folder is. In an installed copy the data is inside
the package, and everything that a command reads or writes is relative to the current folder.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
_CHECKOUT = _PACKAGE.parent

RUNS = "reports/out"
"""The folder of all runs, as a user writes it (DESIGN.md, contract 3)."""


def is_installed() -> bool:
    """Whether this code runs from an installed copy and not from a checkout."""
    return not (_CHECKOUT / "pyproject.toml").is_file()


def shipped_folder(name: str) -> Path:
    """Return the shipped `catalog`, `probes` or `reports`; the wheel has them below the package (pyproject.toml)."""
    return (_PACKAGE / "shipped" if is_installed() else _CHECKOUT) / name


def base_folder() -> Path:
    """Return the checkout, or in an installed copy the current folder."""
    return Path.cwd() if is_installed() else _CHECKOUT


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
