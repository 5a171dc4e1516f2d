"""How PD is provoked: a module a section of the documents, `s2_7_6_errors` for document 2, section 7.6."""

from __future__ import annotations

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.recipes.book import NEEDS_SETUP
from catalog_probe.probes.recipes.minimal_requests import list_minimal_requests

from . import s1_3_states, s1_4_4_endpoints, s2_7_6_errors, s2_7_6_grpc, s2_8_5_rate_limits
from .requests import UNKNOWN_RESULT
from .s2_7_6_grpc import FAULT_FREE_REQUESTS

__all__ = ["FAMILIES", "FAULT_FREE_REQUESTS", "MINIMAL_REQUESTS", "NO_FAULT_FREE_REQUEST", "UNPROBED"]

FAMILIES = (s1_3_states, s1_4_4_endpoints, s2_7_6_errors, s2_7_6_grpc, s2_8_5_rate_limits)

MINIMAL_REQUESTS = {
    **list_minimal_requests(s1_4_4_endpoints.RECIPES),
    "pd/endpoints/chat/get_deferred_completion": UNKNOWN_RESULT,
}
"""The smallest request of each endpoint."""

UNPROBED: dict[str, tuple[str, str]] = {
    # 2:7.6 "Requests judged to violate usage guidelines are still charged"
    "pd/errors/outcomes/violation_still_charged": (
        ReasonCode.NOT_ON_THE_WIRE,
        "the charge stands on the invoice; the documents show no answer by which a client could tell",
    ),
    # 2:7.6 "those caught before generation on the responses path cost a flat 0.05 USD fee"
    "pd/errors/outcomes/violation_before_generation": (
        ReasonCode.NOT_ON_THE_WIRE,
        "the flat fee stands on the invoice; the documents show no answer by which a client could tell",
    ),
}

NO_FAULT_FREE_REQUEST: dict[str, str] = {"pd/endpoints/chat/get_deferred_completion": NEEDS_SETUP}
