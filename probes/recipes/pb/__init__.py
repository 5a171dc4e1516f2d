"""How PB is provoked."""

from __future__ import annotations

from catalog_probe.catalog.model.codes import ReasonCode

from . import batch_limits, endpoints, general, interactions, live, outcomes, quota, rate_limits
from .shapes import SHAPES

__all__ = ["FAMILIES", "REMOVALS", "SHAPES", "UNPROBED"]

FAMILIES = (endpoints, general, quota, batch_limits, outcomes, interactions, live, rate_limits)

REMOVALS = (
    *endpoints.INTERACTION_REMOVALS.values(),
    general.STORE_REMOVAL,
    batch_limits.FILE_REMOVAL,
    batch_limits.BATCH_REMOVAL,
)

UNPROBED: dict[str, tuple[str, str]] = {
    "pb/errors/general/cancelled": (
        ReasonCode.INVISIBLE_TO_CLIENT,
        "499 is answered to the client that has closed the request, so nobody is there to see it",
    ),
}
