"""2:7.4 PB "Interactions error codes": as HTTP errors before they begin, as `error` events of the stream after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.calls import Call
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import WRONG_KEY, Cost

from .requests import (
    LOOKUP,
    NO_UNSUPPORTED_FEATURE,
    TEXT_ONLY,
    as_stream,
    create_interaction,
    in_both_versions,
    with_oauth_token,
)
from .s2_7_4_outcomes import MODELS_CHOICE, NUMBER_UNDOCUMENTED, TOOL_ROUNDS
from .s2_7_4_quotas import exhaustion_recipe

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

CODES = Family("pb/errors/interactions")
BLOCKS = Family("pb/errors/interactions_blocked")
GENERATION = Family("pb/errors/interactions_generation")
STREAM = Family("pb/errors/interactions_stream")
TOKENS = 300

FUNCTION = {"type": "function", **LOOKUP}
CODE_EXECUTION = {"type": "code_execution"}
QUESTION = {"type": "user_input", "content": [{"type": "text", "text": "look it up"}]}
FUNCTION_CALL = {"type": "function_call", "id": "call_1", "name": "lookup", "arguments": {}}
FUNCTION_RESULT = {"type": "function_result", "call_id": "call_1", "name": "lookup", "result": "nothing"}
TOO_MANY_CALLS: list[Json] = [QUESTION, *[FUNCTION_CALL, FUNCTION_RESULT] * TOOL_ROUNDS]


def error_event_recipe(
    code: str, call: Call, family: Family, *, tokens: int = TOKENS, not_live: tuple[str, str] | None = None
) -> Recipe:
    """A streamed interaction that ends with an `error` event; what was generated before it costs."""
    return family.recipe(code, as_stream(call), cost=Cost.BILLABLE, tokens=tokens, not_live=not_live)


def stopped_recipe(code: str, filter_name: str, model: str = "{small_model}") -> Recipe:
    """An interaction whose output a filter of the provider stops."""
    return error_event_recipe(
        code, create_interaction(model).with_scenario(f"output_stopped;filter={filter_name}"), BLOCKS
    )


def blocked_recipe(code: str, filter_name: str, model: str = "{small_model}") -> Recipe:
    """Two interactions: a filter stops the output of one and blocks the prompt of the other (2:7.4, blockReason)."""
    output, prompt = (
        as_stream(create_interaction(model).with_scenario(f"{what};filter={filter_name}"))
        for what in ("output_stopped", "prompt_blocked")
    )
    return BLOCKS.recipe(code, {"answer": output, "prompt": prompt}, cost=Cost.BILLABLE, tokens=2 * TOKENS)


def model_fault_recipe(code: str, fault: str, **fields: Json) -> Recipe:
    """An interaction in which the model itself does something wrong."""
    return error_event_recipe(
        code, create_interaction(**fields).with_scenario(f"model_fault;fault={fault}"), GENERATION
    )


REQUEST_ERRORS: tuple[Recipe, ...] = (
    # "invalid_request, failed_precondition, out_of_range, parameter_unknown, authentication, permission_denied,
    # not_found, model_not_found, already_exists, aborted, rate_limit_exceeded, quota_exceeded, too_many_requests,
    # cancelled, api_error, unimplemented, service_unavailable, deadline_exceeded, or a snake_case HTTP status"
    CODES.recipe("invalid_request", create_interaction(input=5)),
    CODES.recipe(
        "failed_precondition", create_interaction("{paid_only_model}").replace(credential="billing_off"), tokens=4
    ),
    CODES.recipe("out_of_range", create_interaction(config={"top_p": 1.1}), tokens=4),
    CODES.recipe("parameter_unknown", create_interaction(no_such_parameter=True), tokens=4),
    CODES.recipe("authentication", create_interaction(), with_oauth_token(WRONG_KEY)),
    CODES.recipe("permission_denied", create_interaction().replace(credential="restricted"), tokens=4),
    CODES.recipe("not_found", create_interaction(previous_interaction_id="no-such-interaction"), tokens=4),
    CODES.recipe("model_not_found", create_interaction("no-such-model")),
    CODES.recipe("already_exists", create_interaction().with_scenario("id_collision")),
    CODES.recipe("aborted", create_interaction().with_scenario("concurrency_conflict")),
    CODES.recipe("too_many_requests", create_interaction(service_tier="flex").with_scenario("flex_capacity_shed")),
    CODES.recipe("cancelled", create_interaction().with_scenario("work_cancelled")),
    CODES.recipe("api_error", create_interaction().with_scenario("internal_error")),
    CODES.recipe(
        "unimplemented",
        create_interaction(response_modalities=["audio"]),
        tokens=4,
        not_live=NO_UNSUPPORTED_FEATURE,
    ),
    CODES.recipe("service_unavailable", create_interaction().with_scenario("overloaded")),
    CODES.recipe("deadline_exceeded", create_interaction().with_scenario("deadline_exceeded")),
    CODES.recipe("snake_case_http_status", Call("PATCH", "/v1beta/interactions")),
)

BLOCKED_ROWS: tuple[Recipe, ...] = (
    # "Blocked codes: safety, recitation, language, prohibited_content, spii, blocklist, image_safety,
    # image_prohibited_content, image_recitation, image_other, content_blocked"
    blocked_recipe("safety", "safety"),
    stopped_recipe("recitation", "recitation"),
    stopped_recipe("language", "language"),
    blocked_recipe("prohibited_content", "prohibited_content"),
    stopped_recipe("spii", "personal_data"),
    blocked_recipe("blocklist", "blocklist"),
    blocked_recipe("image_safety", "image_safety", "{image_model}"),
    stopped_recipe("image_prohibited_content", "image_prohibited_content", "{image_model}"),
    stopped_recipe("image_recitation", "image_recitation", "{image_model}"),
    stopped_recipe("image_other", "image_other", "{image_model}"),
    blocked_recipe("content_blocked", "other"),
)

GENERATION_ERRORS: tuple[Recipe, ...] = (
    # "Generation codes: malformed_function_call, malformed_tool_call, unexpected_tool_call, no_image,
    # too_many_tool_calls, missing_thought_signature"
    model_fault_recipe("malformed_function_call", "malformed_call", tools=[FUNCTION]),
    model_fault_recipe("malformed_tool_call", "malformed_call", tools=[CODE_EXECUTION]),
    model_fault_recipe("unexpected_tool_call", "unexpected_call"),
    error_event_recipe(
        "no_image",
        create_interaction("{image_model}", input=TEXT_ONLY, response_modalities=["image"]),
        GENERATION,
        tokens=2_000,
        not_live=MODELS_CHOICE,
    ),
    error_event_recipe(
        "too_many_tool_calls",
        create_interaction(input=TOO_MANY_CALLS, tools=[FUNCTION]),
        GENERATION,
        tokens=2_000,
        not_live=NUMBER_UNDOCUMENTED,
    ),
    error_event_recipe(
        "missing_thought_signature",
        create_interaction("{reasoning_model}", input=[QUESTION, FUNCTION_CALL, FUNCTION_RESULT], tools=[FUNCTION]),
        GENERATION,
    ),
)

MID_STREAM: tuple[Recipe, ...] = (
    # 1:6 "Interactions SSE `error` event: event_type `error` with {error: {code, message}}"
    error_event_recipe("api_error", create_interaction().with_scenario("internal_error_mid_stream"), STREAM),
    error_event_recipe("service_unavailable", create_interaction().with_scenario("overloaded_mid_stream"), STREAM),
)

QUOTA_ERRORS: tuple[Recipe, ...] = (
    exhaustion_recipe("rate_limit_exceeded", create_interaction("{minute_quota_model}"), "minute_quota", family=CODES),
    exhaustion_recipe("quota_exceeded", create_interaction("{day_quota_model}"), "day_quota", family=CODES),
)

RECIPES = in_both_versions(REQUEST_ERRORS, BLOCKED_ROWS, GENERATION_ERRORS, MID_STREAM, QUOTA_ERRORS)
