"""What is wrong, where, and what to do: the errors that a person can mend."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING, ClassVar

from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.text.visible import line

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LONGEST = 1_000
"""Characters of a line that tells what to mend: what somebody typed or a file holds may be of any length."""


class Mendable(Exception):
    """Something that a person must mend: what is wrong and what to do; which file, and where in it, if it is in one.

    Its text is one line, `file:place: what; mend`. The base of our errors.
    """

    status: ClassVar[Exit] = Exit.USAGE
    """The exit status of a command that it ends."""

    def __init__(self, what: str, mend: str = "", *, file: Path | None = None, place: str = "") -> None:
        super().__init__(what)
        self.what, self.mend, self.file, self.place = what, mend, file, place

    def __str__(self) -> str:
        where = ":".join(part for part in (shown(self.file) if self.file else "", self.place) if part)
        said = "; ".join(part for part in (self.what, self.mend) if part)
        return line(f"{where}: {said}" if where else said, LONGEST)


class CatalogError(Mendable):
    """Something about the catalog that a person must mend: which file, where in it, what is wrong, what to do."""


def shown(path: Path) -> str:
    """A path as a person at this working directory would type it."""
    try:
        near = os.path.relpath(path)
    except ValueError:
        return str(path)
    return str(path) if near.startswith("..") else near


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean x?`, or an empty string where nothing comes near. Addresses look alike: they must come nearer."""
    near = difflib.get_close_matches(word, list(known), n=2, cutoff=0.85 if "/" in word else 0.7)
    return f"did you mean {' or '.join(near)}?" if near else ""
