"""Tell the user which third-party library is not installed."""

from __future__ import annotations

OWN_PACKAGE = "catalog_probe"


def describe_missing_library(error: BaseException) -> str:
    """Return which library an import error is about and how to install it, or an empty string.

    A missing module of our own is a defect of ours, so it is not described. Of an exception group, the first member
    that is about a library counts.
    """
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(describe_missing_library, error.exceptions)), "")
    if not isinstance(error, ModuleNotFoundError):
        return ""
    library = (error.name or "").partition(".")[0]
    if library in (OWN_PACKAGE, ""):
        return ""
    return f"{library} is not installed here; `python -m pip install -e .` installs what a run needs"
