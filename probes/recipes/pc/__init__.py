"""How PC is provoked."""

from __future__ import annotations

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.recipes.fault_free import MADE_FIRST

from . import (
    bad_requests,
    client,
    endpoints,
    images,
    keys,
    lookups,
    making,
    provider_causes,
    rate_limits,
    token_exchange,
    websocket,
)
from .shapes import SHAPES

__all__ = ["FAMILIES", "REMOVALS", "SHAPES", "UNPROBED"]

FAMILIES = (
    endpoints,
    bad_requests,
    keys,
    lookups,
    images,
    provider_causes,
    rate_limits,
    token_exchange,
    websocket,
    client,
)

REMOVALS = (making.STORE_REMOVAL, making.CONVERSATION_REMOVAL, endpoints.RESPONSE_REMOVAL, endpoints.FILE_REMOVAL)

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

TWINS = token_exchange.TWINS

NO_TWIN: dict[str, str] = {
    "pc/endpoints/updates/patch": "it never succeeds: 405 is its answer (1:4.3)",
    "pc/endpoints/updates/put": "it never succeeds: 405 is its answer (1:4.3)",
    "pc/endpoints/responses/get_response": MADE_FIRST,
    "pc/endpoints/vector_stores/file_batches": MADE_FIRST,
}
