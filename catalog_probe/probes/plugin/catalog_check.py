"""Refuses to probe providers whose records have a fault that `catalog-probe check` finds, other than in their form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.check import validate
from catalog_probe.catalog.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Container, Iterable
    from pathlib import Path


class UnsoundCatalogError(UserError):
    """The catalog cannot be probed: its first problem, how many there are, and what to do."""


def require_sound(roots: Iterable[Path], providers: Container[str]) -> None:
    """Check the records of these providers below each of these folders.

    Raises:
        UnsoundCatalogError: in one line.
    """
    for root in roots:
        if problem := validate.first_problem_of_run(root, providers):
            raise UnsoundCatalogError(problem)
