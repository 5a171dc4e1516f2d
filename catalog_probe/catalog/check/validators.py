"""The validators of the catalog's own schemas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.files.schemas import envelope_id, schemas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema import Draft202012Validator

    from catalog_probe.catalog.model import Json


@cached_per_folders
def validator_of(urn: str) -> Draft202012Validator | None:
    """Return the validator of a schema, which may refer to any other; None if there is no such schema."""
    from jsonschema import Draft202012Validator, ValidationError, validators  # slow to import
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    all_schemas = schemas()
    if urn not in all_schemas:
        return None
    resources = ((name, DRAFT202012.create_resource(schema)) for name, schema in all_schemas.items())
    registry: Registry[Json] = Registry().with_resources(resources)

    def check_pattern(_: object, pattern: str, instance: Json, __: object) -> Iterator[ValidationError]:
        if isinstance(instance, str) and not occurs_in(instance, pattern):
            yield ValidationError(f"{instance!r} does not match {pattern!r}")

    # In Python `$` also matches before a line break at the end, in JSON Schema (ECMA 262) it does not.
    validator = validators.extend(Draft202012Validator, {"pattern": check_pattern})
    return validator(all_schemas[urn], registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER)


def occurs_in(text: str, pattern: str) -> bool:
    """Whether a pattern of a schema occurs in a text. Its last `$` is the end, and not a line break before the end.

    >>> occurs_in("4xx", "^4xx$"), occurs_in("4xx" + chr(10), "^4xx$")
    (True, False)
    """
    if pattern.endswith("$") and not pattern.endswith("\\$"):
        pattern = pattern.removesuffix("$") + r"\Z"
    return re.search(pattern, text) is not None


def surfaces() -> list[str]:
    """List the surfaces that have an envelope."""
    return [urn.removeprefix(envelope_id("")) for urn in schemas() if urn.startswith(envelope_id(""))]
