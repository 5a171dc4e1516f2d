"""Read JSON lines files whose writer may have been killed in the middle of a line."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.text.json_value import Json


class BrokenLineError(UserError):
    """A line that is not JSON although it is complete, with its position (`file:line`)."""


def parse_lines(
    raw: bytes | Iterable[bytes], file: Path, skipped: list[str] | None = None
) -> Iterator[tuple[str, Json]]:
    """Yield the position (`file:line`) and the value of each line that is not blank.

    An incomplete last line is left out silently. Any other line that is not JSON is described in `skipped`, if that is
    given.

    Raises:
        BrokenLineError: such a line, if `skipped` is not given.
    """
    for number, line in enumerate(io.BytesIO(raw) if isinstance(raw, bytes) else raw, start=1):
        if not line.strip():
            continue
        position = f"{file}:{number}"
        try:
            yield position, json.loads(line.decode("utf-8-sig"))  # an editor may have added a byte order mark
        except (ValueError, RecursionError) as error:
            # A killed writer leaves at most one line without its end.
            if not line.endswith(b"\n"):
                return
            description = _describe_broken_line(line, error)
            if skipped is None:
                raise BrokenLineError(description, "remove the line", location=position) from error
            skipped.append(f"{position}: {description}")


def _describe_broken_line(line: bytes, error: ValueError | RecursionError) -> str:
    if b"\0" in line:
        return "broken JSON (NUL bytes, as a machine that lost its power leaves them)"
    if isinstance(error, UnicodeDecodeError):
        return "broken JSON (it is not UTF-8)"
    if isinstance(error, RecursionError):
        return "broken JSON (nested too deep)"
    return f"broken JSON ({error})"
