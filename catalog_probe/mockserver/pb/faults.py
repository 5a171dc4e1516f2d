"""PB's faults: citation of an error -> its row, or the scenario that causes it (2:7.4)."""

from __future__ import annotations

from functools import partial

from catalog_probe.mockserver.core.faults import Fault, FaultTable, from_refusal, make_fault
from catalog_probe.mockserver.pb import errors, limits
from catalog_probe.mockserver.pb.limits import QuotaExcess, make_quota_refusal

_interactions = partial(make_fault, within="/interactions")
_compatibility = partial(make_fault, within="/openai/")
_live = partial(make_fault, within="BidiGenerateContent")


def _make_quota_fault(quota: limits.Quota, limit: float, delay_s: float = 1) -> Fault:
    return from_refusal(make_quota_refusal("mock-lite", QuotaExcess(quota, limit, delay_s)))


_MINUTE = {quota.name: quota for quota in limits.PER_MINUTE}
_DAY = {quota.name: quota for quota in limits.PER_DAY}

_GENERAL: FaultTable = {
    "400 INVALID_ARGUMENT malformed body": make_fault(errors.NOT_JSON),
    "400 INVALID_ARGUMENT unknown field": make_fault(errors.UNKNOWN_FIELD, path="colour"),
    "400 INVALID_ARGUMENT thinking_level with thinking_budget": make_fault(errors.LEVEL_WITH_BUDGET),
    "400 INVALID_ARGUMENT temperature out of range": make_fault(errors.TEMPERATURE, maximum=2.0),
    "400 INVALID_ARGUMENT invalid API key": make_fault(errors.INVALID_KEY),
    "400 INVALID_ARGUMENT compatibility layer without Authorization": _compatibility(errors.NO_AUTHORIZATION),
    "400 FAILED_PRECONDITION billing off": make_fault(errors.BILLING_OFF),
    "400 FAILED_PRECONDITION free tier unavailable in the region": make_fault(errors.NO_FREE_TIER),
    "401 UNAUTHENTICATED missing token": make_fault(errors.NO_CREDENTIAL),
    "401 UNAUTHENTICATED invalid OAuth token": make_fault(errors.BAD_OAUTH_TOKEN, fault="is invalid"),
    "401 UNAUTHENTICATED expired OAuth token": make_fault(errors.BAD_OAUTH_TOKEN, fault="has expired"),
    "401 UNAUTHENTICATED invalid ephemeral token": make_fault(errors.BAD_EPHEMERAL_TOKEN, fault="invalid"),
    "401 UNAUTHENTICATED expired ephemeral token": make_fault(errors.BAD_EPHEMERAL_TOKEN, fault="expired"),
    "403 PERMISSION_DENIED API not enabled": make_fault(errors.API_NOT_ENABLED),
    "403 PERMISSION_DENIED key restricted": make_fault(errors.KEY_RESTRICTED),
    "403 PERMISSION_DENIED leaked key": make_fault(errors.KEY_LEAKED),
    "403 PERMISSION_DENIED blocked key": make_fault(errors.KEY_BLOCKED),
    "403 PERMISSION_DENIED resource not owned": make_fault(errors.NOT_OWNED, id="files/abc"),
    "404 NOT_FOUND model absent for the API version": make_fault(errors.NO_MODEL, version="v1"),
    "404 NOT_FOUND preview id outside v1beta": make_fault(errors.NO_MODEL, id="mock-preview", version="v1"),
    "404 NOT_FOUND resource absent for the API version": make_fault(errors.NO_RESOURCE, id="files/abc"),
    "404 NOT_FOUND model no longer available to new users": make_fault(errors.MODEL_CLOSED, id="mock-old"),
    "404 NOT_FOUND wrong auth header on the compatibility layer": _compatibility(errors.WRONG_AUTH_HEADER),
    "409 ALREADY_EXISTS": make_fault(errors.ALREADY_EXISTS, id="fileSearchStores/abc"),
    "409 ABORTED": "concurrency_conflict",
    "416 OUT_OF_RANGE": make_fault(errors.OUT_OF_RANGE),
    "429 RESOURCE_EXHAUSTED per-minute quota": "rate_limited",
    "429 RESOURCE_EXHAUSTED token quota": _make_quota_fault(_MINUTE["input_tokens"], 1_000_000),
    "429 RESOURCE_EXHAUSTED daily quota": _make_quota_fault(_DAY["requests_a_day"], 1_000, 3_600),
    "429 RESOURCE_EXHAUSTED image quota": _make_quota_fault(_MINUTE["images"], 10),
    "429 RESOURCE_EXHAUSTED spend-based 10-minute limit": _make_quota_fault(limits.SPEND, 10),
    "429 RESOURCE_EXHAUSTED flex capacity shed": _make_quota_fault(limits.FLEX_CAPACITY, 0),
    "429 RESOURCE_EXHAUSTED free tier limit: 0": _make_quota_fault(limits.FREE_TIER, 0),
    "499 CANCELLED": "work_cancelled",
    "500 INTERNAL server error": "internal_error",
    "500 INTERNAL oversized context": make_fault(errors.CONTEXT_TOO_LARGE),
    "501 UNIMPLEMENTED": make_fault(errors.NO_SUCH_OUTPUT, modalities="AUDIO"),
    "503 UNAVAILABLE overloaded or down": "overloaded",
    "503 UNAVAILABLE flex capacity unavailable": make_fault(errors.NO_FLEX_CAPACITY),
    "504 DEADLINE_EXCEEDED": "deadline_exceeded",
}

