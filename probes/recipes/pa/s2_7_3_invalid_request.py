"""2:7.3 PA general errors, "Live 400 message kinds": each is one request with one thing wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.calls import BytesBody
from catalog_probe.probes.recipes.minimal_requests import as_stream, with_fields, with_headers
from catalog_probe.probes.recipes.recipe import Family, Recipe

from .requests import (
    COMPLETION,
    HALF_ANSWERED_TOOL_USES,
    PREFILLED,
    REFUSED,
    SERVER_TOOL,
    TOOL,
    UNANSWERED_TOOL_USE,
    count_tokens,
    create_message,
)

if TYPE_CHECKING:
    from catalog_probe.probes.calls import Call

FAMILY = Family("pa/errors/invalid_request")


def with_incomplete_json(call: Call) -> Call:
    return call.replace(body=BytesBody(b'{"model":'), headers={"content-type": "application/json"})


STREAMED = {"streamed": as_stream}
"""A refusal holds for a stream as well: it comes before the stream begins, with its own status."""


def refused_by_model(slug: str, call: Call, tokens: int) -> Recipe:
    """A parameter that the model refuses, if it is of the right class.

    More, for the provider need not show it: the rows say "on models that forbid it" and "unsupported", and not which
    models those are. The model is looked up by size and age (probes/targets/live.toml); if it takes the parameter, its
    success is not judged.
    """
    return FAMILY.recipe(slug, call.replace(may_not_come=REFUSED), tokens=tokens, variants=STREAMED)


RECIPES: tuple[Recipe, ...] = (
    # "missing max_tokens; max_tokens above the model maximum"
    FAMILY.recipe("missing_max_tokens", create_message().without_fields("max_tokens"), variants=STREAMED),
    FAMILY.recipe("max_tokens_above_maximum", create_message(max_tokens=100_000_000), variants=STREAMED),
    # "temperature out of 0..1; top_k not an integer; temperature and top_p both given on models that forbid it"
    FAMILY.recipe("temperature_below_0", create_message(temperature=-0.01), variants=STREAMED),
    FAMILY.recipe("temperature_above_1", create_message(temperature=1.01), variants=STREAMED),
    FAMILY.recipe(
        "top_k_not_integer", create_message(top_k=1.5), variants={**STREAMED, "text": with_fields(top_k="5")}
    ),
    refused_by_model(
        "temperature_and_top_p",
        create_message(model="{one_sampling_parameter_model}", temperature=0.5, top_p=0.5),
        tokens=2,
    ),
    # "empty messages; body not valid JSON"
    FAMILY.recipe("empty_messages", create_message(messages=[]), variants=STREAMED),
    FAMILY.recipe("body_not_json", create_message(), with_incomplete_json),
    # "version value invalid or not allowed for the endpoint; unexpected beta header value"
    FAMILY.recipe("version_invalid", create_message(), with_headers(pa_version="1999-13-32")),
    FAMILY.recipe("version_not_allowed", create_message().with_headers(pa_version="{version_not_for_messages}")),
    FAMILY.recipe("beta_header_unexpected", create_message(), with_headers(pa_beta="no-such-beta-1999-01-01")),
    # "assistant prefill unsupported; adaptive thinking unsupported"
    refused_by_model("prefill_unsupported", create_message(model="{no_prefill_model}", messages=PREFILLED), tokens=4),
    FAMILY.recipe(
        "adaptive_thinking_unsupported",
        create_message(model="{no_adaptive_thinking_model}", thinking={"type": "adaptive"}),
        tokens=2,
        variants=STREAMED,
    ),
    # "tool_use without the next-message tool_result; server tools in count_tokens"
    FAMILY.recipe(
        "tool_use_without_result",
        create_message(messages=UNANSWERED_TOOL_USE, tools=[TOOL]),
        variants={**STREAMED, "second": with_fields(messages=HALF_ANSWERED_TOOL_USES)},
    ),
    FAMILY.recipe("server_tools_in_count_tokens", count_tokens(tools=[SERVER_TOOL])),
    # "inference_geo unsupported; speed parameter unsupported"
    refused_by_model("inference_geo_unsupported", create_message(model="{no_geo_model}", inference_geo="us"), tokens=2),
    refused_by_model("speed_unsupported", create_message(model="{no_speed_model}", speed="fast"), tokens=2),
    # "extra inputs (`betas`, `output_format`) not permitted; removed completion path"
    FAMILY.recipe("extra_input_betas", create_message(betas=["no-such-beta"]), variants=STREAMED),
    FAMILY.recipe(
        "extra_input_output_format", create_message(output_format={"type": "json_schema"}), variants=STREAMED
    ),
    FAMILY.recipe("removed_completion_path", COMPLETION),
)
