"""PC's scenarios: what only the provider can bring about, and the answers they lead to (2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.faults import RATE_LIMITED
from catalog_probe.mockserver.core.scenarios import Scenario, choice, whole_number
from catalog_probe.mockserver.pc.errors import (
    CONTENT_POLICY_VIOLATION,
    CYBER_POLICY,
    IMAGE_CONTENT_POLICY_VIOLATION,
    INVALID_PROMPT,
    MISALIGNMENT_POLICY_VIOLATION,
    MODERATION_BLOCKED,
    RATE_LIMIT_EXCEEDED,
    SERVER_ERROR,
    SERVER_IS_OVERLOADED,
    UNSUPPORTED_COUNTRY_REGION_TERRITORY,
    PcError,
    retry_after,
)

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import Context

BEFORE, MID_STREAM = "before_generation", "mid_stream"
_WHEN = choice("when", (BEFORE, MID_STREAM), "Before anything is generated, or after the stream began.", default=BEFORE)

INTERNAL, OVERLOAD, RATE, PROMPT, CYBER = (
    "internal_error",
    "overloaded",
    "capacity_rate_limited",
    "prompt_rejected",
    "cyber_safeguard",
)
IMAGE_POLICY, STORE_TIMEOUT = "image_policy", "vector_store_slow"
REGION, MISALIGNMENT, USAGE_POLICY, MODERATION = (
    "unsupported_region",
    "misalignment_detected",
    "usage_policy_violation",
    "image_moderation",
)
FILTER, MESSAGES = "content_filtered", "message_limit"
SCENARIOS = (
    Scenario(INTERNAL, "Something breaks inside the provider; any call, or a stream.", (_WHEN,)),
    Scenario(
        OVERLOAD,
        "The model lacks capacity; generation.",
        (whole_number("retry_after", "Seconds to wait.", default=1),),
    ),
    Scenario(RATE, "The provider's own rate limit is met after the stream began; streamed responses."),
    Scenario(PROMPT, "The prompt is rejected; responses.", (_WHEN,)),
    Scenario(CYBER, "The cybersecurity safeguard flags the request; responses.", (_WHEN,)),
    Scenario(MISALIGNMENT, "Monitoring finds the agent misaligned; responses."),
    Scenario(USAGE_POLICY, "The request violates the usage policy, on an older path; images."),
    Scenario(
        MODERATION,
        "Moderation blocks an image request; images.",
        (choice("stage", ("input", "output"), "What was moderated.", default="input"),),
    ),
    Scenario(REGION, "The caller is in a region that is not served; any call."),
    Scenario(IMAGE_POLICY, "An input image violates the content policy; streamed responses."),
    Scenario(STORE_TIMEOUT, "A vector store does not answer in time; streamed responses that search files."),
    Scenario(FILTER, "The content filter stops the output; responses and chat completions."),
    Scenario(MESSAGES, "The response reaches the limit of messages; responses."),
)


def refuse_region(context: Context) -> None:
    """Refuse whoever calls from where the provider is not; a WebSocket is refused before it is open."""
    if context.take(REGION) is not None:
        message = "Country, region, or territory not supported"
        raise UNSUPPORTED_COUNTRY_REGION_TERRITORY(message)


def raise_failure(context: Context) -> None:
    """Raise the failure that any call can suffer."""
    refuse_region(context)
    if _timed(context, BEFORE) and context.take(INTERNAL) is not None:
        raise broken()
    limited = context.take(RATE_LIMITED.name)
    if limited is not None:
        message = "Rate limit reached: your organization has used up its requests per minute."
        raise RATE_LIMIT_EXCEEDED(message, headers=retry_after(limited.params["retry_after"]))


def raise_generation_failure(context: Context) -> None:
    """Raise the failure that a generation can suffer before it begins."""
    scenario = context.take(OVERLOAD)
    if scenario is not None:
        raise overloaded(scenario.params["retry_after"])
    if context.take(MISALIGNMENT) is not None:
        raise misaligned()
    if not _timed(context, BEFORE):
        return
    if context.take(PROMPT) is not None:
        raise rejected()
    if context.take(CYBER) is not None:
        raise flagged()


def mid_stream(context: Context) -> PcError | None:
    """What ends a stream after 200, if anything does (1:6)."""
    if context.take(RATE) is not None:
        return RATE_LIMIT_EXCEEDED("Rate limit reached. Please try again later.")
    if context.take(IMAGE_POLICY) is not None:
        return IMAGE_CONTENT_POLICY_VIOLATION("The image violates the content policy.")
    if not _timed(context, MID_STREAM):
        return None
    if context.take(INTERNAL) is not None:
        return broken()
    if context.take(PROMPT) is not None:
        return rejected()
    return flagged() if context.take(CYBER) is not None else None


def moderate(context: Context) -> None:
    """Raise what moderation has against an image request (2:7.1)."""
    if context.take(USAGE_POLICY) is not None:
        message = "Your request was rejected because it violates the usage policy."
        raise CONTENT_POLICY_VIOLATION(message)
    scenario = context.take(MODERATION)
    if scenario is not None:
        raise moderated(scenario.params["stage"])


def _timed(context: Context, when: str) -> bool:
    """Whether a scenario is active that strikes then."""
    return context.scenario is not None and context.scenario.params.get("when") == when


def broken() -> PcError:
    """A transient fault; over HTTP it has no code, in a stream the code is server_error."""
    return SERVER_ERROR("The server had an error while processing your request.")


def overloaded(wait_s: float) -> PcError:
    """The model lacks capacity for so long."""
    return SERVER_IS_OVERLOADED(
        "The server is currently overloaded. Please try again later.", headers=retry_after(wait_s)
    )


def moderated(stage: str) -> PcError:
    """Moderation blocked what went in, or what would have come out (2:7.1)."""
    details = {"moderation_stage": stage, "categories": ["violence"]}
    return MODERATION_BLOCKED("Your request was rejected by the safety system.", extra={"moderation_details": details})


def rejected() -> PcError:
    return INVALID_PROMPT("Your prompt was rejected: it was flagged as potentially violating our policy.")


def flagged() -> PcError:
    return CYBER_POLICY("This request was flagged by the cybersecurity safeguard.")


def misaligned() -> PcError:
    details = {
        "classification": "unauthorized_action",
        "message": "The agent was about to act beyond what it was asked to do.",
        "continuation_instruction": "Stop, and let an operator look at it.",
    }
    message = "Monitoring blocked this request."
    return MISALIGNMENT_POLICY_VIOLATION(message, extra={"misalignment": details})
