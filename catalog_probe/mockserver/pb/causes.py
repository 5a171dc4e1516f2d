"""PB's scenarios: what only the provider can bring about, and the refusals they lead to (2:7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.faults import RATE_LIMITED
from catalog_probe.mockserver.core.scenarios import Scenario, choice, duration
from catalog_probe.mockserver.pb.errors import ABORTED, CANCELLED, DEADLINE, INTERNAL, OVERLOADED
from catalog_probe.mockserver.pb.generation.outcomes import BLOCKS, ENDINGS, FAULTS, IMAGE_BLOCKS, IMAGE_ENDINGS
from catalog_probe.mockserver.pb.limits import REQUESTS_PER_MINUTE, USED_UP, Excess, Limits
from catalog_probe.mockserver.pb.quotas import CAPACITY_SHED, CAPACITY_UNAVAILABLE, make_quota_refusal

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pb.call import Call

SHORT_DEADLINE = "short_deadline"
QUOTA_USED_UP = "quota_used_up"
ID_COLLISION = "id_collision"
PROMPT_BLOCKED, OUTPUT_STOPPED, MODEL_FAULT = "prompt_blocked", "output_stopped", "model_fault"

SESSION_AGE = "session_age"
CONNECTION_AGE = "connection_age"
CONNECTION_RESET = "connection_reset"

MALFORMED_CALL = "malformed_call"
"""The fault whose name depends on the tools that the request offers."""

OF_ANY_CALL = (
    Scenario("internal_error", "Something breaks inside the provider; any call.", row=INTERNAL),
    Scenario("overloaded", "The provider is overloaded or down; any call.", row=OVERLOADED),
    Scenario("deadline_exceeded", "The work takes longer than the provider allows; any call.", row=DEADLINE),
    Scenario("concurrency_conflict", "Somebody else changes the same thing at the same moment; any call.", row=ABORTED),
    Scenario("work_cancelled", "The provider cancels the work; any call.", row=CANCELLED),
)
MID_STREAM = (
    Scenario(
        "internal_error_mid_stream", "Something breaks after the stream began; streamed generation.", row=INTERNAL
    ),
    Scenario(
        "overloaded_mid_stream",
        "The provider is overloaded after the stream began; streamed generation.",
        row=OVERLOADED,
    ),
)
OF_LIVE_CONNECTIONS = (
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
"""What happens without the client's doing: time that passes, and a network that breaks."""

SCENARIOS = (
    *OF_ANY_CALL,
    *MID_STREAM,
    Scenario(
        SHORT_DEADLINE,
        "The provider gives a request so little time; generation, by how much there is to read, think and wait for.",
        (duration("deadline", "How long, as in 1s."),),
    ),
    Scenario(
        QUOTA_USED_UP,
        "A quota that only money or days use up is used up; any authenticated call.",
        (choice("quota", USED_UP, "Which one."),),
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
    *OF_LIVE_CONNECTIONS,
)


def raise_failure(context: Context, model: str) -> None:
    """Raise the failure that whatever asks this model suffers, if any: a call, or the setup of a live connection."""
    context.raise_failure(OF_ANY_CALL)
    used_up = context.take(QUOTA_USED_UP)
    if used_up is not None:
        raise make_quota_refusal(model, USED_UP[used_up.params["quota"]])
    limited = context.take(RATE_LIMITED.name)
    if limited is not None:
        raise make_quota_refusal(model, Excess(REQUESTS_PER_MINUTE, Limits().requests, limited.params["retry_after"]))


def refuse_late(call: Call, work_s: float) -> None:
    """Raise the deadline that so much work does not keep, if the call has one."""
    scenario = call.context.take(SHORT_DEADLINE)
    if scenario is not None and work_s > scenario.params["deadline"]:
        raise DEADLINE()


def find_mid_stream_failure(call: Call) -> Refusal | None:
    """The failure that ends this call's stream, if any."""
    rows = {scenario.name: scenario.row for scenario in MID_STREAM}
    suffered = call.context.take(*rows)
    row = rows[suffered.name] if suffered else None
    return row() if row else None
