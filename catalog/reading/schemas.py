"""The JSON Schemas of the catalog: read once, found by their urn."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog.envelopes.pointer import ABSENT, find
from catalog.model.errors import CatalogError
from catalog.reading.strict_json import read_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog.model import Json

SCHEMAS = Path(__file__).parent.parent / "schemas"

KIND_SCHEMA = MappingProxyType(
    {
        "endpoints": "urn:catalog:endpoint",
        "errors": "urn:catalog:error",
        "rate_limits": "urn:catalog:rate_limits",
        "discovered": "urn:catalog:discovered",
    }
)
"""The schema that each kind of record follows, and what is discovered besides."""


@cache
def schemas(folder: Path = SCHEMAS) -> Mapping[str, Mapping[str, Json]]:
    """Every schema by its `$id`.

    Raises:
        CatalogError: a schema file cannot be read, or has no `$id`.
    """
    found = {}
    for path in sorted(folder.rglob("*.json")):
        schema = read_object(path)
        if "$id" not in schema:
            raise CatalogError("a schema needs an `$id`", "give it one, like urn:catalog:error", file=path)
        found[schema["$id"]] = schema
    return MappingProxyType(found)


def envelope_id(surface: str) -> str:
    return f"urn:catalog:envelope:{surface}"


def resolve(ref: str, base: str) -> tuple[Json, str] | None:
    """What a `$ref` in the schema `base` points to, and the schema that holds it; None for one that leads nowhere."""
    urn, _, pointer = ref.partition("#")
    urn = urn or base
    if urn not in schemas():
        return None
    target = find(schemas()[urn], pointer)
    return None if target is ABSENT else (target, urn)