_INTERACTIONS: FaultTable = {
    "invalid_request": _interactions(errors.MISSING_FIELD, path="input"),
    "failed_precondition": _interactions(errors.BILLING_OFF),
    "out_of_range": _interactions(errors.OUT_OF_RANGE),
    "parameter_unknown": _interactions(errors.UNKNOWN_FIELD, path="colour"),
    "authentication": _interactions(errors.NO_CREDENTIAL),
    "permission_denied": _interactions(errors.KEY_BLOCKED),
    "not_found": _interactions(errors.NO_RESOURCE, id="int_abc"),
    "model_not_found": _interactions(errors.NO_MODEL),
    "already_exists": _interactions(errors.ALREADY_EXISTS, id="int_abc"),
    "aborted": _interactions(errors.ABORTED),
    "rate_limit_exceeded": _interactions(errors.RATE_LIMIT),
    "quota_exceeded": _interactions(errors.QUOTA),
    "too_many_requests": _interactions(errors.TOO_MANY),
    "cancelled": _interactions(errors.CANCELLED),
    "api_error": _interactions(errors.INTERNAL),
    "unimplemented": _interactions(errors.NO_SUCH_OUTPUT, modalities="AUDIO"),
    "service_unavailable": _interactions(errors.OVERLOADED),
    "deadline_exceeded": _interactions(errors.DEADLINE),
    "snake_case HTTP status": _interactions(errors.METHOD_NOT_ALLOWED, method="PUT"),
    "blocked safety": "output_stopped;filter=safety",
    "blocked recitation": "output_stopped;filter=recitation",
    "blocked language": "output_stopped;filter=language",
    "blocked prohibited_content": "output_stopped;filter=prohibited_content",
    "blocked spii": "output_stopped;filter=personal_data",
    "blocked blocklist": "output_stopped;filter=blocklist",
    "blocked image_safety": "output_stopped;filter=image_safety",
    "blocked image_prohibited_content": "output_stopped;filter=image_prohibited_content",
    "blocked image_recitation": "output_stopped;filter=image_recitation",
    "blocked image_other": "output_stopped;filter=image_other",
    "blocked content_blocked": "output_stopped;filter=other",
    "generation malformed_function_call": "model_fault;fault=malformed_call",
    "generation malformed_tool_call": "model_fault;fault=malformed_call",
    "generation unexpected_tool_call": "model_fault;fault=unexpected_call",
    "generation no_image": "model_fault;fault=no_image",
    "generation too_many_tool_calls": "model_fault;fault=too_many_tool_calls",
    "generation missing_thought_signature": "model_fault;fault=missing_thought_signature",
}

