"""Compiled JSON Schemas, cached by their text."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

    from catalog_probe.catalog.model import Json


def validator(schema: Json) -> Validator:
    """Return the 2020-12 validator of a schema."""
    return _compile(json.dumps(schema, sort_keys=True))


def is_valid(schema: Json, value: Json) -> bool:
    """Whether a value follows a schema."""
    return bool(validator(schema).is_valid(value))


def nearest_error(error: ValidationError) -> ValidationError:
    """Return how a value differs from the form of a `oneOf` that it is nearest to; other errors unchanged."""
    from jsonschema.exceptions import best_match  # slow to import; a plan validates nothing

    return best_match([error]) or error


@lru_cache(maxsize=2048)
def _compile(schema_text: str) -> Validator:
    from jsonschema import Draft202012Validator  # slow to import; a plan validates nothing

    return Draft202012Validator(json.loads(schema_text))
