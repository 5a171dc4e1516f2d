"""PB's scenarios and the ends of a generation, with the error of each (2:7.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.faults import STREAM
from catalog_probe.mockserver.core.scenarios import Scenario, choice, duration
from catalog_probe.mockserver.core.world import RATE_LIMITED
from catalog_probe.mockserver.pb.errors import ABORTED, CANCELLED, DEADLINE, INTERNAL, OVERLOADED
from catalog_probe.mockserver.pb.limits import (
    CAPACITY_SHED,
    CAPACITY_UNAVAILABLE,
    EXHAUSTIBLE_QUOTAS,
    REQUESTS_PER_MINUTE,
    Limits,
    QuotaExcess,
    make_quota_refusal,
)

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pb.call import Call


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
    "max_tokens": MAX_TOKENS,
    "no_image": NO_IMAGE,
    "too_many_tool_calls": TOO_MANY_TOOL_CALLS,
    "missing_thought_signature": MISSING_THOUGHT_SIGNATURE,
}
"""By the model's fault; the generator chooses the ending of a malformed call by the tools that are offered.

The last four are also what a request can bring about.
"""


SHORT_DEADLINE = "short_deadline"
QUOTA_USED_UP = "quota_used_up"
ID_COLLISION = "id_collision"
PROMPT_BLOCKED, OUTPUT_STOPPED, MODEL_FAULT = "prompt_blocked", "output_stopped", "model_fault"

SESSION_AGE = "session_age"
CONNECTION_AGE = "connection_age"
CONNECTION_RESET = "connection_reset"

MALFORMED_CALL = "malformed_call"  # the fault whose finish reason depends on the tools that the request offers

CALL_FAILURES = (
    Scenario("internal_error", "Something breaks inside the provider; any call.", row=INTERNAL),
    Scenario("overloaded", "The provider is overloaded or down; any call.", row=OVERLOADED),
    Scenario("deadline_exceeded", "The work takes longer than the provider allows; any call.", row=DEADLINE),
    Scenario("concurrency_conflict", "Somebody else changes the same thing at the same moment; any call.", row=ABORTED),
    Scenario("work_cancelled", "The provider cancels the work; any call.", row=CANCELLED),
)
STREAM_FAILURES = (
    Scenario(
        "internal_error_mid_stream", "Something breaks after the stream began; streamed generation.", row=INTERNAL
    ),
    Scenario(
        "overloaded_mid_stream",
        "The provider is overloaded after the stream began; streamed generation.",
        row=OVERLOADED,
    ),
)
LIVE_SCENARIOS = (
    Scenario(
        SESSION_AGE,
        "The live session has been in use for so long; opening a live connection.",
        (duration("age", "How long, as in 14m59s."),),
    ),
    Scenario(
        CONNECTION_AGE,
        "The live connection has been open for so long; opening a live connection.",
        (duration("age", "How long, as in 9m59s."),),
    ),
    Scenario(CONNECTION_RESET, "The connection breaks in the middle of the first turn; opening a live connection."),
)
"""Ends of a live connection without the client's doing."""

SCENARIOS = (
    *CALL_FAILURES,
    *STREAM_FAILURES,
    Scenario(
        SHORT_DEADLINE,
        "The provider gives a request so little time; generation, by how much there is to read, think and wait for.",
        (duration("deadline", "How long, as in 1s."),),
    ),
    Scenario(
        QUOTA_USED_UP,
        "A quota that only money or days use up is used up; any authenticated call.",
        (choice("quota", EXHAUSTIBLE_QUOTAS, "Which one."),),
    ),
    Scenario(ID_COLLISION, "The id drawn for a new interaction is already taken; creating an interaction."),
    Scenario(CAPACITY_SHED, "Flex capacity is shed; generation with service tier flex."),
    Scenario(CAPACITY_UNAVAILABLE, "There is no flex capacity at all; generation with service tier flex."),
    Scenario(
        PROMPT_BLOCKED,
        "A filter blocks the prompt; generation, the image filters with image models only.",
        (choice("filter", (*BLOCKS, *IMAGE_BLOCKS), "The filter.", default="safety"),),
    ),
    Scenario(
        OUTPUT_STOPPED,
        "A filter stops the output; generation, the image filters with image models only.",
        (choice("filter", (*ENDINGS, *IMAGE_ENDINGS), "The filter.", default="safety"),),
    ),
    Scenario(
        MODEL_FAULT,
        "The model produces what it should not; generation, a malformed call where tools are offered.",
        (choice("fault", (MALFORMED_CALL, *FAULTS), "What it produces."),),
    ),
    *LIVE_SCENARIOS,
)


def raise_failure(context: Context, model: str) -> None:
    """Raise the failure of a scenario that can fail any call or live setup."""
    context.raise_failure(CALL_FAILURES)
    quota_scenario = context.take(QUOTA_USED_UP)
    if quota_scenario is not None:
        raise make_quota_refusal(model, EXHAUSTIBLE_QUOTAS[quota_scenario.params["quota"]])
    rate_scenario = context.take(RATE_LIMITED.name)
    if rate_scenario is not None:
        delay_s = rate_scenario.params["retry_after"]
        raise make_quota_refusal(model, QuotaExcess(REQUESTS_PER_MINUTE, Limits().requests, delay_s))


def check_deadline(call: Call, work_s: float) -> None:
    """Raise the error of a deadline that is shorter than the work, if any."""
    scenario = call.context.take(SHORT_DEADLINE)
    if scenario is not None and work_s > scenario.params["deadline"]:
        raise DEADLINE()


def find_stream_failure(call: Call) -> Refusal | None:
    """Return the failure that ends this call's stream, if any."""
    fault = call.context.take_fault(STREAM, call.request.url.path)
    if fault is not None:
        return fault
    rows = {scenario.name: scenario.row for scenario in STREAM_FAILURES}
    scenario = call.context.take(*rows)
    row = rows[scenario.name] if scenario else None
    return row() if row else None
