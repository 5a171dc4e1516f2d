"""Refuses to probe providers in whose records `catalog-probe check` finds faults, other than of their form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.check import validate
from catalog_probe.catalog.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Container, Iterable
    from pathlib import Path


class Unsound(UserError):
    """The catalog cannot be probed: its first problem, how many there are, and what to do."""


def demand(roots: Iterable[Path], providers: Container[str]) -> None:
    """Check the records of these providers below each of these folders.

    Raises:
        Unsound: in one line.
    """
    for root in roots:
        if fault := validate.first_problem_of_run(root, providers):
            raise Unsound(fault)
