"""Read rely.toml, in which a client lists what it depends on (`catalog/schemas/rely.json`)."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.schema_messages import find_complaints
from catalog_probe.catalog.files.schemas import SCHEMAS
from catalog_probe.catalog.files.strict_json import read_object
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.text.text_files import decode_text

if TYPE_CHECKING:
    from pathlib import Path

ALL = ("*/*",)
"""Every assertion of a record."""

MAX_AGE_DAYS = 35
"""The default: nightly runs reach every endpoint in 28 days, and write-back renews dates older than 7 days."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """One `[[rely]]`: patterns of records, and of the assertions that a client depends on."""

    on: tuple[str, ...]
    assertions: tuple[str, ...] = ALL
    endpoints: tuple[str, ...] = ()
    """Endpoints on which the assertions must match; empty if one endpoint is enough and none may differ."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class RelyFile:
    """The dependencies of a client, in the order of its file."""

    dependencies: tuple[Dependency, ...]
    max_age_days: int = MAX_AGE_DAYS
    path: Path | None = None


def read_rely_file(path: Path) -> RelyFile:
    """Read a rely.toml.

    Raises:
        CatalogError: it cannot be read or does not follow the schema; with the place in it.
    """
    try:
        data = json.loads(json.dumps(tomllib.loads(decode_text(path.read_bytes())), default=str))
    except OSError as error:
        raise CatalogError(f"cannot be read ({error.strerror})", "name a rely.toml", file=path) from error
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, UnicodeDecodeError
        raise CatalogError(f"broken TOML: {error}", "correct it", file=path) from error
    for complaint in find_complaints(data, read_object(SCHEMAS / "rely.json")):
        place = complaint.json_path.removeprefix("$").removeprefix(".")
        raise CatalogError(complaint.message, complaint.mend, file=path, location=place)
    dependencies = tuple(
        Dependency(
            tuple(entry["on"]),
            tuple(entry.get("assertions", ALL)),
            tuple(entry.get("endpoints", ())),
            entry.get("why", ""),
        )
        for entry in data["rely"]
    )
    return RelyFile(dependencies, data.get("max_age_days", MAX_AGE_DAYS), path)
