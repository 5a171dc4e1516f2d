"""A library that a run needs and nobody has installed, told in one line."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.files.missing_library import describe_missing_library

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def all_installed() -> Iterator[None]:
    """Around what imports the libraries that a run needs.

    Raises:
        UsageError: one of them is not installed. A module of ours that is missing is a fault of ours, and stays one.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        told = describe_missing_library(error)
        if not told:
            raise
        raise pytest.UsageError(told) from None
