"""The type of a JSON value."""

from __future__ import annotations

from typing import Any

# Not a recursive type: records are data that people edit, and their shape is checked by the schemas.
Json = Any
