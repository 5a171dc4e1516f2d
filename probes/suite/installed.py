"""A library that a run needs and nobody has installed, told in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

OURS = ("catalog", "mockserver", "probes", "reports")


@contextmanager
def all_installed() -> Iterator[None]:
    """Around what imports the libraries that a run needs.

    Raises:
        UsageError: one of them is not installed. A module of ours that is missing is a fault of ours, and stays one.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library in OURS or not library:
            raise
        told = f"{library} is not installed here; `python -m pip install -e .` installs what a run needs"
        raise pytest.UsageError(told) from None
