"""Where files lie: the data that is shipped, and what a command names or writes.

In a checkout both lie in the checkout, from wherever a command is called. Installed, the data lies inside the package,
and what a command names or writes lies in the folder in which it is called.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
_CHECKOUT = _PACKAGE.parent

RUNS = "reports/out"
"""Where runs leave their folders, as a person names it (DESIGN.md, contract 3)."""


def installed() -> bool:
    """Whether this code is part of no checkout."""
    return not (_CHECKOUT / "pyproject.toml").is_file()


def shipped(folder: str) -> Path:
    """The shipped `catalog`, `probes` or `reports`; the wheel has them below the package (pyproject.toml)."""
    return (_PACKAGE / "shipped" if installed() else _CHECKOUT) / folder


def home() -> Path:
    """The checkout that this code is part of, or the current folder where it is part of none."""
    return Path.cwd() if installed() else _CHECKOUT


def meant(named: str | Path) -> Path:
    """The file or folder that a person means: as the current folder has it, or else as the checkout has it."""
    path, there = Path(named), home() / named
    try:
        return there if there.exists() and not path.exists() else path
    except OSError:  # too long a name, for instance: whoever opens it says so
        return path


def runs() -> Path:
    """Where runs leave their folders."""
    return home() / RUNS


def meant_run(named: str | Path) -> Path:
    """The run that a person means: its folder or a file of it, as `meant` finds them, or else its name below RUNS."""
    path, below = meant(named), runs() / named
    try:
        return below if below.is_dir() and not path.exists() else path
    except OSError:
        return path


def latest() -> Path:
    """The folder of the last run."""
    return runs() / "latest"


def history() -> Path:
    """What earlier runs ended with, a line each."""
    return home() / "reports" / "history"
