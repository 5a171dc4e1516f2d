"""2:7.4 PB "HTTP 200 outcomes": why a prompt was blocked, why a candidate ended, in generateContent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.recipes.recipe import Family, Recipe, declare_steps
from catalog_probe.probes.targets.target import Cost

from .requests import LOOKUP, TEXT_ONLY, generate, in_both_versions, user_turn

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.probe import Probe

BLOCKED_ROWS = Family("pb/errors/block_reasons")
FINISHED = Family("pb/errors/finish_reasons")
TOKENS = 300
TOOL_ROUNDS = 40

MODELS_CHOICE = (ReasonCode.PROVIDER_ONLY_CAUSE, "whether an image model draws is its own choice")
NUMBER_UNDOCUMENTED = (
    ReasonCode.NO_DOCUMENTED_SETUP,
    "the documents do not say how many tool calls are too many (2:7.4)",
)

TOOLS = [{"functionDeclarations": [LOOKUP]}]
MUST_CALL = {"functionCallingConfig": {"mode": "ANY"}}


def blocked_prompt_recipe(slug: str, filter_name: str, model: str = "{small_model}") -> Recipe:
    """A prompt that a filter of the provider blocks."""
    call = generate(model).with_scenario(f"prompt_blocked;filter={filter_name}")
    return BLOCKED_ROWS.recipe(slug, call, cost=Cost.BILLABLE, tokens=TOKENS)


def stopped_output_recipe(slug: str, filter_name: str, model: str = "{small_model}") -> Recipe:
    """An output that a filter of the provider stops."""
    call = generate(model).with_scenario(f"output_stopped;filter={filter_name}")
    return FINISHED.recipe(slug, call, cost=Cost.BILLABLE, tokens=TOKENS)


def model_fault_recipe(slug: str, fault: str, **fields: Json) -> Recipe:
    """An output in which the model itself does something wrong."""
    call = generate(**fields).with_scenario(f"model_fault;fault={fault}")
    return FINISHED.recipe(slug, call, cost=Cost.BILLABLE, tokens=TOKENS)


def missing_signature_recipe(version: str) -> Recipe:
    """Send the model's function call back without its thought signature."""

    def with_lookup(contents: Json, **fields: Json) -> Call:
        config = {"maxOutputTokens": 400}
        return generate("{reasoning_model}", version=version, contents=contents, tools=TOOLS, config=config, **fields)

    @declare_steps(requests=2, needs={"reasoning_model"})
    async def steps(probe: Probe) -> None:
        question = user_turn("look it up")
        answer = (await probe.setup(with_lookup([*question], toolConfig=MUST_CALL))).body["candidates"][0]["content"]
        calls = [{"functionCall": part["functionCall"]} for part in answer["parts"] if "functionCall" in part]
        results = [{"functionResponse": {"name": call["functionCall"]["name"], "response": {}}} for call in calls]
        await probe.send(
            with_lookup([*question, {"role": "model", "parts": calls}, {"role": "user", "parts": results}])
        )

    return FINISHED.recipe(
        "missing_thought_signature",
        steps,
        cost=Cost.BILLABLE,
        tokens=1_000,
        other_endpoints=lambda *_: missing_signature_recipe("v1"),
    )


def tool_rounds(count: int) -> list[dict[str, Any]]:
    """A conversation with this many function calls."""
    function_call = {"role": "model", "parts": [{"functionCall": {"name": "lookup", "args": {}}}]}
    function_result = {"role": "user", "parts": [{"functionResponse": {"name": "lookup", "response": {}}}]}
    return [*user_turn("look it up"), *(turn for _ in range(count) for turn in (function_call, function_result))]


ROWS: tuple[Recipe, ...] = (
    # "promptFeedback.blockReason (no candidates): BLOCK_REASON_UNSPECIFIED, SAFETY, OTHER, BLOCKLIST,
    # PROHIBITED_CONTENT, IMAGE_SAFETY"
    blocked_prompt_recipe("block_reason_unspecified", "unspecified"),
    blocked_prompt_recipe("safety", "safety"),
    blocked_prompt_recipe("other", "other"),
    blocked_prompt_recipe("blocklist", "blocklist"),
    blocked_prompt_recipe("prohibited_content", "prohibited_content"),
    blocked_prompt_recipe("image_safety", "image_safety", "{image_model}"),
    # "candidates[].finishReason: STOP, MAX_TOKENS, SAFETY, RECITATION, LANGUAGE, OTHER, BLOCKLIST, PROHIBITED_CONTENT,
    # SPII, MALFORMED_FUNCTION_CALL, IMAGE_SAFETY, IMAGE_PROHIBITED_CONTENT, IMAGE_OTHER, NO_IMAGE, IMAGE_RECITATION,
    # UNEXPECTED_TOOL_CALL, TOO_MANY_TOOL_CALLS, MISSING_THOUGHT_SIGNATURE, MALFORMED_RESPONSE"
    FINISHED.recipe("stop", generate(config={"maxOutputTokens": 64}), cost=Cost.BILLABLE, tokens=TOKENS),
    FINISHED.recipe("max_tokens", generate(), cost=Cost.BILLABLE, tokens=TOKENS),
    # "A tiny maxOutputTokens on a reasoning model yields MAX_TOKENS with empty text"
    FINISHED.recipe("max_tokens_without_text", generate("{reasoning_model}"), cost=Cost.BILLABLE, tokens=TOKENS),
    stopped_output_recipe("safety", "safety"),
    stopped_output_recipe("recitation", "recitation"),
    stopped_output_recipe("language", "language"),
    stopped_output_recipe("other", "other"),
    stopped_output_recipe("blocklist", "blocklist"),
    stopped_output_recipe("prohibited_content", "prohibited_content"),
    stopped_output_recipe("spii", "personal_data"),
    model_fault_recipe("malformed_function_call", "malformed_call", tools=TOOLS),
    stopped_output_recipe("image_safety", "image_safety", "{image_model}"),
    stopped_output_recipe("image_prohibited_content", "image_prohibited_content", "{image_model}"),
    stopped_output_recipe("image_other", "image_other", "{image_model}"),
    FINISHED.recipe(
        "no_image",
        generate("{image_model}", contents=user_turn(TEXT_ONLY), config={"responseModalities": ["IMAGE"]}),
        cost=Cost.BILLABLE,
        tokens=2_000,
        not_live=MODELS_CHOICE,
    ),
    stopped_output_recipe("image_recitation", "image_recitation", "{image_model}"),
    model_fault_recipe("unexpected_tool_call", "unexpected_call"),
    FINISHED.recipe(
        "too_many_tool_calls",
        generate(contents=tool_rounds(TOOL_ROUNDS), tools=TOOLS),
        cost=Cost.BILLABLE,
        tokens=2_000,
        not_live=NUMBER_UNDOCUMENTED,
    ),
    model_fault_recipe("malformed_response", "malformed_response"),
    # "MISSING_THOUGHT_SIGNATURE arises in multi-turn function calling when thought signatures are not echoed"
    missing_signature_recipe("v1beta"),
)

RECIPES = in_both_versions(ROWS)
