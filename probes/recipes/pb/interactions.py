"""The codes of PB's interactions (2:7.4): as HTTP errors before they begin, as `error` events of the stream after."""

from __future__ import annotations

from typing import Any

from probes.calls.call import Call
from probes.elicit.probe import Probe
from probes.elicit.recipe import Recipe, recipe, stepwise
from probes.recipes.pb.outcomes import MODELS_CHOICE, NO_NUMBER, TOOL_ROUNDS
from probes.recipes.pb.quota import MOST, exhaust
from probes.recipes.pb.requests import LOOKUP, TEXT_ONLY, interaction, streamed
from probes.target.target import Cost

FAMILY = "pb/errors/interactions"
TOKENS = 300

FUNCTION = {"type": "function", **LOOKUP}
CODE_EXECUTION = {"type": "code_execution"}
ASKED = {"type": "user_input", "content": [{"type": "text", "text": "look it up"}]}
CALLED = {"type": "function_call", "id": "call_1", "name": "lookup", "arguments": {}}
ANSWERED = {"type": "function_result", "call_id": "call_1", "name": "lookup", "result": "nothing"}


def befallen(code: str, scenario: str) -> Recipe:
    """A small interaction that suffers what only the provider can cause."""
    return recipe(f"{FAMILY}/{code}", interaction().befallen(scenario))


def event(family: str, code: str, call: Call, **options: Any) -> Recipe:
    """A streamed interaction, under way and so paid for, that ends with an `error` event."""
    return recipe(f"{FAMILY}_{family}/{code}", streamed(call), cost=Cost.BILLABLE, **{"tokens": TOKENS, **options})


def stopped(code: str, filter_name: str, model: str = "{small_model}") -> Recipe:
    """An interaction that a filter of the provider stops."""
    return event("blocked", code, interaction(model).befallen(f"output_stopped;filter={filter_name}"))


def faulty(code: str, fault: str, **fields: Any) -> Recipe:
    """An interaction in which the model itself does something wrong."""
    return event("generation", code, interaction(**fields).befallen(f"model_fault;fault={fault}"))


REFUSED: tuple[Recipe, ...] = (
    recipe(f"{FAMILY}/invalid_request", interaction(input=5)),
    recipe(f"{FAMILY}/failed_precondition", interaction("{paid_only_model}").but(credential="billing_off"), tokens=4),
    recipe(f"{FAMILY}/out_of_range", interaction(config={"top_p": 1.1}), tokens=4),
    recipe(f"{FAMILY}/parameter_unknown", interaction(no_such_parameter=True), tokens=4),
    recipe(f"{FAMILY}/authentication", interaction().but(credential=None)),
    recipe(f"{FAMILY}/permission_denied", interaction().but(credential="restricted"), tokens=4),
    recipe(f"{FAMILY}/not_found", interaction(previous_interaction_id="no-such-interaction"), tokens=4),
    recipe(f"{FAMILY}/model_not_found", interaction("no-such-model")),
    befallen("already_exists", "id_collision"),
    befallen("aborted", "concurrency_conflict"),
    recipe(f"{FAMILY}/too_many_requests", interaction(service_tier="flex").befallen("flex_capacity_shed")),
    befallen("cancelled", "work_cancelled"),
    befallen("api_error", "internal_error"),
    recipe(f"{FAMILY}/unimplemented", interaction(response_modalities=["audio"]), tokens=4),
    befallen("service_unavailable", "overloaded"),
    befallen("deadline_exceeded", "deadline_exceeded"),
    recipe(f"{FAMILY}/snake_case_http_status", Call("PATCH", "/v1beta/interactions")),
)

BLOCKED: tuple[Recipe, ...] = (
    stopped("safety", "safety"),
    stopped("recitation", "recitation"),
    stopped("language", "language"),
    stopped("prohibited_content", "prohibited_content"),
    stopped("spii", "personal_data"),
    stopped("blocklist", "blocklist"),
    stopped("image_safety", "image_safety", "{image_model}"),
    stopped("image_prohibited_content", "image_prohibited_content", "{image_model}"),
    stopped("image_recitation", "image_recitation", "{image_model}"),
    stopped("image_other", "image_other", "{image_model}"),
    stopped("content_blocked", "other"),
)

GENERATED: tuple[Recipe, ...] = (
    faulty("malformed_function_call", "malformed_call", tools=[FUNCTION]),
    faulty("malformed_tool_call", "malformed_call", tools=[CODE_EXECUTION]),
    faulty("unexpected_tool_call", "unexpected_call"),
    event(
        "generation",
        "no_image",
        interaction("{image_model}", input=TEXT_ONLY, response_modalities=["image"]),
        tokens=2_000,
        live=MODELS_CHOICE,
    ),
    event(
        "generation",
        "too_many_tool_calls",
        interaction(
            input=[ASKED, *(step for _ in range(TOOL_ROUNDS) for step in (CALLED, ANSWERED))], tools=[FUNCTION]
        ),
        tokens=2_000,
        live=NO_NUMBER,
    ),
    event(
        "generation",
        "missing_thought_signature",
        interaction("{reasoning_model}", input=[ASKED, CALLED, ANSWERED], tools=[FUNCTION]),
    ),
)

MID_STREAM: tuple[Recipe, ...] = (
    event("stream", "api_error", interaction().befallen("internal_error_mid_stream")),
    event("stream", "service_unavailable", interaction().befallen("overloaded_mid_stream")),
)

RECIPES = (*REFUSED, *BLOCKED, *GENERATED, *MID_STREAM)


@stepwise(
    f"{FAMILY}/rate_limit_exceeded",
    requests=MOST,
    tokens=MOST * 4,
    cost=Cost.DISRUPTIVE,
    roles={"tight"},
    needs={"minute_quota_model", "minute_quota"},
)
async def rate_limit_exceeded(probe: Probe) -> None:
    """One interaction more than a minute allows."""
    await exhaust(probe, interaction("{minute_quota_model}").but(credential="tight"), "minute_quota")


@stepwise(
    f"{FAMILY}/quota_exceeded",
    requests=MOST,
    tokens=MOST * 4,
    cost=Cost.DISRUPTIVE,
    roles={"tight"},
    needs={"day_quota_model", "day_quota"},
)
async def quota_exceeded(probe: Probe) -> None:
    """One interaction more than a day allows."""
    await exhaust(probe, interaction("{day_quota_model}").but(credential="tight"), "day_quota")
