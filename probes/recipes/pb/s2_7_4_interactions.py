"""2:7.4 PB "Interactions error codes": as HTTP errors before they begin, as `error` events of the stream after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.calls.call import Call
from catalog_probe.probes.recipes.other_endpoints import changed_request
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import WRONG, Cost

from .requests import LOOKUP, TEXT_ONLY, as_stream, in_both, interaction, with_oauth_token
from .s2_7_4_outcomes import MODELS_CHOICE, NO_NUMBER, TOOL_ROUNDS
from .s2_7_4_quotas import one_too_many

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


def error_event(
    code: str, call: Call, family: Family, *, tokens: int = TOKENS, not_live: tuple[str, str] | None = None
) -> Recipe:
    """A streamed interaction, under way and so paid for, that ends with an `error` event."""
    return family.recipe(code, as_stream(call), cost=Cost.BILLABLE, tokens=tokens, not_live=not_live)


def stopped_interaction(code: str, filter_name: str, model: str = "{small_model}") -> Recipe:
    """An interaction whose output a filter of the provider stops."""
    return error_event(code, interaction(model).with_scenario(f"output_stopped;filter={filter_name}"), BLOCKS)


def blocked_interaction(code: str, filter_name: str, model: str = "{small_model}") -> Recipe:
    """The same of a filter that reads prompts as well (2:7.4, blockReason): one interaction stopped by either."""
    output, prompt = (
        as_stream(interaction(model).with_scenario(f"{what};filter={filter_name}"))
        for what in ("output_stopped", "prompt_blocked")
    )
    return BLOCKS.recipe(code, {"answer": output, "prompt": prompt}, cost=Cost.BILLABLE, tokens=2 * TOKENS)


def faulty_interaction(code: str, fault: str, **fields: Json) -> Recipe:
    """An interaction in which the model itself does something wrong."""
    return error_event(code, interaction(**fields).with_scenario(f"model_fault;fault={fault}"), GENERATION)


REFUSED: tuple[Recipe, ...] = (
    # "invalid_request, failed_precondition, out_of_range, parameter_unknown, authentication, permission_denied,
    # not_found, model_not_found, already_exists, aborted, rate_limit_exceeded, quota_exceeded, too_many_requests,
    # cancelled, api_error, unimplemented, service_unavailable, deadline_exceeded, or a snake_case HTTP status"
    CODES.recipe("invalid_request", interaction(input=5)),
    CODES.recipe("failed_precondition", interaction("{paid_only_model}").replace(credential="billing_off"), tokens=4),
    CODES.recipe("out_of_range", interaction(config={"top_p": 1.1}), tokens=4),
    CODES.recipe("parameter_unknown", interaction(no_such_parameter=True), tokens=4),
    changed_request(CODES, "authentication", interaction(), with_oauth_token(WRONG)),
    CODES.recipe("permission_denied", interaction().replace(credential="restricted"), tokens=4),
    CODES.recipe("not_found", interaction(previous_interaction_id="no-such-interaction"), tokens=4),
    CODES.recipe("model_not_found", interaction("no-such-model")),
    CODES.recipe("already_exists", interaction().with_scenario("id_collision")),
    CODES.recipe("aborted", interaction().with_scenario("concurrency_conflict")),
    CODES.recipe("too_many_requests", interaction(service_tier="flex").with_scenario("flex_capacity_shed")),
    CODES.recipe("cancelled", interaction().with_scenario("work_cancelled")),
    CODES.recipe("api_error", interaction().with_scenario("internal_error")),
    CODES.recipe("unimplemented", interaction(response_modalities=["audio"]), tokens=4),
    CODES.recipe("service_unavailable", interaction().with_scenario("overloaded")),
    CODES.recipe("deadline_exceeded", interaction().with_scenario("deadline_exceeded")),
    CODES.recipe("snake_case_http_status", Call("PATCH", "/v1beta/interactions")),
)

BLOCKED: tuple[Recipe, ...] = (
    # "Blocked codes: safety, recitation, language, prohibited_content, spii, blocklist, image_safety,
    # image_prohibited_content, image_recitation, image_other, content_blocked"
    blocked_interaction("safety", "safety"),
    stopped_interaction("recitation", "recitation"),
    stopped_interaction("language", "language"),
    blocked_interaction("prohibited_content", "prohibited_content"),
    stopped_interaction("spii", "personal_data"),
    blocked_interaction("blocklist", "blocklist"),
    blocked_interaction("image_safety", "image_safety", "{image_model}"),
    stopped_interaction("image_prohibited_content", "image_prohibited_content", "{image_model}"),
    stopped_interaction("image_recitation", "image_recitation", "{image_model}"),
    stopped_interaction("image_other", "image_other", "{image_model}"),
    blocked_interaction("content_blocked", "other"),
)

GENERATED: tuple[Recipe, ...] = (
    # "Generation codes: malformed_function_call, malformed_tool_call, unexpected_tool_call, no_image,
    # too_many_tool_calls, missing_thought_signature"
    faulty_interaction("malformed_function_call", "malformed_call", tools=[FUNCTION]),
    faulty_interaction("malformed_tool_call", "malformed_call", tools=[CODE_EXECUTION]),
    faulty_interaction("unexpected_tool_call", "unexpected_call"),
    error_event(
        "no_image",
        interaction("{image_model}", input=TEXT_ONLY, response_modalities=["image"]),
        GENERATION,
        tokens=2_000,
        not_live=MODELS_CHOICE,
    ),
    error_event(
        "too_many_tool_calls",
        interaction(input=TOO_MANY_CALLS, tools=[FUNCTION]),
        GENERATION,
        tokens=2_000,
        not_live=NO_NUMBER,
    ),
    error_event(
        "missing_thought_signature",
        interaction("{reasoning_model}", input=[QUESTION, FUNCTION_CALL, FUNCTION_RESULT], tools=[FUNCTION]),
        GENERATION,
    ),
)

MID_STREAM: tuple[Recipe, ...] = (
    # 1:6 "Interactions SSE `error` event: event_type `error` with {error: {code, message}}"
    error_event("api_error", interaction().with_scenario("internal_error_mid_stream"), STREAM),
    error_event("service_unavailable", interaction().with_scenario("overloaded_mid_stream"), STREAM),
)

USED_UP: tuple[Recipe, ...] = (
    one_too_many("rate_limit_exceeded", interaction("{minute_quota_model}"), "minute_quota", family=CODES),
    one_too_many("quota_exceeded", interaction("{day_quota_model}"), "day_quota", family=CODES),
)

RECIPES = in_both(REFUSED, BLOCKED, GENERATED, MID_STREAM, USED_UP)
