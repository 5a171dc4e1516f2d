"""PC's mock without one of its behaviours, and who states it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from mockserver.pc import (
    authentication,
    chat,
    conversations,
    gateway,
    limits,
    response_request,
    response_stream,
    responses,
    token_exchange,
    vector_stores,
)
from mockserver.pc.errors import PcError
from mockserver.pc.fields import check as strict_check
from tests.harness.engines import catalog
from tests.harness.lapses import Lapses, lapse, nothing

ERRORS, ENDPOINTS = "pc/errors", "pc/endpoints"
CREATE = f"{ENDPOINTS}/responses/create_response"
CHAT = f"{ENDPOINTS}/chat/create_chat_completion"

OVER_HTTP = [
    str(record.address)
    for record in catalog().select(provider="pc")
    if record.kind != "rate_limits" and record.address.family not in ("websocket", "client")
]
IN_STREAMS = [address for address in OVER_HTTP if address.startswith(f"{ERRORS}/stream/")]


def under(family: str, *slugs: str) -> tuple[str, ...]:
    return tuple(f"{ERRORS}/{family}/{slug}" for slug in slugs)


def lenient(body: Mapping[str, Any], fields: Any, required: Any = (), at: str = "") -> None:
    known = {name: value for name, value in body.items() if name in fields}
    strict_check(known, fields, required, at)


def chatty() -> JSONResponse:
    """Answer an unknown URL as other providers do."""
    return JSONResponse(PcError(404, "Not found").envelope(), 404, {"x-request-id": "req_1"})


LAPSES = Lapses(
    "pc",
    OVER_HTTP,
    lapse(
        "unknown fields are rejected",
        response_request,
        "check",
        lenient,
        f"{ERRORS}/request/unknown_parameter",
        CREATE,
    ),
    lapse(
        "a reasoning model takes no temperature",
        (chat, response_request),
        "check_sampling",
        nothing,
        f"{ERRORS}/request/unsupported_parameter",
        CHAT,
    ),
    lapse(
        "projects allow service tiers",
        (chat, response_request, responses),
        "check_service_tier",
        lambda call, body: "default",
        f"{ERRORS}/request/service_tier_not_allowed",
    ),
    lapse(
        "an unknown URL has no body",
        gateway,
        "unknown_url",
        chatty,
        *under("not_found", "unknown_url"),  # that retired routes have no body either is assumed
    ),
    lapse(
        "addresses are looked at",
        authentication,
        "address_allowed",
        lambda *_: True,
        *under("authentication", "ip_not_authorized"),
    ),
    lapse(
        "a project key has its own project",
        authentication,
        "project_of",
        lambda connection, key, names: key.project,
        *under("authentication", "invalid_project"),
    ),
    lapse(
        "beta headers and scopes are asked for",
        gateway.Gateway,
        "admit",
        nothing,
        *under("request", "invalid_beta"),
        *under("permission", "insufficient_permissions"),
        f"{ENDPOINTS}/agents/list_agents",
        f"{ENDPOINTS}/organization/get_external_storage",
    ),
    lapse("requests are counted", limits, "admit_request", nothing, *under("rate_limit", "rate_limit_exceeded")),
    lapse(
        "spenders are refused",
        limits,
        "refuse_spenders",
        nothing,
        *under(
            "rate_limit",
            "insufficient_quota",
            "credit_balance_exhausted",
            "organization_spend_limit_exceeded",
            "project_spend_limit_exceeded",
            "organization_usage_limit_exceeded",
            "billing_hard_limit_reached",
        ),
    ),
    lapse("traffic may not grow too fast", limits.Ramp, "admits", lambda *_: True, *under("rate_limit", "slow_down")),
    lapse("a conversation is held", conversations, "hold", nothing, *under("request", "conflict")),
    lapse(
        "a file must be searchable",
        vector_stores,
        "take_file",
        lambda files, file_id, param: files.append(file_id),
        *under("request", "unprocessable"),
    ),
    lapse(
        "a response ends its stream when it fails",
        response_stream,
        "NO_RESPONSE_ERROR",
        frozenset({address.rsplit("/", 1)[1] for address in IN_STREAMS}),
        *(address for address in IN_STREAMS if not address.endswith("/cyber_policy")),
    ),
    lapse(
        "an error event is flat",
        PcError,
        "event",
        lambda error: {"type": "error", **error.envelope()},
        *under("stream", "cyber_policy"),
    ),
    lapse(
        "claims are compared with what is configured",
        token_exchange,
        "verify_jwt",
        nothing,
        *under("oauth", "invalid_grant", "invalid_subject_token"),
        f"{ENDPOINTS}/oauth/exchange_token",
    ),
    lapse(
        "images are looked at",
        responses,
        "check_images",
        nothing,
        *under("images", "invalid_image", "invalid_image_format", "image_parse_error"),
        *(address for address in IN_STREAMS if "image" in address and "policy" not in address),
    ),
)
