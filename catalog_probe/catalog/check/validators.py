"""The validators of the catalog's own schemas: each is made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.files.schemas import envelope_id, schemas

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

    from catalog_probe.catalog.model import Json


@cached_per_folders
def validator_of(urn: str) -> Draft202012Validator | None:
    """The validator of a schema and all that it refers to; None where there is no such schema."""
    from jsonschema import Draft202012Validator  # slow to import; only who validates waits
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    every = schemas()
    if urn not in every:
        return None
    resources = ((name, DRAFT202012.create_resource(schema)) for name, schema in every.items())
    registry: Registry[Json] = Registry().with_resources(resources)
    return Draft202012Validator(every[urn], registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER)


def surfaces() -> list[str]:
    """The surfaces that there are."""
    return [urn.removeprefix(envelope_id("")) for urn in schemas() if urn.startswith(envelope_id(""))]
