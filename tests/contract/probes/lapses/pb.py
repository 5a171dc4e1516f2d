"""PB's mock without one of its behaviours, and who states it."""

from __future__ import annotations

from typing import Any

from mockserver.pb import (
    authentication,
    catalogue,
    ephemeral,
    errors,
    fields,
    generation_request,
    generator,
    interactions,
    quotas,
    settings,
    thoughts,
)
from tests.harness.engines import catalog
from tests.harness.lapses import Lapses, lapse

ERRORS, ENDPOINTS = "pb/errors", "pb/endpoints"
OVER_HTTP = [
    str(record.address)
    for record in catalog().select(provider="pb")
    if record.address.family != "live" and str(record.address) != f"{ERRORS}/general/cancelled"
]
GENERATE = tuple(f"{ENDPOINTS}/generation/generate_content_{version}" for version in ("v1", "v1beta"))
RATE_LIMITS = "pb/rate_limits/limits/general"
COMPATIBLE = f"{ENDPOINTS}/compatibility/openai"


def family(name: str) -> list[str]:
    """Every error record of a family."""
    return [address for address in OVER_HTTP if address.startswith(f"{ERRORS}/{name}/")]


refusal = quotas.quota_refusal


def without_delay(model: Any, excess: Any) -> errors.PbError:
    return errors.PbError(excess.kind, "You exceeded your current quota.", refusal(model, excess).details)


def without_details(model: Any, excess: Any) -> errors.PbError:
    return errors.PbError(excess.kind, refusal(model, excess).message)


def with_retry_after(call: Any, service_tier: str) -> None:
    call.headers.update({"x-pb-service-tier": service_tier, "retry-after": "5"})


LAPSES = Lapses(
    "pb",
    OVER_HTTP,
    lapse(
        "a 429 has no Retry-After",
        quotas,
        "tell_service_tier",
        with_retry_after,
        *family("quota"),
        RATE_LIMITS,
    ),
    lapse(
        "the service tier stands in a header, on a 429 too",
        quotas,
        "tell_service_tier",
        lambda call, service_tier: None,
        *family("quota"),  # that each generation has it is assumed
        RATE_LIMITS,
    ),
    lapse(
        "the message of a 429 says how long",
        quotas,
        "quota_refusal",
        without_delay,
        *(set(family("quota")) - {f"{ERRORS}/quota/free_tier_limit_zero"}),  # assumed to stand beside its `limit: 0`
    ),
    lapse("a 429 names the quota", quotas, "quota_refusal", without_details, *family("quota")),
    lapse(
        "a day has its quota",
        quotas,
        "TIGHT",
        {model: limits for model, limits in quotas.TIGHT.items() if model != "mock-legacy"},
        f"{ERRORS}/quota/requests_per_day",
        f"{ERRORS}/interactions/quota_exceeded",
    ),
    lapse("spending has its limit", quotas, "SPEND_LIMITS", {}, f"{ERRORS}/quota/spend_per_ten_minutes"),
    lapse(
        "preview ids exist only in v1beta",
        catalogue,
        "listed",
        lambda version: list(catalogue.MODELS.values()),
        f"{ERRORS}/general/preview_model_outside_v1beta",
        GENERATE[0],
    ),
    lapse(
        "unknown fields are refused",
        generation_request,
        "BODY",
        {**generation_request.BODY, "noSuchField": fields.anything},
        f"{ERRORS}/general/unknown_field",
        *GENERATE,
    ),
    lapse("the compatibility layer ignores unknown parameters", fields, "known_only", fields.read, COMPATIBLE),
    lapse(
        "a key in another header finds nothing on the compatibility layer",
        authentication,
        "NOT_FOUND",
        errors.INVALID,
        f"{ERRORS}/compatibility/wrong_auth_header",
        COMPATIBLE,
    ),
    lapse(
        "an invalid key is an invalid argument",
        authentication,
        "INVALID",
        errors.UNAUTHENTICATED,
        f"{ERRORS}/general/invalid_api_key",
        f"{ERRORS}/compatibility/invalid_api_key",
        f"{ERRORS}/compatibility/missing_authorization",
        f"{ENDPOINTS}/models/list_models",
        f"{ENDPOINTS}/auth_tokens/create_auth_token",
        COMPATIBLE,
        *GENERATE,  # the streamed form is in no document
    ),
    lapse(
        "the compatibility layer without Authorization is an invalid argument; an invalid key may be forbidden as well",
        authentication,
        "INVALID",
        errors.PERMISSION,
        f"{ERRORS}/compatibility/missing_authorization",
        COMPATIBLE,
    ),
    lapse(
        "keys can be refused",
        authentication,
        "PERMISSION",
        errors.INVALID,
        *(f"{ERRORS}/general/key_{state}" for state in ("restricted", "leaked", "blocked")),
        f"{ERRORS}/general/api_not_enabled",
        f"{ERRORS}/interactions/permission_denied",
    ),
    lapse(
        "ephemeral tokens expire",
        ephemeral,
        "LIFETIME_S",
        float(10**9),
        f"{ERRORS}/general/expired_ephemeral_token",
    ),
    lapse(
        "thinking has a level or a budget",
        settings,
        "invalid",
        lambda message: errors.PbError(errors.OUT_OF_RANGE, message),
        f"{ERRORS}/general/thinking_level_with_thinking_budget",
        f"{ERRORS}/general/temperature_out_of_range",
        *GENERATE,
    ),
    lapse(
        "thought signatures must be echoed",
        thoughts,
        "missing",
        lambda prompt: False,
        f"{ERRORS}/finish_reasons/missing_thought_signature",
        f"{ERRORS}/interactions_generation/missing_thought_signature",
    ),
    lapse(
        "reasoning comes out of the same budget",
        generator,
        "think",
        lambda prompt: ("", prompt.settings.max_output_tokens or 100),
        f"{ERRORS}/finish_reasons/max_tokens_without_text",
    ),
    lapse(
        "a chain of calls has an end",
        generator,
        "MAX_TOOL_ROUNDS",
        1_000,
        f"{ERRORS}/finish_reasons/too_many_tool_calls",
        f"{ERRORS}/interactions_generation/too_many_tool_calls",
    ),
    lapse(
        "too large a context is a server error",
        generator,
        "INTERNAL",
        errors.INVALID,
        f"{ERRORS}/general/oversized_context",
    ),
    lapse(
        "what stops an interaction is an event of its stream",
        interactions,
        "failing_code",
        lambda completion: None,
        *family("interactions_blocked"),
        *family("interactions_generation"),
    ),
)
