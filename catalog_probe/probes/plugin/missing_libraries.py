"""Reports a library that a run needs and that is not installed, in one line."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model.errors import describe_missing_library

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def report_missing_libraries() -> Iterator[None]:
    """Turn the failed import of a library inside the block into a usage error.

    Raises:
        UsageError: a library is not installed. A missing module of our own stays an import error.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        description = describe_missing_library(error)
        if not description:
            raise
        raise pytest.UsageError(description) from None
