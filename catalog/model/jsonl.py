"""JSON lines, as a process that may be killed at any moment leaves them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from catalog.model.errors import Mendable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from catalog.model.json_value import Json


class BrokenLineError(Mendable):
    """A line that is not JSON and that no kill explains: where it stands (`file:line`), and what to do."""


def values(raw: bytes, file: Path) -> Iterator[tuple[str, Json]]:
    """Each line's value with where it stands, as `file:line`; blank lines are passed over.

    Only what comes after the last line break can have been cut short: where that is not JSON, it is left out.

    Raises:
        BrokenLineError: another line is not JSON.
    """
    lines = raw.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            if number == len(lines):
                return
            raise BrokenLineError(f"broken JSON ({error})", "remove the line", place=f"{file}:{number}") from error
        yield f"{file}:{number}", value
