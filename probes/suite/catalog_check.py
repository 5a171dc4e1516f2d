"""Refuses to probe records in which `python -m catalog check` finds faults, other than of their form."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from catalog.check import remembered
from catalog.model.errors import Mendable


class Unsound(Mendable):
    """The catalog cannot be probed: its first problem, how many there are, and what to do."""


def demand(roots: Iterable[Path]) -> None:
    """Check the records below each of these folders, unless these very ones were found sound before.

    Raises:
        Unsound: in one line.
    """
    for root in roots:
        _demand(root)


def _demand(root: Path) -> None:
    if remembered.was_sound(root):
        return
    from catalog.check import validate

    problems = validate.check(root)
    if fault := validate.first_of(problems, root):
        raise Unsound(fault)
    if not problems:  # a wrong form stops no probe, and `python -m catalog check` has to tell it still
        remembered.remember(root)
