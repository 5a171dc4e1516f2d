"""Open and read JSON lines files, which somebody else may have made, or whose writer was killed within a line."""

from __future__ import annotations

import errno
import io
import json
import os
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.text.json_value import Json


class BrokenLineError(UserError):
    """A line that is not JSON although it is complete, with its position (`file:line`)."""


def open_without_link(path: Path, flags: int, mode: int = 0o666) -> int:
    """Open a file, and return its descriptor. A link in its place is not followed.

    A journal, a run or a history may come from an artifact or a branch. A link there would have us read, or write to,
    a file of its author's choice. Links to folders, as `latest`, are ours or chosen by a person.

    Raises:
        OSError: the path is a link, or cannot be opened.
    """
    try:
        return os.open(path, flags | os.O_NOFOLLOW, mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(error.errno, "it is a link, and a link is not followed", str(path)) from None
        raise


def read_without_link(path: Path) -> bytes:
    """Read a file whole; see `open_without_link`.

    Raises:
        OSError: the path is a link, or cannot be read.
    """
    with os.fdopen(open_without_link(path, os.O_RDONLY), "rb") as file:
        return file.read()


def is_cut_short(descriptor: int) -> bool:
    """Whether the last line of an open file lacks its end, as a kill or a full disk leaves it."""
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"


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
