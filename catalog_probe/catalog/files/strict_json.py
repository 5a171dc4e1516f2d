"""Read JSON files strictly: UTF-8, no duplicate key in an object, no NaN or infinity, at most MAX_DEPTH levels."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, NoReturn

from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.text.json_tree import is_deeper_than

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Json


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
