"""The ends of a generation, and the codes of interactions for them (2:7.4)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ending:
    """Why a candidate ended. `code` is the error of an interaction, if any."""

    finish_reason: str
    code: str | None = None


@dataclass(frozen=True)
class Block:
    """Why a prompt was blocked before generation."""

    reason: str
    code: str


STOP = Ending("STOP")
MAX_TOKENS = Ending("MAX_TOKENS")
NO_IMAGE = Ending("NO_IMAGE", "no_image")
TOO_MANY_TOOL_CALLS = Ending("TOO_MANY_TOOL_CALLS", "too_many_tool_calls")
MISSING_THOUGHT_SIGNATURE = Ending("MISSING_THOUGHT_SIGNATURE", "missing_thought_signature")
MALFORMED_FUNCTION_CALL = Ending("MALFORMED_FUNCTION_CALL", "malformed_function_call")
MALFORMED_TOOL_CALL = Ending("MALFORMED_FUNCTION_CALL", "malformed_tool_call")
"""A malformed call of a server-side tool; generateContent has one finish reason for both."""

BLOCKS: dict[str, Block] = {
    "unspecified": Block("BLOCK_REASON_UNSPECIFIED", "content_blocked"),
    "safety": Block("SAFETY", "safety"),
    "other": Block("OTHER", "content_blocked"),
    "blocklist": Block("BLOCKLIST", "blocklist"),
    "prohibited_content": Block("PROHIBITED_CONTENT", "prohibited_content"),
}
"""By the filter that blocks a prompt."""

IMAGE_BLOCKS: dict[str, Block] = {"image_safety": Block("IMAGE_SAFETY", "image_safety")}
"""By the filter that blocks a prompt of an image model."""

ENDINGS: dict[str, Ending] = {
    "safety": Ending("SAFETY", "safety"),
    "recitation": Ending("RECITATION", "recitation"),
    "language": Ending("LANGUAGE", "language"),
    "other": Ending("OTHER", "content_blocked"),
    "blocklist": Ending("BLOCKLIST", "blocklist"),
    "prohibited_content": Ending("PROHIBITED_CONTENT", "prohibited_content"),
    "personal_data": Ending("SPII", "spii"),
}
"""By the filter that stops an output."""

IMAGE_ENDINGS: dict[str, Ending] = {
    "image_safety": Ending("IMAGE_SAFETY", "image_safety"),
    "image_prohibited_content": Ending("IMAGE_PROHIBITED_CONTENT", "image_prohibited_content"),
    "image_recitation": Ending("IMAGE_RECITATION", "image_recitation"),
    "image_other": Ending("IMAGE_OTHER", "image_other"),
}
"""By the filter that stops an image."""

FAULTS: dict[str, Ending] = {
    "unexpected_call": Ending("UNEXPECTED_TOOL_CALL", "unexpected_tool_call"),
    "malformed_response": Ending("MALFORMED_RESPONSE", "api_error"),
}
"""By the model's fault; the generator chooses the ending of a malformed call by the tools that are offered."""
