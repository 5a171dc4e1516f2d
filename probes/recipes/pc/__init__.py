"""How PC is provoked."""

from __future__ import annotations

from catalog.model.codes import ReasonCode
from probes.recipes.pc import (
    bad_requests,
    client,
    endpoints,
    images,
    keys,
    lookups,
    provider_causes,
    rate_limits,
    token_exchange,
    websocket,
)
from probes.recipes.pc.shapes import SHAPES

__all__ = ["FAMILIES", "SHAPES", "UNPROBED"]

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
