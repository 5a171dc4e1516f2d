"""The smallest request of each endpoint of PD."""

from __future__ import annotations

from catalog_probe.probes.recipes.shapes import shapes_of

from . import endpoints
from .requests import UNKNOWN_RESULT

SHAPES = {**shapes_of(endpoints.RECIPES), "pd/endpoints/chat/get_deferred_completion": UNKNOWN_RESULT}
