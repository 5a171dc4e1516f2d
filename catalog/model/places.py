"""Where files lie that are named without a place: in the checkout, from wherever a command is called.

Installed without a checkout, it is the folder in which the command is called.
"""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).parent.parent.parent

RUNS = "reports/out"
"""Where runs leave their folders, as a person names it (DESIGN.md, contract 3)."""


def installed() -> bool:
    """Whether this code is part of no checkout."""
    return not (_ROOT / "pyproject.toml").is_file()


def home() -> Path:
    """The checkout that this code is part of, or the current folder where it is part of none."""
    return Path.cwd() if installed() else _ROOT


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
