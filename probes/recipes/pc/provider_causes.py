"""What PC alone can bring about: faults, overload, policies, safeguards (2:7.5)."""

from __future__ import annotations

from catalog_probe.probes.calls.call import Call, post
from catalog_probe.probes.recipes.other_endpoints import spoilt
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.recipes.shapes import befallen

from .requests import MODELS, TOKENS, completion, response, streamed

ERRORS = Family("pc/errors")
IMAGE = post("/v1/images/generations", {"model": "{image_model}", "prompt": "hi"})
SEARCHING = streamed(tools=[{"type": "file_search", "vector_store_ids": ["{vector_store}"]}])

CAUSES: dict[str, tuple[Call, str]] = {
    "request/invalid_prompt": (response(), "prompt_rejected"),
    "images/content_policy_violation": (IMAGE, "usage_policy_violation"),
    "permission/misalignment_policy_violation": (streamed(), "misalignment_detected"),
    "permission/cyber_policy": (response(), "cyber_safeguard"),
    "permission/unsupported_country_region_territory": (MODELS, "unsupported_region"),
    "server/server_error": (MODELS, "internal_error"),
    "server/server_is_overloaded": (response(), "overloaded"),
    "stream/server_error": (streamed(), "internal_error;when=mid_stream"),
    "stream/rate_limit_exceeded": (streamed(), "capacity_rate_limited"),
    "stream/invalid_prompt": (streamed(), "prompt_rejected;when=mid_stream"),
    "stream/cyber_policy": (streamed(), "cyber_safeguard;when=mid_stream"),
    "stream/image_content_policy_violation": (streamed(), "image_policy"),
    "stream/vector_store_timeout": (SEARCHING, "vector_store_slow"),
    "outcomes/incomplete_content_filter": (response(), "content_filtered"),
    "outcomes/incomplete_max_messages": (response(), "message_limit"),
    "outcomes/streamed_content_filter": (streamed(), "content_filtered"),
    "outcomes/streamed_max_messages": (streamed(), "message_limit"),
    "outcomes/chat_content_filter": (completion(), "content_filtered"),
}
"""Family and slug -> the request, and the cause that befalls it."""

RECIPES: tuple[Recipe, ...] = (
    *(
        ERRORS.recipe(place, call.befallen(cause), tokens=TOKENS, elsewhere=spoilt(befallen(cause)))
        for place, (call, cause) in CAUSES.items()
    ),
    ERRORS.recipe(
        "images/moderation_blocked",
        {stage: IMAGE.befallen(f"image_moderation;stage={stage}") for stage in ("input", "output")},
        tokens=TOKENS,
    ),
)
