"""PB's scenarios: what only the provider can bring about, and the refusals they lead to (2:7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.faults import RATE_LIMITED
from catalog_probe.mockserver.core.scenarios import Scenario, choice, duration
from catalog_probe.mockserver.pb.errors import ABORTED, CANCELLED, DEADLINE, INTERNAL, UNAVAILABLE, Kind, PbError
from catalog_probe.mockserver.pb.generation.outcomes import BLOCKS, ENDINGS, FAULTS, IMAGE_BLOCKS, IMAGE_ENDINGS
from catalog_probe.mockserver.pb.limits import quotas

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pb.call import Call

FAILURES: dict[str, tuple[Kind, str]] = {
    "internal_error": (INTERNAL, "An internal error has occurred. Please retry."),
    "overloaded": (UNAVAILABLE, "The model is overloaded. Please try again later."),
    "deadline_exceeded": (DEADLINE, "The request could not be processed before its deadline."),
    "concurrency_conflict": (ABORTED, "The operation was aborted because of a concurrency conflict."),
    "work_cancelled": (CANCELLED, "The operation was cancelled."),
}
"""Causes of failure of any authenticated call."""

MID_STREAM: dict[str, tuple[Kind, str]] = {
    "internal_error_mid_stream": FAILURES["internal_error"],
    "overloaded_mid_stream": FAILURES["overloaded"],
}
"""Causes that end a stream after 200."""

ALL_MODELS = "all models"
"""What a quota of requests is of where the path names no model."""

SHORT_DEADLINE = "short_deadline"
QUOTA_USED_UP = "quota_used_up"

MALFORMED_CALL = "malformed_call"
"""The fault whose name depends on the tools that the request offers."""

SCENARIOS = (
    Scenario("internal_error", "Something breaks inside the provider; any call."),
    Scenario("overloaded", "The provider is overloaded or down; any call."),
    Scenario("deadline_exceeded", "The work takes longer than the provider allows; any call."),
    Scenario(
        SHORT_DEADLINE,
        "The provider gives a request so little time; generation, by how much there is to read, think and wait for.",
        (duration("deadline", "How long, as in 1s."),),
    ),
    Scenario(
        QUOTA_USED_UP,
        "A quota that only money or days use up is used up; any authenticated call.",
        (choice("quota", quotas.USED_UP, "Which one."),),
    ),
    Scenario("concurrency_conflict", "Somebody else changes the same thing at the same moment; any call."),
    Scenario("work_cancelled", "The provider cancels the work; any call."),
    Scenario("id_collision", "The id drawn for a new interaction is already taken; creating an interaction."),
    Scenario("flex_capacity_shed", "Flex capacity is shed; generation with service tier flex."),
    Scenario("flex_capacity_unavailable", "There is no flex capacity at all; generation with service tier flex."),
    Scenario("internal_error_mid_stream", "Something breaks after the stream began; streamed generation."),
    Scenario("overloaded_mid_stream", "The provider is overloaded after the stream began; streamed generation."),
    Scenario(
        "prompt_blocked",
        "A filter blocks the prompt; generation, the image filters with image models only.",
        (choice("filter", (*BLOCKS, *IMAGE_BLOCKS), "The filter.", default="safety"),),
    ),
    Scenario(
        "output_stopped",
        "A filter stops the output; generation, the image filters with image models only.",
        (choice("filter", (*ENDINGS, *IMAGE_ENDINGS), "The filter.", default="safety"),),
    ),
    Scenario(
        "model_fault",
        "The model produces what it should not; generation, a malformed call where tools are offered.",
        (choice("fault", (MALFORMED_CALL, *FAULTS), "What it produces."),),
    ),
)


def raise_failure(call: Call) -> None:
    """Raise the failure that this call suffers, if any; after authentication, since the provider knows who asks."""
    suffer(call.context, call.params.get("model", ALL_MODELS))


def suffer(context: Context, model: str) -> None:
    """Raise the failure that whatever asks this model suffers, if any: a call, or the setup of a live connection."""
    scenario = context.take(*FAILURES)
    if scenario is not None:
        raise PbError(*FAILURES[scenario.name])
    used_up = context.take(QUOTA_USED_UP)
    if used_up is not None:
        raise quotas.used_up(model, used_up.params["quota"])
    limited = context.take(RATE_LIMITED.name)
    if limited is not None:
        raise quotas.used_up_by_others(model, limited.params["retry_after"])


def refuse_late(call: Call, work_s: float) -> None:
    """Raise the deadline that so much work does not keep, if the call has one."""
    scenario = call.context.take(SHORT_DEADLINE)
    if scenario is not None and work_s > scenario.params["deadline"]:
        raise PbError(*FAILURES["deadline_exceeded"])


def mid_stream(call: Call) -> PbError | None:
    """The failure that ends this call's stream, if any."""
    scenario = call.context.take(*MID_STREAM)
    return PbError(*MID_STREAM[scenario.name]) if scenario else None
