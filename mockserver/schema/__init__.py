"""Values that a JSON Schema allows: seeded, and checked before they are given out; tools and structured output."""

from __future__ import annotations

from mockserver.schema.making import Unsatisfiable, example
from mockserver.schema.tool_use import called

__all__ = ["Unsatisfiable", "called", "example"]
