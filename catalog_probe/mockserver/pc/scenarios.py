"""PC's scenarios: what only the provider can cause, and the error of each (2:7.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.faults import STREAM
from catalog_probe.mockserver.core.scenarios import Scenario, choice, duration, whole_number
from catalog_probe.mockserver.core.world import RATE_LIMITED
from catalog_probe.mockserver.pc.errors import (
    CAPACITY_REACHED,
    CONTENT_POLICY_VIOLATION,
    CYBER_POLICY,
    IMAGE_CONTENT_POLICY_VIOLATION,
    INVALID_PROMPT,
    MISALIGNMENT_POLICY_VIOLATION,
    MODERATION_BLOCKED,
    SERVER_ERROR,
    SERVER_IS_OVERLOADED,
    UNSUPPORTED_COUNTRY_REGION_TERRITORY,
    USED_UP_BY_OTHERS,
    VECTOR_STORE_TIMEOUT,
)
from catalog_probe.mockserver.pc.limits import make_retry_after

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.scenarios import ActiveScenario
    from catalog_probe.mockserver.core.world import Context

BEFORE, MID_STREAM = "before_generation", "mid_stream"  # values of the parameter `when`
_WHEN = choice("when", (BEFORE, MID_STREAM), "Before anything is generated, or after the stream began.", default=BEFORE)

INTERNAL, OVERLOAD, RATE = "internal_error", "overloaded", "capacity_rate_limited"
PROMPT, CYBER, MISALIGNMENT = "prompt_rejected", "cyber_safeguard", "misalignment_detected"
USAGE_POLICY, MODERATION, IMAGE_POLICY = "usage_policy_violation", "image_moderation", "image_policy"
REGION, STORE_TIMEOUT = "unsupported_region", "vector_store_slow"
FILTER, MESSAGES, LENGTH = "content_filtered", "message_limit", "output_limit"
SESSION_AGE = "session_age"

SCENARIOS = (
    Scenario(INTERNAL, "Something breaks inside the provider; any call, or a stream.", (_WHEN,), SERVER_ERROR),
    Scenario(
        OVERLOAD,
        "The model lacks capacity; generation.",
        (whole_number("retry_after", "Seconds to wait.", default=1),),
        SERVER_IS_OVERLOADED,
    ),
    Scenario(
        RATE,
        "The provider's own rate limit is met after the stream began; streamed responses.",
        row=CAPACITY_REACHED,
    ),
    Scenario(PROMPT, "The prompt is rejected; responses.", (_WHEN,), INVALID_PROMPT),
    Scenario(CYBER, "The cybersecurity safeguard flags the request; responses.", (_WHEN,), CYBER_POLICY),
    Scenario(MISALIGNMENT, "Monitoring finds the agent misaligned; responses.", row=MISALIGNMENT_POLICY_VIOLATION),
    Scenario(
        USAGE_POLICY,
        "The request violates the usage policy, on an older path; images.",
        row=CONTENT_POLICY_VIOLATION,
    ),
    Scenario(
        MODERATION,
        "Moderation blocks an image request; images.",
        (choice("stage", ("input", "output"), "What was moderated.", default="input"),),
        MODERATION_BLOCKED,
    ),
    Scenario(
        REGION, "The caller is in a region that is not served; any call.", row=UNSUPPORTED_COUNTRY_REGION_TERRITORY
    ),
    Scenario(
        IMAGE_POLICY,
        "An input image violates the content policy; streamed responses.",
        row=IMAGE_CONTENT_POLICY_VIOLATION,
    ),
    Scenario(
        STORE_TIMEOUT,
        "A vector store does not answer in time; streamed responses that search files.",
        row=VECTOR_STORE_TIMEOUT,
    ),
    Scenario(FILTER, "The content filter stops the output; responses and chat completions."),
    Scenario(MESSAGES, "The response reaches the limit of messages; responses."),
    Scenario(LENGTH, "The output reaches the limit of tokens at once; responses and chat completions."),
    Scenario(
        SESSION_AGE,
        "The socket has been open for so long; opening a WebSocket.",
        (duration("age", "How long, as in 59m59s."),),
    ),
)

ROWS = {
    scenario.name: scenario.row
    for scenario in (*SCENARIOS, replace(RATE_LIMITED, row=USED_UP_BY_OTHERS))
    if scenario.row is not None
}


def refuse_region(context: Context) -> None:
    """Raise the error of an unsupported region; a WebSocket is not opened."""
    _raise(find_failure(context, REGION))


def raise_failure(context: Context) -> None:
    """Raise the failure of a scenario that can fail any call."""
    _raise(find_failure(context, REGION, INTERNAL, RATE_LIMITED.name))


def raise_generation_failure(context: Context) -> None:
    """Raise the failure of a scenario that can fail a generation before it begins."""
    _raise(find_failure(context, OVERLOAD, MISALIGNMENT, PROMPT, CYBER))


def find_stream_failure(context: Context) -> Refusal | None:
    """Return the failure that ends a stream after 200, if any (1:6)."""
    return context.take_fault(STREAM) or find_failure(
        context, RATE, IMAGE_POLICY, INTERNAL, PROMPT, CYBER, when=MID_STREAM
    )


def find_search_failure(context: Context) -> Refusal | None:
    """Return the failure that ends a stream with a file search, if any."""
    return find_failure(context, STORE_TIMEOUT)


def moderate(context: Context) -> None:
    """Raise the error of moderation for an image request (2:7.1)."""
    _raise(find_failure(context, USAGE_POLICY, MODERATION))


def find_failure(context: Context, *names: str, when: str = BEFORE) -> Refusal | None:
    """Return the error of the scenario, if it is one of `names` with this `when`."""
    scenario = context.scenario
    if scenario is None or scenario.params.get("when", when) != when or context.take(*names) is None:
        return None
    wait_s = scenario.params.get("retry_after")
    headers = None if wait_s is None else make_retry_after(wait_s)
    return ROWS[scenario.name](headers=headers, extra=_make_details(scenario))


def _make_details(scenario: ActiveScenario) -> dict[str, Any]:
    """Return the additional members of the error object (2:7.1)."""
    if scenario.name == MODERATION:
        return {"moderation_details": {"moderation_stage": scenario.params["stage"], "categories": ["violence"]}}
    if scenario.name == MISALIGNMENT:
        return {
            "misalignment": {
                "classification": "unauthorized_action",
                "message": "The agent was about to act beyond what it was asked to do.",
                "continuation_instruction": "Stop, and let an operator look at it.",
            }
        }
    return {}


def _raise(refusal: Refusal | None) -> None:
    if refusal is not None:
        raise refusal
