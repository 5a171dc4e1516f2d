"""2:7.5 PC errors, what the request alone leads to: the rows 400, 405, 409 and 422, and incomplete responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.calls import BytesBody, Call, delete, get, post
from catalog_probe.probes.recipes.minimal_requests import as_stream
from catalog_probe.probes.recipes.recipe import Family, Recipe, declare_steps
from catalog_probe.probes.targets.target import Cost

from .requests import (
    AGENTS,
    CONVERSATION,
    LONG_PROMPT,
    TOKENS,
    VECTOR_STORE_HEADERS,
    create_completion,
    create_response,
    make,
    send_in_chat,
    stream_response,
    with_body,
)

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pc/errors/request")
OUTCOMES = Family("pc/errors/outcomes")
CHAT = "/v1/chat/completions"

JSON, FORM = "application/json", "multipart/form-data; boundary=x"
MULTIPART = b'--x\r\nContent-Disposition: form-data; name="model"\r\n\r\n{small_model}\r\n--x--\r\n'
AS_TEXT = with_body(b'{"input": "hi"}', "text/plain")
CUT_SHORT = b'{"model": '
LONG_TEXT = "x" * 1000
LONG_INPUT, LONG_OUTPUT = "word " * 2_500, 2_000
"""A prompt that fits into a window of 4,096 tokens, and an output that no longer fits with it."""

TOO_MANY_TOKENS = 100_000_000
TIERS = ("default", "flex", "priority", "fast", "auto")
MUTUALLY_EXCLUSIVE = create_response(previous_response_id="resp_0", conversation="conv_0")
ON_REASONING_MODEL = create_completion(model="{reasoning_model}", temperature=0.5)


def refusal_recipe(
    slug: str,
    call: Call | dict[str, Call],
    chat_calls: Call | dict[str, Call] | None = None,
    tokens: int = TOKENS,
) -> Recipe:
    """A request that must be refused, also in a chat; `tokens` bounds it if the provider accepts it.

    A single request varies by asking for a stream: its refusal comes before the stream begins.
    """
    other_endpoints = send_in_chat(chat_calls) if chat_calls is not None else None
    has_fields = isinstance(call, Call) and not isinstance(call.body, BytesBody)
    variants = {"streamed": as_stream} if has_fields else None
    return FAMILY.recipe(slug, call, variants=variants, tokens=tokens, other_endpoints=other_endpoints)


# 400 previous_response_not_found: "unresolvable (deleted, unstored, wrong project, socket state lost)"
@declare_steps("deleted", "unstored", requests=5, needs={"small_model"})
async def continue_lost_response(probe: Probe) -> None:
    """Continue a response that was deleted, or was never stored."""
    deleted = await make(probe, create_response())
    await probe.setup(delete(f"/v1/responses/{deleted}"))
    await probe.send(create_response(previous_response_id=deleted), "deleted")
    unstored = await make(probe, create_response(store=False))
    await probe.send(create_response(previous_response_id=unstored), "unstored")


@declare_steps("wrong_project", requests=2, needs={"small_model"}, roles={"other_project"})
async def continue_foreign_response(probe: Probe) -> None:
    """Continue a response that belongs to another project."""
    foreign = await make(probe, create_response().replace(credential="other_project"))
    await probe.send(create_response(previous_response_id=foreign), "wrong_project")


# 409 none: "concurrent modification or state conflict"
@declare_steps("concurrent_modification", "state_conflict", requests=4, needs={"small_model"})
async def conflict(probe: Probe) -> None:
    """Answer a conversation again, and delete it, while a first answer is made in the background."""
    conversation = await make(probe, CONVERSATION)
    await probe.setup(create_response(conversation=conversation, background=True, input=LONG_PROMPT))
    await probe.send(create_response(conversation=conversation), "concurrent_modification")
    await probe.send(delete(f"/v1/conversations/{conversation}"), "state_conflict")


RECIPES: tuple[Recipe, ...] = (
    # 400 invalid_type: "a field has the wrong JSON type; `param` names it"
    refusal_recipe("invalid_type", create_response(max_output_tokens="many"), create_completion(max_tokens="many")),
    # 400 missing_required_parameter: "e.g. model missing"
    refusal_recipe("missing_required_parameter", create_response(model=None), create_completion(model=None)),
    # 400 unknown_parameter: "unrecognized body field (strict)"
    refusal_recipe("unknown_parameter", create_response(no_such_field=1), create_completion(no_such_field=1)),
    # 400 unsupported_parameter: "parameter not valid for the model or endpoint"
    refusal_recipe(
        "unsupported_parameter",
        {
            "temperature_on_reasoning_model": ON_REASONING_MODEL,
            "dimensions_on_older_embedding_model": post(
                "/v1/embeddings", {"model": "{older_embedding_model}", "input": "hi", "dimensions": 2}
            ),
            "parameter_of_another_endpoint": create_response(messages=[{"role": "user", "content": "hi"}]),
        },
    ),
    # 400 invalid_value: "out of range, bad enum member, oversized max_tokens"
    refusal_recipe(
        "invalid_value",
        {
            "out_of_range": create_completion(temperature=1000),
            "bad_enum_member": create_response(truncation="sometimes"),
            "oversized_max_tokens": create_completion(max_tokens=TOO_MANY_TOKENS),
        },
    ),
    # 400 integer_below_min_value "(family: integer_above_max_value, string_above_max_length, array_above_max_length)"
    refusal_recipe("integer_below_min_value", create_response(max_output_tokens=0), create_completion(max_tokens=0)),
    refusal_recipe(
        "integer_above_max_value",
        create_response(top_logprobs=1000),
        create_completion(logprobs=True, top_logprobs=1000),
    ),
    refusal_recipe(
        "string_above_max_length",
        create_response(safety_identifier=LONG_TEXT),
        create_completion(safety_identifier=LONG_TEXT),
    ),
    refusal_recipe("array_above_max_length", create_completion(stop=[f"stop {number}" for number in range(100)])),
    # 400 mutually_exclusive_parameters: "e.g. previous_response_id with conversation"
    refusal_recipe("mutually_exclusive_parameters", MUTUALLY_EXCLUSIVE),
    # 400 invalid_json: "body not parseable"
    refusal_recipe("invalid_json", with_body(CUT_SHORT, JSON), with_body(CUT_SHORT, JSON, CHAT)),
    # 400 unsupported_content_type: "body not application/json (multipart only on file endpoints)"
    refusal_recipe(
        "unsupported_content_type",
        {"text": AS_TEXT, "multipart": with_body(MULTIPART, FORM)},
        {"text": with_body(b'{"messages": []}', "text/plain", CHAT), "multipart": with_body(MULTIPART, FORM, CHAT)},
    ),
    # 400 none: "service tier not allowed for the project (`param` service_tier); covers default, flex, priority, and
    # auto resolving to a disallowed tier"; 1:4.3 "fast counts as priority"
    refusal_recipe(
        "service_tier_not_allowed",
        {tier: create_response(service_tier=tier).replace(credential="tierless") for tier in TIERS},
        {tier: create_completion(service_tier=tier).replace(credential="tierless") for tier in TIERS},
    ).with_optional(
        {"fast_where_priority_is_denied": create_response(service_tier="fast").replace(credential="unhurried")}
    ),
    # 400 invalid_beta: "required beta header missing or invalid"
    FAMILY.recipe("invalid_beta", {"missing": get(AGENTS.path), "invalid": AGENTS.with_headers(pc_beta="agents=v0")}),
    # 400 context_length_exceeded: "prompt plus output over context window"
    refusal_recipe(
        "context_length_exceeded",
        create_response(model="{small_context_model}", input=LONG_INPUT, max_output_tokens=LONG_OUTPUT),
        create_completion(
            model="{small_context_model}", messages=[{"role": "user", "content": LONG_INPUT}], max_tokens=LONG_OUTPUT
        ),
        tokens=10_000,
    ),
    # 405 none: "wrong method on a path"; 1:4.3 "PATCH, PUT … not supported; updates use POST"
    FAMILY.recipe(
        "wrong_method",
        {
            "patch": Call("PATCH", "/v1/models"),
            "put": Call("PUT", "/v1/models"),
            "delete": delete("/v1/models"),
            "patch_of_a_response": Call("PATCH", "/v1/responses/resp_0"),
            "put_of_a_response": Call("PUT", "/v1/responses/resp_0"),
        },
    ),
    # 422 none: "well-formed but unprocessable"
    FAMILY.recipe(
        "unprocessable",
        post(
            "/v1/vector_stores/{vector_store}/files", {"file_id": "{unsearchable_file}"}, headers=VECTOR_STORE_HEADERS
        ),
        cost=Cost.BILLABLE,
    ),
    # "Incomplete responses (HTTP 200, status incomplete): reasons max_output_tokens, …; the chat-completions equivalent
    # is finish_reason `length`"
    OUTCOMES.recipe(
        "incomplete_max_output_tokens", create_response(input=LONG_PROMPT), cost=Cost.BILLABLE, tokens=TOKENS
    ),
    OUTCOMES.recipe(
        "streamed_max_output_tokens", stream_response(input=LONG_PROMPT), cost=Cost.BILLABLE, tokens=TOKENS
    ),
    OUTCOMES.recipe(
        "chat_length",
        create_completion(messages=[{"role": "user", "content": LONG_PROMPT}]),
        cost=Cost.BILLABLE,
        tokens=TOKENS,
    ),
    FAMILY.recipe(
        "previous_response_not_found", continue_lost_response, tokens=4 * TOKENS, cost=Cost.BILLABLE
    ).with_optional(continue_foreign_response, tokens=2 * TOKENS, cost=Cost.BILLABLE),
    FAMILY.recipe("conflict", conflict, tokens=2 * TOKENS, cost=Cost.BILLABLE),
)
