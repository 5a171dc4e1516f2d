"""Compiled JSON Schemas: one for each distinct schema of the catalog."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

    from catalog.model import Json


def validator(schema: Json) -> Validator:
    """The 2020-12 validator of a schema."""
    return _compiled(json.dumps(schema, sort_keys=True))


def is_valid(schema: Json, value: Json) -> bool:
    """Whether a value follows a schema."""
    return bool(validator(schema).is_valid(value))


@lru_cache(maxsize=2048)
def _compiled(schema_text: str) -> Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(schema_text))
