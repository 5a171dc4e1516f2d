"""The live 400 message kinds of PA (2:7.3): each is one request with one thing wrong."""

from __future__ import annotations

from catalog_probe.probes.calls.body import Content
from catalog_probe.probes.calls.call import Call, post
from catalog_probe.probes.recipes.other_endpoints import spoilt
from catalog_probe.probes.recipes.recipe import Family, Recipe

from .requests import MESSAGE, count, message, message_without, said

TOOL = {"name": "lookup", "input_schema": {"type": "object"}}
SERVER_TOOL = {"type": "web_search_20250305", "name": "web_search"}
TOOL_USE = {"type": "tool_use", "id": "toolu_01", "name": "lookup", "input": {}}

UNANSWERED_TOOL_USE = [
    *said("look it up"),
    {"role": "assistant", "content": [TOOL_USE]},
    {"role": "user", "content": "well?"},
]
PREFILLED = [*said("hi"), {"role": "assistant", "content": "Hel"}]

FAMILY = Family("pa/errors/invalid_request")

NOT_JSON, AS_JSON = Content(b'{"model":'), {"content-type": "application/json"}


def with_no_version(call: Call) -> Call:
    """The call with a version that never was."""
    return call.with_headers(pa_version="1999-13-32")


def with_no_beta(call: Call) -> Call:
    """The call with a beta that never was."""
    return call.with_headers(pa_beta="no-such-beta-1999-01-01")


RECIPES: tuple[Recipe, ...] = (
    FAMILY.recipe("missing_max_tokens", message_without("max_tokens")),
    FAMILY.recipe("max_tokens_above_maximum", message(max_tokens=100_000_000)),
    FAMILY.recipe("temperature_below_0", message(temperature=-0.01)),
    FAMILY.recipe("temperature_above_1", message(temperature=1.01)),
    FAMILY.recipe("top_k_not_integer", message(top_k=1.5)),
    FAMILY.recipe(
        "temperature_and_top_p",
        message(model="{one_sampling_parameter_model}", temperature=0.5, top_p=0.5),
        tokens=2,
    ),
    FAMILY.recipe("empty_messages", message(messages=[])),
    FAMILY.recipe(
        "body_not_json",
        post("/v1/messages", NOT_JSON, headers=AS_JSON),
        elsewhere=spoilt(lambda call: call.but(body=NOT_JSON, headers=AS_JSON)),
    ),
    FAMILY.recipe("version_invalid", with_no_version(message()), elsewhere=spoilt(with_no_version)),
    FAMILY.recipe("version_not_allowed", message().with_headers(pa_version="{version_not_for_messages}")),
    FAMILY.recipe("beta_header_unexpected", with_no_beta(message()), elsewhere=spoilt(with_no_beta)),
    FAMILY.recipe("prefill_unsupported", message(model="{no_prefill_model}", messages=PREFILLED), tokens=4),
    FAMILY.recipe(
        "adaptive_thinking_unsupported",
        message(model="{no_adaptive_thinking_model}", thinking={"type": "adaptive"}),
        tokens=2,
    ),
    FAMILY.recipe("tool_use_without_result", message(messages=UNANSWERED_TOOL_USE, tools=[TOOL])),
    FAMILY.recipe("server_tools_in_count_tokens", count(tools=[SERVER_TOOL])),
    FAMILY.recipe("inference_geo_unsupported", message(model="{no_geo_model}", inference_geo="us"), tokens=2),
    FAMILY.recipe("speed_unsupported", message(model="{no_speed_model}", speed="fast"), tokens=2),
    FAMILY.recipe("extra_input_betas", message(betas=["no-such-beta"])),
    FAMILY.recipe("extra_input_output_format", message(output_format={"type": "json_schema"})),
    FAMILY.recipe(
        "removed_completion_path",
        post("/v1/complete", {"model": MESSAGE["model"], "prompt": "hi", "max_tokens_to_sample": 1}),
    ),
)
