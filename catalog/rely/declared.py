"""Reads and writes rely.toml, a client's own word on what it leans on (`catalog/schemas/rely.json`)."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.model.errors import CatalogError
from catalog.model.text import decoded
from catalog.reading.schemas import SCHEMAS
from catalog.reading.strict_json import read_object
from catalog.reading.wording import told

if TYPE_CHECKING:
    from pathlib import Path

    from catalog.model import Json

ALL = ("*/*",)
"""Of a record, all that the documents state."""

MAX_AGE_DAYS = 35
"""A live night comes round to every endpoint in 28 days, and write-back renews a date that is older than 7."""


@dataclass(frozen=True, slots=True)
class Leaning:
    """One `[[rely]]`: records, and what of them is leaned on."""

    on: tuple[str, ...]
    assertions: tuple[str, ...] = ALL
    endpoints: tuple[str, ...] = ()
    """Where it has to hold; empty: on some endpoint, and on none otherwise."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Declared:
    """All that a client leans on, in the order of its file."""

    leanings: tuple[Leaning, ...]
    max_age_days: int = MAX_AGE_DAYS
    file: Path | None = None


def read(path: Path) -> Declared:
    """What a rely.toml declares.

    Raises:
        CatalogError: it cannot be read, or is not as the schema says; with the place in it.
    """
    try:
        data = json.loads(json.dumps(tomllib.loads(decoded(path.read_bytes())), default=str))
    except OSError as error:
        raise CatalogError(f"cannot be read ({error.strerror})", "name a rely.toml", file=path) from error
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, UnicodeDecodeError
        raise CatalogError(f"broken TOML: {error}", "mend it", file=path) from error
    for complaint in told(data, read_object(SCHEMAS / "rely.json")):
        place = complaint.json_path.removeprefix("$").removeprefix(".")
        raise CatalogError(complaint.message, complaint.mend, file=path, place=place)
    leanings = tuple(_leaning(each) for each in data["rely"])
    return Declared(leanings, data.get("max_age_days", MAX_AGE_DAYS), path)


def _leaning(data: Mapping[str, Json]) -> Leaning:
    keys, endpoints = data.get("assertions", ALL), data.get("endpoints", ())
    return Leaning(tuple(data["on"]), tuple(keys), tuple(endpoints), data.get("why", ""))


def written(leanings: Iterable[Leaning], heading: str = "") -> str:
    """The text of a rely.toml."""
    lines = [f"# {each}".rstrip() for each in heading.splitlines()]
    return "\n".join([*lines, *(line for each in leanings for line in _lines(each))]).lstrip("\n") + "\n"


def _lines(leaning: Leaning) -> Iterator[str]:
    yield from ("", "[[rely]]", f"on = {_list(leaning.on)}", f"assertions = {_list(leaning.assertions)}")
    if leaning.endpoints:
        yield f"endpoints = {_list(leaning.endpoints)}"
    if leaning.why:
        yield f"why = {_text(leaning.why)}"


def _list(texts: Iterable[str]) -> str:
    own = [_text(each) for each in texts]
    return f"[{own[0]}]" if len(own) == 1 else "\n".join(["[", *(f"  {each}," for each in own), "]"])


def _text(text: str) -> str:
    """A basic string of TOML; but for DEL, JSON writes what it needs escaped in the same way."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
