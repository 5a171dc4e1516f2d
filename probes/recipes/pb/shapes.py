"""The smallest request of each endpoint of PB."""

from __future__ import annotations

from probes.recipes.pb import endpoints
from probes.recipes.shapes import shapes_of

SHAPES = shapes_of(endpoints.RECIPES)
