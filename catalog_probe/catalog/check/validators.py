"""The validators of the catalog's own schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.files.schemas import envelope_id, schemas

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

    from catalog_probe.catalog.model import Json


@cached_per_folders
def validator_of(urn: str) -> Draft202012Validator | None:
    """Return the validator of a schema, which may refer to any other; None if there is no such schema."""
    from jsonschema import Draft202012Validator  # slow to import
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    all_schemas = schemas()
    if urn not in all_schemas:
        return None
    resources = ((name, DRAFT202012.create_resource(schema)) for name, schema in all_schemas.items())
    registry: Registry[Json] = Registry().with_resources(resources)
    return Draft202012Validator(all_schemas[urn], registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER)


def surfaces() -> list[str]:
    """List the surfaces that have an envelope."""
    return [urn.removeprefix(envelope_id("")) for urn in schemas() if urn.startswith(envelope_id(""))]