_BLOCK_REASONS = {
    "BLOCK_REASON_UNSPECIFIED": "unspecified",
    "SAFETY": "safety",
    "OTHER": "other",
    "BLOCKLIST": "blocklist",
    "PROHIBITED_CONTENT": "prohibited_content",
    "IMAGE_SAFETY": "image_safety",
}

_FINISH_REASONS = {
    "MAX_TOKENS": "model_fault;fault=max_tokens",
    "SAFETY": "output_stopped;filter=safety",
    "RECITATION": "output_stopped;filter=recitation",
    "LANGUAGE": "output_stopped;filter=language",
    "OTHER": "output_stopped;filter=other",
    "BLOCKLIST": "output_stopped;filter=blocklist",
    "PROHIBITED_CONTENT": "output_stopped;filter=prohibited_content",
    "SPII": "output_stopped;filter=personal_data",
    "MALFORMED_FUNCTION_CALL": "model_fault;fault=malformed_call",
    "IMAGE_SAFETY": "output_stopped;filter=image_safety",
    "IMAGE_PROHIBITED_CONTENT": "output_stopped;filter=image_prohibited_content",
    "IMAGE_OTHER": "output_stopped;filter=image_other",
    "NO_IMAGE": "model_fault;fault=no_image",
    "IMAGE_RECITATION": "output_stopped;filter=image_recitation",
    "UNEXPECTED_TOOL_CALL": "model_fault;fault=unexpected_call",
    "TOO_MANY_TOOL_CALLS": "model_fault;fault=too_many_tool_calls",
    "MISSING_THOUGHT_SIGNATURE": "model_fault;fault=missing_thought_signature",
    "MALFORMED_RESPONSE": "model_fault;fault=malformed_response",
}

ARMABLE_ERRORS: FaultTable = {
    **{f"2:7.4#{row}": fault for row, fault in _GENERAL.items()},
    **{f"2:7.4#interactions {row}": fault for row, fault in _INTERACTIONS.items()},
    **{f"2:7.4#blockReason {reason}": f"prompt_blocked;filter={name}" for reason, name in _BLOCK_REASONS.items()},
    **{f"2:7.4#finishReason {reason}": scenario for reason, scenario in _FINISH_REASONS.items()},
    "1:4#unknown path": make_fault(errors.UNKNOWN_PATH),
    "1:5.2#ephemeral tokens creation": make_fault(errors.LIVE_ONLY),
    "2:8.1#batch input file": make_fault(errors.INPUT_FILE_TOO_LARGE, size=2_147_483_649, most=2_147_483_648),
    "2:8.1#batch concurrent requests": "quota_used_up;quota=concurrent_batches",
    "2:8.1#batch file storage": "quota_used_up;quota=file_storage",
    "2:8.3#batch enqueued tokens": "quota_used_up;quota=enqueued_tokens",
    "2:8.3#dimension tokens per day": _make_quota_fault(_DAY["tokens_a_day"], 1_000_000, 3_600),
    "2:8.3#grounding search on previous generation": "quota_used_up;quota=grounding_searches",
    "2:8.3#tier 1": "quota_used_up;quota=spend_cap",
    "2:7.4#live close goAway": "connection_age;age=10m",
    "2:7.4#live close connection reset": "connection_reset",
    # two records have this row, so its answer is that of either
    "2:7.4#live close invalid ephemeral token": _live(errors.BAD_EPHEMERAL_TOKEN, fault="invalid or expired"),
    "2:7.4#live close session lifetime exceeded": "session_age;age=15m",
    "2:8.1#live resumption handle": _live(errors.HANDLE_EXPIRED),
    "1:6#WebSocket close": _live(errors.NOT_ONE_MESSAGE, names="setup, clientContent, realtimeInput, toolResponse"),
}
