"""How this copy of the package is installed, and what brings a library that is missing.

The package alone needs no library. The extra `mock` brings what the mock needs, and `probe` what the whole suite needs.
"""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent
CHECKOUT = PACKAGE.parent
"""The folder of the package; meaningful only in a checkout."""


def is_installed() -> bool:
    """Whether this code runs from an installed copy and not from a checkout."""
    return not (CHECKOUT / "pyproject.toml").is_file()


def describe_missing_library(error: BaseException, extra: str = "probe") -> str:
    """Return which library an import error is about and how to install it, or an empty string.

    Example: `ModuleNotFoundError("pytest")` -> "pytest is not installed here; `python -m pip install
    'catalog-probe[probe]'` installs what this command needs". In a checkout, `-e '.[probe]'` is what to install.

    A missing module of our own is a defect of ours, so it is not described. Of an exception group, the first member
    that is about a library counts.
    """
    if isinstance(error, BaseExceptionGroup):
        descriptions = (describe_missing_library(member, extra) for member in error.exceptions)
        return next(filter(None, descriptions), "")
    if not isinstance(error, ModuleNotFoundError):
        return ""
    library = (error.name or "").partition(".")[0]
    if library in (PACKAGE.name, ""):
        return ""
    what = f"'catalog-probe[{extra}]'" if is_installed() else f"-e '.[{extra}]'"
    return f"{library} is not installed here; `python -m pip install {what}` installs what this command needs"
