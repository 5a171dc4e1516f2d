"""Which library a command lacks, in one line; a module of ours that is missing is a fault of ours."""

from __future__ import annotations

OURS = "catalog_probe"


def missing(error: BaseException) -> str:
    """What is not installed and what installs it; empty where it is no library that is missing.

    Of several errors that came at once, the first that says so.
    """
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(missing, error.exceptions)), "")
    if not isinstance(error, ModuleNotFoundError):
        return ""
    library = (error.name or "").partition(".")[0]
    if library in (OURS, ""):
        return ""
    return f"{library} is not installed here; `python -m pip install -e .` installs what a run needs"
