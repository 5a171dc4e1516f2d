"""What a scaffold has left to be written: texts with the word TODO, which no check lets pass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.schema_messages import Complaint
from catalog_probe.catalog.text.json_tree import iterate_strings_with_pointers
from catalog_probe.catalog.text.phrases import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.model import Json

_LEFT = re.compile(r"\bTODO\b:?\s*(.*)", re.DOTALL)


def find_unfinished(value: Json, place: str = "$") -> Iterator[Complaint]:
    """Each text of a value that is still to be written, with where it is."""
    for pointer, text in iterate_strings_with_pointers(value):
        found = _LEFT.search(text)
        if found is not None:
            yield Complaint(
                place + pointer.replace("/", "."), "is still to be written", shorten(found[1], 160) or "write it"
            )
