"""How PB is provoked: a module a section of the documents, `s2_7_4_errors` for document 2, section 7.4."""

from __future__ import annotations

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.recipes.minimal_requests import list_minimal_requests

from . import (
    s1_4_2_endpoints,
    s2_7_4_errors,
    s2_7_4_interactions,
    s2_7_4_live,
    s2_7_4_outcomes,
    s2_7_4_quotas,
    s2_8_1_batches,
    s2_8_3_rate_limits,
)

__all__ = ["FAMILIES", "MINIMAL_REQUESTS", "REMOVALS", "UNPROBED"]

FAMILIES = (
    s1_4_2_endpoints,
    s2_7_4_errors,
    s2_7_4_quotas,
    s2_8_1_batches,
    s2_7_4_outcomes,
    s2_7_4_interactions,
    s2_7_4_live,
    s2_8_3_rate_limits,
)

MINIMAL_REQUESTS = list_minimal_requests(s1_4_2_endpoints.RECIPES)
"""The smallest request of each endpoint."""

REMOVALS = (
    *s1_4_2_endpoints.INTERACTION_REMOVALS.values(),
    s2_7_4_errors.STORE_REMOVAL,
    s2_8_1_batches.FILE_REMOVAL,
    s2_8_1_batches.BATCH_REMOVAL,
)

UNPROBED: dict[str, tuple[str, str]] = {
    # 2:7.4 "499 CANCELLED: client closed the request"
    "pb/errors/general/cancelled": (
        ReasonCode.INVISIBLE_TO_CLIENT,
        "499 is answered to the client that has closed the request, so nobody is there to see it",
    )
}
