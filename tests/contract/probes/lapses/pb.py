"""PB's mock without one of its behaviours, and who states it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from mockserver.pb import (
    account,
    authentication,
    batches,
    catalogue,
    ephemeral,
    errors,
    fields,
    files,
    generate,
    generation_request,
    generator,
    interactions,
    quotas,
    settings,
    thoughts,
)
from mockserver.pb.live import limits, resumption
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


UNNAMED = {"spend_cap", "grounding_searches"} | {
    f"batch_{limit}" for limit in ("enqueued_tokens", "concurrent_requests", "file_storage")
}
"""Limits beyond which the documents name no status."""
OF_429 = [address for address in family("quota") if address.rpartition("/")[2] not in UNNAMED]
STREAMED = tuple(f"{ENDPOINTS}/interactions/stream_interaction_{version}" for version in ("v1", "v1beta"))
CREATED = tuple(f"{ENDPOINTS}/interactions/create_interaction_{version}" for version in ("v1", "v1beta"))
CONNECT = f"{ENDPOINTS}/live/connect"
BY_WORK = f"{ERRORS}/general/deadline_exceeded_by_work"


refusal = quotas.quota_refusal


def without_delay(model: Any, excess: Any) -> errors.PbError:
    return errors.PbError(excess.kind, "You exceeded your current quota.", refusal(model, excess).details)


def without_details(model: Any, excess: Any) -> errors.PbError:
    return errors.PbError(excess.kind, refusal(model, excess).message)


def with_retry_after(call: Any, service_tier: str) -> None:
    call.headers.update({"x-pb-service-tier": service_tier, "retry-after": "5"})


def keep_used(used_s: float, *, video: bool) -> float:
    return used_s


LAPSES = Lapses(
    "pb",
    OVER_HTTP,
    lapse(
        "a 429 has no Retry-After",
        quotas,
        "tell_service_tier",
        with_retry_after,
        *OF_429,
        RATE_LIMITS,
    ),
    lapse(
        "the service tier stands in a header, on a 429 too",
        quotas,
        "tell_service_tier",
        lambda call, service_tier: None,
        *OF_429,  # that each generation has it is assumed
        RATE_LIMITS,
    ),
    lapse(
        "the message of a 429 says how long",
        quotas,
        "quota_refusal",
        without_delay,
        *OF_429,
        RATE_LIMITS,
    ),
    lapse("a 429 names the quota", quotas, "quota_refusal", without_details, *OF_429, RATE_LIMITS),
    lapse(
        "a day has its quota",
        quotas,
        "TIGHT",
        {model: limits for model, limits in quotas.TIGHT.items() if model != "mock-legacy"},
        f"{ERRORS}/quota/requests_per_day",
        f"{ERRORS}/interactions/quota_exceeded",
        RATE_LIMITS,
    ),
    lapse("spending has its limit", quotas, "SPEND_LIMITS", {}, f"{ERRORS}/quota/spend_per_ten_minutes", RATE_LIMITS),
    lapse("spending in all has its cap", quotas, "SPEND_CAPS", {}, f"{ERRORS}/quota/spend_cap", RATE_LIMITS),
    lapse("the window of spending is ten minutes", quotas, "SPEND_WINDOW_S", 580, RATE_LIMITS),
    lapse("days begin at midnight Pacific time", quotas, "PACIFIC", ZoneInfo("America/New_York"), RATE_LIMITS),
    lapse("preview and experimental models are stricter", quotas, "STRICTER_SHARE", 1.0, RATE_LIMITS),
    lapse("priority has 0.3 of the standard limit", quotas, "PRIORITY_SHARE", 0.4, RATE_LIMITS),
    lapse(
        "searches are free so many times a day",
        quotas,
        "FREE_SEARCHES_PER_DAY",
        501,
        f"{ERRORS}/quota/grounding_searches",
        RATE_LIMITS,
    ),
    lapse(
        "Tier 2 needs three days",
        account,
        "TIERS",
        tuple(replace(tier, days=min(tier.days, 1)) if tier.name == "tier2" else tier for tier in account.TIERS),
        RATE_LIMITS,
    ),
    lapse(
        "Tier 3 needs 1,000 paid",
        account,
        "TIERS",
        tuple(replace(tier, paid=min(tier.paid, 999)) for tier in account.TIERS),
        RATE_LIMITS,
    ),
    lapse("a tier is had within ten minutes", account, "EFFECT_S", 700.0, RATE_LIMITS),
    lapse(
        "100 batches run at once",
        batches,
        "MAX_JOBS",
        101,
        f"{ERRORS}/quota/batch_concurrent_requests",
        RATE_LIMITS,
    ),
    lapse(
        "the file of a batch has 2 GB",
        batches,
        "MAX_INPUT_BYTES",
        2**32,
        f"{ERRORS}/general/batch_input_file_too_large",
        RATE_LIMITS,
    ),
    lapse(
        "files have 20 GB of storage",
        files,
        "MAX_STORED_BYTES",
        2**36,
        f"{ERRORS}/quota/batch_file_storage",
        RATE_LIMITS,
    ),
    lapse(
        "enqueued tokens have a ceiling for each kind of model",
        batches,
        "ENQUEUED_TOKENS",
        {tier: dict.fromkeys(kinds, kinds["embedding"]) for tier, kinds in batches.ENQUEUED_TOKENS.items()},
        RATE_LIMITS,
    ),
    lapse("long prompts take long", generate, "READING_S", 0.0, BY_WORK),
    lapse("flex queues", quotas, "FLEX_DELAY_S", 0.5, BY_WORK),
    lapse("background runs in background", interactions, "BACKGROUND_S", 0.0, *CREATED),
    lapse(
        "topP is between 0 and 1",
        settings,
        "GENERATION_CONFIG",
        {**settings.GENERATION_CONFIG, "topP": fields.number},
        f"{ERRORS}/general/out_of_range",
        *GENERATE,
    ),
    lapse(
        "candidateCount goes up to 8",
        settings,
        "GENERATION_CONFIG",
        {**settings.GENERATION_CONFIG, "candidateCount": fields.within(fields.integer, 1, 7)},
        *GENERATE,
    ),
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
        f"{ENDPOINTS}/models/get_model",
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
        BY_WORK,
    ),
    lapse(
        "a chain of calls has an end",
        generator,
        "MAX_TOOL_ROUNDS",
        1_000,
        f"{ERRORS}/finish_reasons/too_many_tool_calls",
        f"{ERRORS}/interactions_generation/too_many_tool_calls",
        *STREAMED,
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
        *STREAMED,
    ),
)

LIVE = Lapses(
    "pb",
    [str(record.address) for record in catalog().select(provider="pb") if record.address.family == "live"],
    lapse(
        "an audio session lasts 15 minutes",
        limits,
        "AUDIO_ONLY_S",
        14 * 60,
        CONNECT,
    ),
    lapse(
        "an audio session lasts no longer than 15 minutes",
        limits,
        "AUDIO_ONLY_S",
        16 * 60,
        f"{ERRORS}/live/session_time_exceeded_audio",
    ),
    lapse("a session with video lasts 2 minutes", limits, "WITH_VIDEO_S", 100, CONNECT),
    lapse("a connection lasts 10 minutes", limits, "CONNECTION_S", 9 * 60, CONNECT),
    lapse("a handle is valid 2 hours", resumption, "HANDLE_S", 60 * 60, CONNECT),
    lapse("what was used up is no hindrance to a resumption", limits, "carried_s", keep_used, CONNECT),
)
"""Over WebSockets."""
