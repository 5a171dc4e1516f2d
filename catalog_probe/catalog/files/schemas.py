"""The JSON Schemas of the catalog: read once, found by their urn."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.provider_folders import remembered
from catalog_probe.catalog.files.strict_json import read_object
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.text.json_pointer import ABSENT, find

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Json

SCHEMAS = provider_folders.PACKAGE.schemas
"""What this package ships; a home adds envelopes and the form of its limits."""

KIND_SCHEMA = MappingProxyType(
    {
        "endpoints": "urn:catalog:endpoint",
        "errors": "urn:catalog:error",
        "rate_limits": "urn:catalog:rate_limits",
        "discovered": "urn:catalog:discovered",
    }
)
"""The schema that each kind of record follows, and what is discovered besides."""


_LIMITS = "urn:catalog:limits_"
"""Before the name of a provider: the schema of what it documents of its limits."""

LIMITS_BY_PROVIDER = "urn:catalog:limits"
"""The schema by which each rate-limit record has the limits of its own provider; it is made of those that there are."""


@remembered
def schemas() -> Mapping[str, Mapping[str, Json]]:
    """Every schema of every home by its `$id`; of two with the same, that of the nearest home.

    Raises:
        CatalogError: a schema file cannot be read, or has no `$id`, or another than its name says.
    """
    found: dict[str, Mapping[str, Json]] = {}
    for home in reversed(provider_folders.homes()):
        found |= schemas_of(home)
    return MappingProxyType({**found, LIMITS_BY_PROVIDER: _limits_by_provider(found)})


def schemas_of(home: provider_folders.Home) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The schemas that one home brings, each with its `$id`.

    Raises:
        CatalogError: as `schemas`.
    """
    for path in sorted(home.schemas.rglob("*.json")):
        schema = read_object(path)
        named = schema.get("$id")
        wanted = envelope_id(path.stem) if path.parent == home.envelopes else named
        if not isinstance(named, str):
            mend = f"give it one, like {wanted or 'urn:catalog:error'}"
            raise CatalogError("a schema needs an `$id`", mend, file=path)
        if named != wanted:
            what = f"its `$id` is {named}, which is not what the file is called"
            raise CatalogError(what, f"write {wanted}", file=path, place="$.$id")
        yield named, schema


def _limits_by_provider(known: Iterable[str]) -> Mapping[str, Json]:
    """Where a record is a provider's, its limits follow that provider's schema."""
    names = sorted(urn.removeprefix(_LIMITS) for urn in known if urn.startswith(_LIMITS))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": LIMITS_BY_PROVIDER,
        "title": "Limits by provider",
        "description": "The limits of a rate-limit record have the form of its provider's: limits_<provider>.json.",
        "allOf": [
            {
                "if": {"properties": {"provider": {"const": name.upper()}}, "required": ["provider"]},
                "then": {"properties": {"documented": {"$ref": f"{_LIMITS}{name}"}}},
            }
            for name in names
        ]
        or [True],
    }


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
