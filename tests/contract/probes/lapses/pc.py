"""PC's mock without one of its behaviours, and who states it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import JSONResponse

from mockserver.pc import (
    authentication,
    chat,
    conversations,
    gateway,
    keys,
    limits,
    organization,
    response_request,
    response_stream,
    responses,
    subject_tokens,
    tiers,
    token_exchange,
    vector_stores,
)
from mockserver.pc.errors import PcError
from mockserver.pc.fields import check as strict_check
from mockserver.pc.websocket import connection
from tests.harness.engines import catalog
from tests.harness.lapses import Lapses, lapse, nothing

ERRORS, ENDPOINTS = "pc/errors", "pc/endpoints"
CREATE = f"{ENDPOINTS}/responses/create_response"
RATE_LIMITS = "pc/rate_limits/limits/general"
CHAT = f"{ENDPOINTS}/chat/create_chat_completion"

OVER_HTTP = [
    str(record.address)
    for record in catalog().select(provider="pc")
    if record.kind != "rate_limits" and record.address.family not in ("websocket", "client")
]
OVER_SOCKETS = [str(each.address) for each in catalog().select(provider="pc") if each.address.family == "websocket"]
IN_STREAMS = [address for address in OVER_HTTP if address.startswith(f"{ERRORS}/stream/")]


def under(family: str, *slugs: str) -> tuple[str, ...]:
    return tuple(f"{ERRORS}/{family}/{slug}" for slug in slugs)


def lenient(body: Mapping[str, Any], fields: Any, required: Any = (), at: str = "") -> None:
    known = {name: value for name, value in body.items() if name in fields}
    strict_check(known, fields, required, at)


def fast_is_default(call: Any, body: Mapping[str, Any]) -> str:
    asked = body.get("service_tier")
    return tier_that_serves(call, {"service_tier": "default" if asked == "fast" else asked})


tier_that_serves = response_request.check_service_tier
address_allowed = authentication.address_allowed


class Whatever:
    """Equal to anything, and a member and a holder of anything: what is compared with it always matches."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __contains__(self, item: object) -> bool:
        return True


def configured_but_for(name: str) -> Any:
    """The configuration of the identity provider, with which one claim always matches."""
    changes: dict[str, Any] = {name: Whatever()}
    return replace(subject_tokens.CONFIGURED, **changes)


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
        "fast counts as priority",
        (chat, response_request, responses),
        "check_service_tier",
        fast_is_default,
        f"{ERRORS}/request/service_tier_not_allowed",
    ),
    lapse(
        "parameters of another endpoint are told from unknown ones",
        (chat, response_request),
        "refuse_those_of_elsewhere",
        nothing,
        f"{ERRORS}/request/unsupported_parameter",
    ),
    lapse("assistants=v2 is a beta", gateway, "BETAS", frozenset({"agents=v1"}), f"{ENDPOINTS}/models/list_models"),
    lapse(
        "a spend limit of nothing ends spending",
        organization.Spending,
        "exhausted",
        False,
        f"{ENDPOINTS}/organization/set_spend_limit",
    ),
    *(
        lapse(
            f"{claim} is compared",
            subject_tokens,
            "CONFIGURED",
            configured_but_for(part),
            *under("oauth", "invalid_grant"),
            f"{ENDPOINTS}/oauth/exchange_token",
        )
        for claim, part in (("iss", "issuer"), ("aud", "audience"), ("sub", "subjects"))
    ),
    lapse(
        "a busy conversation is left alone",
        conversations,
        "refuse_while_busy",
        nothing,
        *under("request", "conflict"),
    ),
    lapse(
        "an organization has an allowlist",
        authentication,
        "address_allowed",
        lambda connection, allowlist: allowlist is keys.WALLED.allowlist or address_allowed(connection, allowlist),
        *under("authentication", "ip_not_authorized"),
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
        f"{ENDPOINTS}/organization/set_spend_limit",
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


def tier_1_grants(**changes: int) -> Mapping[str, Any]:
    """The table, in which mid-size chat models are granted something else in Tier 1."""
    first = tiers.GRANTS[tiers.TIER_1]
    return {**tiers.GRANTS, tiers.TIER_1: {**first, "mid": first["mid"]._replace(**changes)}}


def adding_up(call: Any, model: Any, prompt: int, max_tokens: int) -> None:
    admit_tokens(call, model, prompt + max_tokens, 0)


admit_tokens = limits.admit_tokens

ON_LIMITS = Lapses(
    "pc",
    [RATE_LIMITS, *under("rate_limit", "slow_down", "rate_limit_exceeded")],
    *(
        lapse(f"Tier 1 grants no more {what}", limits, "GRANTS", tier_1_grants(**{what: value}), RATE_LIMITS)
        for what, value in (
            ("requests_per_minute", 501),
            ("requests_per_day", 10_001),
            ("tokens_per_minute", 200_001),
            ("queued_tokens", 2_000_001),
        )
    ),
    lapse(
        "a month has a limit, and no lower one",
        limits,
        "USD_A_MONTH",
        {**tiers.USD_A_MONTH, tiers.TIER_3: 999},
        RATE_LIMITS,
    ),
    lapse(
        "a month has a limit, and no higher one",
        limits,
        "USD_A_MONTH",
        {**tiers.USD_A_MONTH, tiers.TIER_3: 1_001},
        RATE_LIMITS,
    ),
    lapse("the larger of prompt and max_tokens counts", limits, "admit_tokens", adding_up, RATE_LIMITS),
    lapse("a store takes 300 requests a minute", vector_stores, "REQUESTS_PER_MINUTE", 301, RATE_LIMITS),
    lapse("live sessions are limited", limits, "LIVE_SESSIONS", {}, RATE_LIMITS),
    lapse("usage may grow by half, and no more", limits, "RAMP_GROWTH", 2.0, RATE_LIMITS),
    lapse("usage may grow by half, and no less", limits, "RAMP_GROWTH", 1.4, RATE_LIMITS),
)


ON_SOCKETS = Lapses(
    "pc",
    OVER_SOCKETS,
    lapse("a socket lasts 60 minutes, and no less", connection, "LIMIT_S", 59 * 60, f"{ENDPOINTS}/websocket/responses"),
    lapse(
        "a socket lasts 60 minutes, and no more",
        connection,
        "LIMIT_S",
        61 * 60,
        *under("websocket", "connection_limit_reached"),
    ),
)
