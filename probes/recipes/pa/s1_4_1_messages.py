"""1:4.1 PA endpoints, messages and count_tokens: what each field may hold, at its bounds and beyond them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.recipes.recipe import Family, Recipe, Steps, declare_steps
from catalog_probe.probes.targets.target import Cost

from .requests import (
    FAST,
    PREFILLED,
    SERVER_TOOL,
    TOOL,
    TOOL_USE,
    UNANSWERED_TOOL_USE,
    announce_body,
    count_tokens,
    create_message,
    user_turn,
    with_refusals,
)

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pa/endpoints/messages")
MAXIMUM = "max_tokens_of_small_model"
"""Value of the target: the largest `max_tokens` of its small model, which the documents do not show."""
LARGEST_ANSWER = 128_000
"""Upper bound of the tokens that a model generates at its own maximum."""

ANSWERED_TOOL_USE = [
    *user_turn("look it up"),
    {"role": "assistant", "content": [TOOL_USE]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": TOOL_USE["id"], "content": "found"}]},
]


def ask_beyond_maximum(label: str, beyond: int) -> Steps:
    """A message that asks for `beyond` tokens more than the model's maximum."""

    @declare_steps(label, requests=1, needs={"small_model", MAXIMUM})
    async def steps(probe: Probe) -> None:
        await probe.send(create_message(max_tokens=int(probe.values[MAXIMUM]) + beyond), label)

    return steps


RECIPES: tuple[Recipe, ...] = (
    # POST {base_url}/v1/messages
    FAMILY.recipe(
        "create_message",
        with_refusals(
            create_message(),
            # "max_tokens (integer, required)"
            max_tokens_required=create_message().without_fields("max_tokens"),
            max_tokens_integer=create_message(max_tokens="1"),
            # "messages (array, at least one; each assistant tool_use block must be answered by a tool_result block in
            # the next message)"
            messages_array=create_message(messages="hi"),
            messages_not_empty=create_message(messages=[]),
            tool_use_answered=create_message(messages=UNANSWERED_TOOL_USE, tools=[TOOL]),
            tool_use_with_result=create_message(messages=ANSWERED_TOOL_USE, tools=[TOOL]),
            # "temperature (0 to 1), top_p, top_k (integer)"
            temperature_at_least_0=create_message(temperature=-0.01),
            temperature_0=create_message(temperature=0),
            temperature_1=create_message(temperature=1),
            temperature_at_most_1=create_message(temperature=1.01),
            top_p=create_message(top_p=0.5),
            top_k=create_message(top_k=1),
            top_k_integer=create_message(top_k="many"),
            # "Unknown body fields such as `betas` and `output_format` are rejected"
            unknown_field_rejected=create_message(no_such_field=True),
            betas_rejected=create_message(betas=["no-such-beta"]),
            output_format_rejected=create_message(output_format={"type": "json_schema"}),
            # 1:5.1 "A version header `pa-version` is required"
            version_required=create_message().with_headers(pa_version=None),
            version_required_streamed=create_message(stream=True).with_headers(pa_version=None),
            # "service_tier (`auto` default, `standard_only`)"
            service_tier_auto=create_message(service_tier="auto"),
            service_tier_standard_only=create_message(service_tier="standard_only"),
            service_tier_outside=create_message(service_tier="no-such-tier"),
            # "Server tools are allowed here", "may stream by SSE"
            server_tools_allowed=create_message(tools=[SERVER_TOOL]),
            stream=create_message(stream=True).replace(stream=True),
        ),
        cost=Cost.BILLABLE,
        tokens=4_000,
    )
    # 2:7.3 "max_tokens above the model maximum". One key, for `max_tokens_one_above`: the maximum is what the account's
    # own list says of the model.
    .with_optional(ask_beyond_maximum("max_tokens_at_maximum", 0), tokens=LARGEST_ANSWER)
    .with_optional(ask_beyond_maximum("max_tokens_one_above", 1), cost=Cost.FREE, tokens=0)
    .with_optional(
        {
            # "inference_geo, speed, …, thinking settings"
            "inference_geo": create_message(model="{geo_model}", inference_geo="us"),
            "speed": FAST,
            "thinking": create_message(model="{adaptive_thinking_model}", thinking={"type": "adaptive"}),
            # 2:7.3 "temperature and top_p both given on models that forbid it", "assistant prefill …"
            "temperature_and_top_p": create_message(
                model="{two_sampling_parameters_model}", temperature=0.5, top_p=0.5
            ),
            "prefill": create_message(model="{prefill_model}", messages=PREFILLED),
            # 1:5.1 "an optional beta header `pa-beta` may be sent"
            "beta_expected": create_message().with_headers(pa_beta="{fast_mode_beta}"),
        },
        tokens=16,
    )
    # 2:8.1 "messages and count_tokens 32 MB"
    .with_optional({"largest_body": announce_body("/v1/messages", 32)}, cost=Cost.FREE, tokens=0),
    # POST {base_url}/v1/messages/count_tokens: "free; server tools are rejected here"
    FAMILY.recipe(
        "count_tokens",
        with_refusals(
            count_tokens(),
            longer=count_tokens(messages=user_turn("How many tokens are these, and how many more than two letters?")),
            client_tools=count_tokens(tools=[TOOL]),
            server_tools_rejected=count_tokens(tools=[SERVER_TOOL]),
        ),
    ).with_optional({"largest_body": announce_body("/v1/messages/count_tokens", 32)}),
)
