"""Read files that others wrote: text, strict JSON, and JSON lines."""

from __future__ import annotations

import codecs
import errno
import io
import json
import math
import os
import re
from typing import TYPE_CHECKING, NoReturn

from catalog_probe.catalog.model.errors import CatalogError, UserError
from catalog_probe.catalog.text.json_values import is_deeper_than

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from catalog_probe.catalog.text.json_values import Json


def decode_text(raw: bytes, errors: str = "strict") -> str:
    """Decode UTF-8, with or without a byte order mark, or UTF-16 with one (PowerShell's `>` writes that).

    Raises:
        UnicodeDecodeError: it is neither, and `errors` is strict.
    """
    has_utf16_mark = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if has_utf16_mark else "utf-8-sig", errors)


MAX_DEPTH = 64
"""Levels of a file. Records and schemas have fewer than 20, and code that walks over them calls itself for each."""


def read_object(path: Path) -> dict[str, Json]:
    """Read a file that holds one JSON object.

    Raises:
        CatalogError: as `read_json`, or the file holds another value.
    """
    value = read_json(path)
    if not isinstance(value, dict):
        raise CatalogError("the file should hold one JSON object, slug -> record", "wrap its content in {}", file=path)
    return value


def read_json(path: Path) -> Json:
    """Read one JSON file.

    Raises:
        CatalogError: the file cannot be read, is not strict JSON, repeats a key in an object, or is nested too deep.
    """
    try:
        text = path.read_bytes().decode()
        value = json.loads(
            text,
            object_pairs_hook=_refuse_duplicates,
            parse_constant=_refuse_constant,
            parse_float=_parse_finite,
        )
    except OSError as error:
        raise CatalogError(f"cannot be read ({error.strerror or error})", "check the path", file=path) from error
    except UnicodeDecodeError as error:
        raise CatalogError("is not UTF-8", "save it as UTF-8", file=path, location=f"byte {error.start}") from error
    except json.JSONDecodeError as error:
        error = _trailing_comma_error(error) or error
        mend = "correct the JSON there or on the line before"
        position = f"{error.lineno}:{error.colno}"
        raise CatalogError(f"is not JSON ({error.msg})", mend, file=path, location=position) from error
    except _DuplicateKey as error:
        key = str(error)
        mend = f"rename or remove one of the two {key!r}"
        line = _line_of_duplicate(key, text)
        raise CatalogError(f"{key!r} occurs twice in one object", mend, file=path, location=line) from None
    except (ValueError, RecursionError) as error:
        raise CatalogError(f"is not JSON ({error})", "use only JSON values", file=path) from error
    if is_deeper_than(value, MAX_DEPTH):
        raise CatalogError("is nested too deep", f"write it in at most {MAX_DEPTH} levels", file=path)
    return value


def _trailing_comma_error(error: json.JSONDecodeError) -> json.JSONDecodeError | None:
    """Return an error at the comma if that is a comma before a closing bracket, else None."""
    # Up to 3.12 Python points at the bracket, and expects a name or a value there; from 3.13 on at the comma.
    is_at_bracket = error.doc[error.pos : error.pos + 1] in ("}", "]")
    text_before = error.doc[: error.pos].rstrip() if is_at_bracket else ""
    comma = len(text_before) - 1 if text_before.endswith(",") else error.pos
    if error.doc[comma : comma + 1] == "," and error.doc[comma + 1 :].lstrip()[:1] in ("}", "]"):
        return json.JSONDecodeError("a trailing comma", error.doc, comma)
    return None


class _DuplicateKey(ValueError):
    pass


def _refuse_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _DuplicateKey(next(key for key in keys if keys.count(key) > 1))
    return members


def _parse_finite(number: str) -> float:
    """Parse a number; `1e999` is no number that can be written again."""
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is too large")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _line_of_duplicate(key: str, text: str) -> str:
    """Return the line of a key's second occurrence in a file in canonical layout; empty if it is not found."""
    entry = re.compile(rf"^(?:  |\t)?{re.escape(json.dumps(key, ensure_ascii=False))}\s*:", re.MULTILINE)
    lines = [text.count("\n", 0, match.start()) + 1 for match in entry.finditer(text)]
    return str(lines[1]) if len(lines) > 1 else ""


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
