"""The smallest request of each endpoint of PB."""

from __future__ import annotations

from catalog_probe.probes.recipes.shapes import shapes_of

from . import endpoints

SHAPES = shapes_of(endpoints.RECIPES)
