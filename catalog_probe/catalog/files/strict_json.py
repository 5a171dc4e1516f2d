"""Reads JSON files strictly: UTF-8, no key twice in an object, no NaN."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NoReturn

from catalog_probe.catalog.model.errors import CatalogError

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.model import Json


def read_object(path: Path) -> dict[str, Json]:
    """Read a file that holds one JSON object, and no key twice.

    Raises:
        CatalogError: the file cannot be read, is not JSON, repeats a key, or holds something else.
    """
    value = read_json(path)
    if not isinstance(value, dict):
        raise CatalogError("the file should hold one JSON object, slug -> record", "wrap its content in {}", file=path)
    return value


def read_json(path: Path) -> Json:
    """Read one JSON file strictly: UTF-8, no key twice in an object, no NaN."""
    try:
        text = path.read_bytes().decode()
        return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
    except OSError as error:
        raise CatalogError(f"cannot be read ({error.strerror or error})", "check the path", file=path) from error
    except UnicodeDecodeError as error:
        raise CatalogError("is not UTF-8", "save it as UTF-8", file=path, place=f"byte {error.start}") from error
    except json.JSONDecodeError as error:
        told = _trailing_comma(error) or error
        mend = "mend the JSON there, or on the line before"
        raise CatalogError(f"is not JSON ({told.msg})", mend, file=path, place=f"{told.lineno}:{told.colno}") from error
    except _RepeatedKey as error:
        key = str(error)
        mend = f"rename or remove one of the two {key!r}"
        raise CatalogError(f"{key!r} stands twice in one object", mend, file=path, place=_second(key, text)) from None
    except (ValueError, RecursionError) as error:
        raise CatalogError(f"is not JSON ({error})", "use only JSON values", file=path) from error


def _trailing_comma(error: json.JSONDecodeError) -> json.JSONDecodeError | None:
    """The mistake as one at the comma, if it is a comma that nothing follows; else None."""
    # Up to 3.12 Python points at the bracket, and expects a name or a value there; from 3.13 on at the comma.
    upto = error.doc[: error.pos].rstrip() if error.doc[error.pos : error.pos + 1] in ("}", "]") else ""
    comma = len(upto) - 1 if upto.endswith(",") else error.pos
    rest = error.doc[comma:]
    if rest[:1] == "," and rest[1:].lstrip()[:1] in ("}", "]"):
        return json.JSONDecodeError("a comma that nothing follows", error.doc, comma)
    return None


class _RepeatedKey(ValueError):
    pass


def _without_repeats(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKey(next(key for key in keys if keys.count(key) > 1))
    return unique


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _second(slug: str, text: str) -> str:
    """The line where a slug stands for the second time, in a file laid out as ours are; only errors pay for it."""
    entry = re.compile(rf"^(?:  |\t)?{re.escape(json.dumps(slug, ensure_ascii=False))}\s*:", re.MULTILINE)
    places = [text.count("\n", 0, match.start()) + 1 for match in entry.finditer(text)]
    return str(places[1]) if len(places) > 1 else ""
