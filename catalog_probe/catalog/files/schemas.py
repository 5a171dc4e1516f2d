"""The JSON Schemas of all provider folders, by their urn."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.files.strict_json import read_object
from catalog_probe.catalog.model.errors import CatalogError
from catalog_probe.catalog.text.json_pointer import ABSENT, find_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Json

SCHEMAS = provider_folders.SHIPPED.schemas
"""The shipped schemas. Another provider folder adds envelopes and the form of its limits."""

KIND_SCHEMA = MappingProxyType(
    {
        "endpoints": "urn:catalog:endpoint",
        "errors": "urn:catalog:error",
        "rate_limits": "urn:catalog:rate_limits",
        "discovered": "urn:catalog:discovered",
    }
)
"""The schema of each kind of record, and of discoveries."""

LIMITS_BY_PROVIDER = "urn:catalog:limits"
"""A schema made here: it applies to each rate-limit record the limits schema of its provider."""

_LIMITS = "urn:catalog:limits_"
"""The prefix of a provider's limits schema; the name of the provider follows."""


@cached_per_folders
def schemas() -> Mapping[str, Mapping[str, Json]]:
    """Read every schema, by its `$id`; of two with the same, the one of the nearest folder wins.

    Raises:
        CatalogError: a schema file cannot be read, has no `$id`, or one that differs from its file name.
    """
    schema_by_urn: dict[str, Mapping[str, Json]] = {}
    for folder in reversed(provider_folders.all_folders()):
        schema_by_urn |= read_schemas(folder)
    return MappingProxyType({**schema_by_urn, LIMITS_BY_PROVIDER: _limits_by_provider(schema_by_urn)})


def read_schemas(folder: provider_folders.ProviderFolder) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield the `$id` and the content of each schema in one provider folder.

    Raises:
        CatalogError: as `schemas`.
    """
    for path in sorted(folder.schemas.rglob("*.json")):
        schema = read_object(path)
        urn = schema.get("$id")
        expected_urn = envelope_id(path.stem) if path.parent == folder.envelopes else urn
        if not isinstance(urn, str):
            mend = f"give it one, like {expected_urn or 'urn:catalog:error'}"
            raise CatalogError("a schema needs an `$id`", mend, file=path)
        if urn != expected_urn:
            what = f"its `$id` is {urn}, which is not what the file is called"
            raise CatalogError(what, f"write {expected_urn}", file=path, location="$.$id")
        yield urn, schema


def _limits_by_provider(urns: Iterable[str]) -> Mapping[str, Json]:
    names = sorted(urn.removeprefix(_LIMITS) for urn in urns if urn.startswith(_LIMITS))
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
    """Return the `$id` that the envelope schema of a surface has."""
    return f"urn:catalog:envelope:{surface}"


def resolve_ref(ref: str, base: str) -> tuple[Json, str] | None:
    """Follow a `$ref` in the schema `base`: return its target and the schema that holds it, or None."""
    urn, _, pointer = ref.partition("#")
    urn = urn or base
    if urn not in schemas():
        return None
    target = find_value(schemas()[urn], pointer)
    return None if target is ABSENT else (target, urn)
