"""The smallest request of each endpoint of PD."""

from __future__ import annotations

from probes.recipes.pd import endpoints
from probes.recipes.pd.requests import UNKNOWN_RESULT
from probes.recipes.shapes import shapes_of

SHAPES = {**shapes_of(endpoints.RECIPES), "pd/endpoints/chat/get_deferred_completion": UNKNOWN_RESULT}
