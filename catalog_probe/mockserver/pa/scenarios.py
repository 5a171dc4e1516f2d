"""PA's scenarios, spending limits, and the refusals that they lead to (2:7.3)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.faults import STREAM
from catalog_probe.mockserver.core.scenarios import Scenario, choice, whole_number
from catalog_probe.mockserver.core.world import RATE_LIMITED
from catalog_probe.mockserver.pa.errors import (
    ACCELERATION,
    API,
    BILLING,
    CODING_ASSISTANT_LIMIT,
    OVERLOADED,
    SPEND_CAP,
    SPEND_LIMIT_REACHED,
    TIMEOUT,
)
from catalog_probe.mockserver.pa.keys import SpendingStatus
from catalog_probe.mockserver.pa.limits import refuse_used_up
from catalog_probe.mockserver.pa.server_tools import BY_BLOCK, CODES

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.pa.call import Call


CODING_ASSISTANT_RETRY_AFTER_S = 60  # ours

REFUSAL_CATEGORIES = ("cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms")

_TOOL = choice("tool", BY_BLOCK, "The server tool it happens to.", default="web_search")

OF_ANY_CALL = (
    Scenario("payment_problem", "The organization's payment failed; any call.", row=BILLING),
    Scenario("internal_error", "Something breaks inside the provider; any call.", row=API),
    Scenario("upstream_timeout", "The request takes longer than the provider allows; any call.", row=TIMEOUT),
    Scenario("overloaded", "The provider is temporarily overloaded; any call.", row=OVERLOADED),
)

MID_STREAM = {"overloaded_mid_stream": OVERLOADED, "internal_error_mid_stream": API}
"""Scenarios that end a stream after 200 with an `error` event (1:6)."""

SCENARIOS = (
    *OF_ANY_CALL,
    Scenario(
        "acceleration_limit",
        "The organization's usage grew too sharply; messages and batch creation.",
        (whole_number("retry_after", "Seconds to wait.", default=5, minimum=1),),
    ),
    Scenario("overloaded_mid_stream", "The provider is overloaded after the stream began; streamed messages."),
    Scenario("internal_error_mid_stream", "Something breaks after the stream began; streamed messages."),
    Scenario(
        "refusal",
        "The provider's classifiers stop the model's answer; messages.",
        (choice("category", REFUSAL_CATEGORIES, "The policy category.", default="cyber"),),
    ),
    Scenario("server_tool_unavailable", "A server tool is down; messages that offer it.", (_TOOL,)),
    Scenario("server_tool_rate_limited", "A server tool has too many requests; messages that offer it.", (_TOOL,)),
    Scenario(
        "server_tool_failed",
        "A server tool fails whatever the request asks of it; messages that offer it.",
        (_TOOL, choice("code", sorted(CODES), "The `error_code` of its result.")),
    ),
)


def raise_failure(call: Call) -> None:
    """Raise the failure of the scenario or key; call it after authentication."""
    if call.key.spending_status is SpendingStatus.PAYMENT_PROBLEM:
        raise BILLING()
    call.context.raise_failure(OF_ANY_CALL)
    rate_limited = call.context.take(RATE_LIMITED.name)
    if rate_limited is not None:
        raise refuse_used_up(call, rate_limited.params["retry_after"])


def raise_billable_failure(call: Call) -> None:
    """Raise the money or growth limit that this billable call reaches, if any."""
    acceleration = call.context.take("acceleration_limit")
    if acceleration is not None:
        raise ACCELERATION(headers={"retry-after": str(acceleration.params["retry_after"])})
    refuse_spenders(call.key.spending_status, call.now, call.real_now)


def refuse_spenders(status: SpendingStatus, now: float, reached_at: float) -> None:
    """Raise the error of a spending status; every billable endpoint calls this.

    A tier's spend cap that was reached at `reached_at` (seconds) is lifted when the next month begins (1:3, 2:8.2).
    """
    is_lifted = status is SpendingStatus.SPEND_CAP and now >= next_month(reached_at)
    if status is not SpendingStatus.GOOD and not is_lifted:
        raise _make_refusal(status, rfc3339(next_month(now)))


def _make_refusal(status: SpendingStatus, lifted: str) -> Refusal:
    match status:
        case SpendingStatus.ORGANIZATION_LIMIT:
            return SPEND_LIMIT_REACHED(scope="", lifted=lifted)
        case SpendingStatus.WORKSPACE_LIMIT:
            return SPEND_LIMIT_REACHED(scope="workspace ", lifted=lifted)
        case SpendingStatus.CODING_ASSISTANT_LIMIT:
            return CODING_ASSISTANT_LIMIT(headers={"retry-after": str(CODING_ASSISTANT_RETRY_AFTER_S)})
        case _:
            return SPEND_CAP(lifted=lifted)


def next_month(seconds: float) -> float:
    """Return the first day of the next month, 00:00 UTC, when caps lift (1:3, 2:8.2)."""
    now = datetime.fromtimestamp(seconds, UTC)
    year, month = (now.year + 1, 1) if now.month == 12 else (now.year, now.month + 1)
    return datetime(year, month, 1, tzinfo=UTC).timestamp()


def take_mid_stream(call: Call) -> Refusal | None:
    """Return the failure that ends the stream of this call, if any."""
    fault = call.context.take_fault(STREAM)
    if fault is not None:
        return fault
    scenario = call.context.take(*MID_STREAM)
    return MID_STREAM[scenario.name]() if scenario else None
