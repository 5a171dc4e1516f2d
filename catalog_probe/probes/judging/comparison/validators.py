"""Compiled JSON Schemas: one for each distinct schema of the catalog."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

    from catalog_probe.catalog.model import Json


MOST = 2048
"""So many are kept."""


def validator(schema: Json) -> Validator:
    """The 2020-12 validator of a schema."""
    return _compiled(json.dumps(schema, sort_keys=True))


def is_valid(schema: Json, value: Json) -> bool:
    """Whether a value follows a schema."""
    return bool(validator(schema).is_valid(value))


def nearest(error: ValidationError) -> ValidationError:
    """Of a value that has none of several forms (`oneOf`), what parts it from the one that it is nearest to.

    The error itself where it is as far from each, and where there is one form alone.
    """
    from jsonschema.exceptions import best_match  # slow to import; a plan validates nothing

    return best_match([error]) or error


@lru_cache(maxsize=MOST)
def _compiled(schema_text: str) -> Validator:
    from jsonschema import Draft202012Validator  # slow to import; a plan validates nothing

    return Draft202012Validator(json.loads(schema_text))
