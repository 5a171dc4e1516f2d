"""How PC is provoked: a module a section of the documents, `s2_7_5_lookups` for lookups in document 2, section 7.5."""

from __future__ import annotations

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import converse, post
from catalog_probe.probes.recipes.book import NEEDS_SETUP
from catalog_probe.probes.recipes.minimal_requests import list_minimal_requests

from . import (
    requests,
    s1_4_3_endpoints,
    s1_5_3_token_exchange,
    s1_6_websocket,
    s2_7_5_causes,
    s2_7_5_client,
    s2_7_5_images,
    s2_7_5_keys,
    s2_7_5_lookups,
    s2_7_5_requests,
    s2_8_4_rate_limits,
)
from .s1_5_3_token_exchange import FAULT_FREE_REQUESTS

__all__ = ["FAMILIES", "FAULT_FREE_REQUESTS", "MINIMAL_REQUESTS", "NO_FAULT_FREE_REQUEST", "REMOVALS", "UNPROBED"]

FAMILIES = (
    s1_4_3_endpoints,
    s1_5_3_token_exchange,
    s1_6_websocket,
    s2_7_5_requests,
    s2_7_5_keys,
    s2_7_5_lookups,
    s2_7_5_images,
    s2_7_5_causes,
    s2_7_5_client,
    s2_8_4_rate_limits,
)

REMOVALS = (requests.STORE_REMOVAL, requests.CONVERSATION_REMOVAL, requests.RESPONSE_REMOVAL, requests.FILE_REMOVAL)

UNKNOWN_STORE = "vs_000000000000000000000000"

MINIMAL_REQUESTS = {
    **list_minimal_requests(s1_4_3_endpoints.RECIPES),
    "pc/endpoints/responses/get_response": requests.UNKNOWN_RESPONSE,
    # without the amount, so that no key can change the limit
    "pc/endpoints/organization/set_spend_limit": post("/v1/organization/spend_limit", {}, credential="admin"),
    "pc/endpoints/vector_stores/files": requests.files_of(UNKNOWN_STORE),
    "pc/endpoints/vector_stores/file_batches": requests.add_to_store(UNKNOWN_STORE, []),
    # a socket that is opened to say nothing
    "pc/endpoints/websocket/responses": converse(s1_6_websocket.PATH),
}
"""The smallest request of each endpoint, with ids that cannot exist where it would change something."""

UNPROBED: dict[str, tuple[str, str]] = {
    "pc/endpoints/live/webrtc": (
        ReasonCode.SURFACE_OUT_OF_REACH,
        "a live session over WebRTC is media, which this suite does not speak",
    ),
    "pc/endpoints/live/sip": (
        ReasonCode.SURFACE_OUT_OF_REACH,
        "a live session over SIP is a telephone call, which this suite does not make",
    ),
}

NO_FAULT_FREE_REQUEST: dict[str, str] = {
    "pc/endpoints/updates/patch": "it never succeeds: 405 is its answer (1:4.3)",
    "pc/endpoints/updates/put": "it never succeeds: 405 is its answer (1:4.3)",
    "pc/endpoints/responses/get_response": NEEDS_SETUP,
    "pc/endpoints/vector_stores/file_batches": NEEDS_SETUP,
}
