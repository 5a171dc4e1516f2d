"""JSON lines, as a process that may be killed at any moment leaves them."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.errors import Mendable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.text.json_value import Json


class BrokenLineError(Mendable):
    """A line that is not JSON and that no kill explains: where it stands (`file:line`), and what to do."""


def values(raw: bytes | Iterable[bytes], file: Path, left_out: list[str] | None = None) -> Iterator[tuple[str, Json]]:
    """Each line's value with where it stands, as `file:line`; blank lines are passed over.

    Only what comes after the last line break can have been cut short: where that is not JSON, it is left out.

    Of another one that is not JSON it is noted in `left_out` where it stands and what it is, where that is given.

    Raises:
        BrokenLineError: another line is not JSON, and nobody wants to go on without it.
    """
    for number, line in enumerate(io.BytesIO(raw) if isinstance(raw, bytes) else raw, start=1):
        if not line.strip():
            continue
        place = f"{file}:{number}"
        try:
            yield place, json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            if not line.endswith(b"\n"):
                return
            what = _what(line, error)
            if left_out is None:
                raise BrokenLineError(what, "remove the line", place=place) from error
            left_out.append(f"{place}: {what}")


def _what(line: bytes, error: ValueError | RecursionError) -> str:
    if b"\0" in line:
        return "broken JSON (NUL bytes, as a machine that lost its power leaves them)"
    if isinstance(error, UnicodeDecodeError):
        return "broken JSON (it is not UTF-8)"
    return f"broken JSON ({error})" if isinstance(error, ValueError) else "JSON that nests too deep"
