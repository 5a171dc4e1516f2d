"""2:7.5 PC errors, what the provider alone can bring about: faults, overload, policies, safeguards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.recipes.minimal_requests import with_scenario
from catalog_probe.probes.recipes.recipe import Family, Recipe

from .requests import IMAGE, MODELS, TOKENS, create_completion, create_response, stream_response

if TYPE_CHECKING:
    from catalog_probe.probes.calls import Call

ERRORS = Family("pc/errors")
SEARCHING = stream_response(tools=[{"type": "file_search", "vector_store_ids": ["{vector_store}"]}])

CAUSES: dict[str, tuple[Call, str]] = {
    # 400 invalid_prompt: "prompt rejected before generation"
    "request/invalid_prompt": (create_response(), "prompt_rejected"),
    # 400 content_policy_violation (legacy): "usage policy"
    "images/content_policy_violation": (IMAGE, "usage_policy_violation"),
    # 403 misalignment_policy_violation: "monitoring blocked the request before streaming"
    "permission/misalignment_policy_violation": (stream_response(), "misalignment_detected"),
    # 403 cyber_policy: "cybersecurity safeguard flagged the request; may arrive mid-stream"
    "permission/cyber_policy": (create_response(), "cyber_safeguard"),
    # 403 unsupported_country_region_territory: "region not supported"
    "permission/unsupported_country_region_territory": (MODELS, "unsupported_region"),
    # 500 none: "transient fault"; 503 server_is_overloaded: "model lacks capacity; Retry-After"
    "server/server_error": (MODELS, "internal_error"),
    "server/server_is_overloaded": (create_response(), "overloaded"),
    # "Stream error codes after HTTP 200: server_error, rate_limit_exceeded, invalid_prompt, vector_store_timeout, …"
    "stream/server_error": (stream_response(), "internal_error;when=mid_stream"),
    "stream/rate_limit_exceeded": (stream_response(), "capacity_rate_limited"),
    "stream/invalid_prompt": (stream_response(), "prompt_rejected;when=mid_stream"),
    "stream/cyber_policy": (stream_response(), "cyber_safeguard;when=mid_stream"),
    "stream/image_content_policy_violation": (stream_response(), "image_policy"),
    "stream/vector_store_timeout": (SEARCHING, "vector_store_slow"),
    # "Incomplete responses: reasons max_output_tokens, max_messages, content_filter, steered; the chat-completions
    # equivalent is finish_reason `length` or `content_filter`"
    "outcomes/incomplete_content_filter": (create_response(), "content_filtered"),
    "outcomes/incomplete_max_messages": (create_response(), "message_limit"),
    "outcomes/streamed_content_filter": (stream_response(), "content_filtered"),
    "outcomes/streamed_max_messages": (stream_response(), "message_limit"),
    "outcomes/chat_content_filter": (create_completion(), "content_filtered"),
}
"""Slug -> the request, and the mock's scenario."""

RECIPES: tuple[Recipe, ...] = (
    *(ERRORS.recipe(slug, call, with_scenario(cause), tokens=TOKENS) for slug, (call, cause) in CAUSES.items()),
    # 400 moderation_blocked: "image prompt or input blocked"; 2:7.1 "moderation_stage: input or output"
    ERRORS.recipe(
        "images/moderation_blocked",
        {stage: IMAGE.with_scenario(f"image_moderation;stage={stage}") for stage in ("input", "output")},
        tokens=TOKENS,
    ),
)
