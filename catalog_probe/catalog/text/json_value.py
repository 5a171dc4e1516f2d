"""A JSON value."""

from __future__ import annotations

from typing import Any

Json = Any
"""A JSON value. The records are data that people edit, so their shape is held by the schemas, not by Python types."""
