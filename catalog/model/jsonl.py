"""JSON lines, as a process that may be killed at any moment leaves them."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, NamedTuple

from catalog.model.errors import Mendable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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
    return ((f"{file}:{line.number}", line.value) for line in lines(io.BytesIO(raw), file))


class Line(NamedTuple):
    """A line that holds something: its number, which of the file's bytes it is, and its value."""

    number: int
    offset: int
    size: int
    value: Json


def lines(raw: Iterable[bytes], file: Path) -> Iterator[Line]:
    """As `values`, of a file that is read line by line.

    Raises:
        BrokenLineError: a line that was not cut short is not JSON.
    """
    offset = 0
    for number, line in enumerate(raw, start=1):
        if line.strip():
            try:
                yield Line(number, offset, len(line), json.loads(line))
            except (ValueError, RecursionError) as error:
                if not line.endswith(b"\n"):
                    return
                what = f"broken JSON ({error})" if isinstance(error, ValueError) else "JSON that nests too deep"
                raise BrokenLineError(what, "remove the line", place=f"{file}:{number}") from error
        offset += len(line)
