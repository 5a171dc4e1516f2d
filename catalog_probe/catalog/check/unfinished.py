"""Find texts that a scaffold left to be written: those with the word TODO."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.schema_messages import Complaint
from catalog_probe.catalog.text.json_tree import iterate_strings_with_pointers
from catalog_probe.catalog.text.phrases import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.model import Json

_TODO = re.compile(r"\bTODO\b:?\s*(.*)", re.DOTALL)


def find_unfinished(value: Json) -> Iterator[Complaint]:
    """Complain about each string in a value that contains TODO; the text after it is the mend."""
    for pointer, text in iterate_strings_with_pointers(value):
        match = _TODO.search(text)
        if match is not None:
            path = "$" + pointer.replace("/", ".")
            yield Complaint(path, "is still to be written", shorten(match[1], 160) or "write it")
