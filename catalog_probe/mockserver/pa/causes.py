"""PA's scenarios: what only the provider can bring about, and the answers they lead to (2:7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.faults import RATE_LIMITED
from catalog_probe.mockserver.core.scenarios import Scenario, choice, whole_number
from catalog_probe.mockserver.pa.auth.keys import Standing
from catalog_probe.mockserver.pa.errors import API, BILLING, OVERLOADED, RATE_LIMIT, TIMEOUT, Kind, PaError
from catalog_probe.mockserver.pa.limits import rates
from catalog_probe.mockserver.pa.limits.spending import refuse_spenders

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.call import Call

SERVER_TOOLS = ("web_search", "web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution")
REFUSAL_CATEGORIES = ("cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms")

_TOOL = choice("tool", SERVER_TOOLS, "The server tool it happens to.", default="web_search")

FAILURES: dict[str, tuple[Kind, str]] = {
    "payment_problem": (BILLING, "There is a problem with your payment information. Please update it."),
    "internal_error": (API, "Internal server error"),
    "upstream_timeout": (TIMEOUT, "Request timed out. Consider streaming or batches for long requests."),
    "overloaded": (OVERLOADED, "Overloaded"),
}
"""Causes of failure of any authenticated call."""

MID_STREAM: dict[str, tuple[Kind, str]] = {
    "overloaded_mid_stream": FAILURES["overloaded"],
    "internal_error_mid_stream": FAILURES["internal_error"],
}
"""Causes that end a stream after 200 with an `error` event (1:6)."""

_SELF_SET = {"organization": Standing.ORGANIZATION_LIMIT, "workspace": Standing.WORKSPACE_LIMIT}

SCENARIOS = (
    Scenario("payment_problem", "The organization's payment failed; any call."),
    Scenario("internal_error", "Something breaks inside the provider; any call."),
    Scenario("upstream_timeout", "The request takes longer than the provider allows; any call."),
    Scenario("overloaded", "The provider is temporarily overloaded; any call."),
    Scenario(
        "acceleration_limit",
        "The organization's usage grew too sharply; messages and batch creation.",
        (whole_number("retry_after", "Seconds to wait.", default=5, minimum=1),),
    ),
    Scenario("spend_cap_reached", "The usage tier's spend cap of this month is reached; messages and batch creation."),
    Scenario(
        "workspace_spend_limit",
        "The coding-assistant workspace has spent its limit; messages and batch creation.",
    ),
    Scenario(
        "self_set_spend_limit",
        "A limit that the customer set is reached; messages and batch creation.",
        (choice("scope", _SELF_SET, "Whose limit it is.", default="organization"),),
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
)


def raise_failure(call: Call) -> None:
    """Raise the failure that this call suffers, if any; after authentication, since the provider knows who asks."""
    if call.key.standing is Standing.PAYMENT_PROBLEM:
        raise PaError(*FAILURES["payment_problem"])
    scenario = call.context.take(*FAILURES)
    if scenario is not None:
        raise PaError(*FAILURES[scenario.name])
    limited = call.context.take(RATE_LIMITED.name)
    if limited is not None:
        raise rates.used_up_by_others(call, limited.params["retry_after"])


def raise_billable_failure(call: Call) -> None:
    """Raise the money and growth limits that this billable call meets, if any."""
    scenario = call.context.take(
        "acceleration_limit", "spend_cap_reached", "workspace_spend_limit", "self_set_spend_limit"
    )
    if scenario is None:
        return
    match scenario.name:
        case "acceleration_limit":
            message = "Your organization's usage increased too sharply. Please ramp up gradually."
            raise PaError(RATE_LIMIT, message, headers={"retry-after": str(scenario.params["retry_after"])})
        case "spend_cap_reached":
            refuse_spenders(Standing.SPEND_CAP, call.now, call.real_now)
        case "workspace_spend_limit":
            refuse_spenders(Standing.CODING_ASSISTANT_LIMIT, call.now, call.real_now)
        case _:
            refuse_spenders(_SELF_SET[scenario.params["scope"]], call.now, call.real_now)
