"""What PC refuses because of the request alone (2:7.5 rows 400, 405, 409, 422)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.probes.calls.call import Call, delete, get, post
from catalog_probe.probes.recipes.other_endpoints import listed
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost

from .making import CONVERSATION, make
from .requests import AGENTS, LONG, STORES, TOKENS, completion, in_a_chat, response, with_body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.recipes.probe import Probe

FAMILY = Family("pc/errors/request")

TOO_MANY_TOKENS = 100_000_000
MULTIPART = b'--x\r\nContent-Disposition: form-data; name="model"\r\n\r\n{small_model}\r\n--x--\r\n'
CONTENT_TYPE = with_body(b'{"input": "hi"}', "text/plain")
JSON, FORM = "application/json", "multipart/form-data; boundary=x"
CUT_SHORT = b'{"model": '
LONG_TEXT = "x" * 1000
WORDS, MORE_WORDS = "word " * 2_500, 2_000
"""A prompt that fits into a window of 4,096 tokens by itself, and an output that does not fit beside it."""
TIERS = ("default", "flex", "priority", "fast", "auto")
MUTUALLY_EXCLUSIVE = response(previous_response_id="resp_0", conversation="conv_0")
ON_REASONING_MODEL = completion(model="{reasoning_model}", temperature=0.5)


WHERE_PRIORITY_IS_DENIED = "fast_where_priority_is_denied"


def refused(
    slug: str,
    call: Call | dict[str, Call],
    in_chat: Call | dict[str, Call] | None = None,
    tokens: int = TOKENS,
    optional: Mapping[str, Recipe] = MappingProxyType({}),
) -> Recipe:
    """A generation request that must be refused, also in a chat; the bound is for a provider that accepts it."""
    elsewhere = listed("pc/endpoints/chat", {"create_chat_completion": in_chat}) if in_chat is not None else None
    return FAMILY.recipe(slug, call, tokens=tokens, optional=optional, elsewhere=elsewhere)


RECIPES: tuple[Recipe, ...] = (
    refused("invalid_type", response(max_output_tokens="many"), completion(max_tokens="many")),
    refused("missing_required_parameter", response(model=None), completion(model=None)),
    refused("unknown_parameter", response(no_such_field=1), completion(no_such_field=1)),
    refused(
        "unsupported_parameter",
        {
            "temperature_on_reasoning_model": ON_REASONING_MODEL,
            "dimensions_on_older_embedding_model": post(
                "/v1/embeddings", {"model": "{older_embedding_model}", "input": "hi", "dimensions": 2}
            ),
            "parameter_of_another_endpoint": response(messages=[{"role": "user", "content": "hi"}]),
        },
    ),
    refused(
        "invalid_value",
        {
            "out_of_range": completion(temperature=1000),
            "bad_enum_member": response(truncation="sometimes"),
            "oversized_max_tokens": completion(max_tokens=TOO_MANY_TOKENS),
        },
    ),
    refused("integer_below_min_value", response(max_output_tokens=0), completion(max_tokens=0)),
    refused("integer_above_max_value", response(top_logprobs=1000), completion(logprobs=True, top_logprobs=1000)),
    refused("string_above_max_length", response(safety_identifier=LONG_TEXT), completion(safety_identifier=LONG_TEXT)),
    refused("array_above_max_length", completion(stop=[f"stop {number}" for number in range(100)])),
    refused("mutually_exclusive_parameters", MUTUALLY_EXCLUSIVE),
    refused("invalid_json", with_body(CUT_SHORT, JSON), in_a_chat(CUT_SHORT, JSON)),
    refused(
        "unsupported_content_type",
        {"text": CONTENT_TYPE, "multipart": with_body(MULTIPART, FORM)},
        {"text": in_a_chat(b'{"messages": []}', "text/plain"), "multipart": in_a_chat(MULTIPART, FORM)},
    ),
    refused(
        "service_tier_not_allowed",
        {tier: response(service_tier=tier).but(credential="tierless") for tier in TIERS},
        {tier: completion(service_tier=tier).but(credential="tierless") for tier in TIERS},
        optional={
            WHERE_PRIORITY_IS_DENIED: FAMILY.recipe(
                "service_tier_not_allowed",
                response(service_tier="fast").but(credential="unhurried"),
                label=WHERE_PRIORITY_IS_DENIED,
                tokens=TOKENS,
            )
        },
    ),
    FAMILY.recipe(
        "invalid_beta",
        {"missing": get(AGENTS.path), "invalid": AGENTS.with_headers(pc_beta="agents=v0")},
    ),
    refused(
        "context_length_exceeded",
        response(model="{small_context_model}", input=WORDS, max_output_tokens=MORE_WORDS),
        completion(model="{small_context_model}", messages=[{"role": "user", "content": WORDS}], max_tokens=MORE_WORDS),
        tokens=10_000,
    ),
    FAMILY.recipe(
        "wrong_method",
        {"patch": Call("PATCH", "/v1/models"), "put": Call("PUT", "/v1/models"), "delete": delete("/v1/models")},
    ),
    FAMILY.recipe(
        "unprocessable",
        post("/v1/vector_stores/{vector_store}/files", {"file_id": "{unsearchable_file}"}, headers=STORES),
        cost=Cost.BILLABLE,
    ),
)


@FAMILY.stepwise(
    labels=("deleted", "unstored", "wrong_project"),
    requests=7,
    tokens=6 * TOKENS,
    cost=Cost.BILLABLE,
    needs={"small_model"},
    roles={"other_project"},
)
async def previous_response_not_found(probe: Probe) -> None:
    """Go on from a response that is no longer there, never was kept, or is another project's."""
    gone = await make(probe, response())
    await probe.setup(delete(f"/v1/responses/{gone}"))
    await probe.send(response(previous_response_id=gone), "deleted")
    unstored = await make(probe, response(store=False))
    await probe.send(response(previous_response_id=unstored), "unstored")
    foreign = await make(probe, response().but(credential="other_project"))
    await probe.send(response(previous_response_id=foreign), "wrong_project")


@FAMILY.stepwise(
    labels=("concurrent_modification", "state_conflict"),
    requests=4,
    tokens=2 * TOKENS,
    cost=Cost.BILLABLE,
    needs={"small_model"},
)
async def conflict(probe: Probe) -> None:
    """Answer a conversation twice at once, and delete it meanwhile: the first answer is made in the background."""
    conversation = await make(probe, CONVERSATION)
    await probe.setup(response(conversation=conversation, background=True, input=LONG))
    await probe.send(response(conversation=conversation), "concurrent_modification")
    await probe.send(delete(f"/v1/conversations/{conversation}"), "state_conflict")
