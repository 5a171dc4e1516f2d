"""1:4.3 PC endpoints: each row of the table, its success, a wrong key, and the rules of its request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import SUCCESS, WRONG_CREDENTIAL
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import Call, get, post, to_body
from catalog_probe.probes.recipes.minimal_requests import Refusals
from catalog_probe.probes.recipes.recipe import Family, Recipe, declare_steps
from catalog_probe.probes.targets.target import Cost

from .pictures import VALID_IMAGE
from .requests import (
    AGENTS,
    CONVERSATION,
    EXTERNAL_STORAGE,
    MODELS,
    STORE,
    STORED,
    TOKENS,
    UNKNOWN_RESPONSE,
    UPLOAD,
    WITHOUT_SCOPE,
    add_to_store,
    create_completion,
    create_response,
    files_of,
    make,
    stream_response,
    wrong_key,
)
from .s2_7_5_requests import AS_TEXT, MUTUALLY_EXCLUSIVE, ON_REASONING_MODEL

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

ENDPOINTS = Family("pc/endpoints")
SERVICE_TIERS = ("default", "flex", "priority", "auto", "fast")

with_refusals = Refusals(missing=False).label_calls
"""The documents show no answer of PC to a request without a key."""


def spend_limit(usd: int) -> Call:
    return post("/v1/organization/spend_limit", {"limit_usd": usd})


@declare_steps("previous_response_id", requests=2, needs={"small_model"})
async def continue_response(probe: Probe) -> None:
    previous = await make(probe, STORED)
    await probe.send(create_response(previous_response_id=previous), "previous_response_id")


@declare_steps("conversation", requests=2, needs={"small_model"})
async def continue_conversation(probe: Probe) -> None:
    conversation = await make(probe, CONVERSATION)
    await probe.send(create_response(conversation=conversation), "conversation")


@declare_steps("reached", "raised", requests=5, needs={"small_model"})
async def reach_and_raise_limit(probe: Probe) -> None:
    """A limit of 0 is reached at once and refuses a request; a raised limit lets it pass."""
    await probe.setup(create_response())
    await probe.setup(spend_limit(0))
    await probe.send(create_response(), "reached")
    await probe.setup(spend_limit(100))
    await probe.send(create_response(), "raised")


@declare_steps("attached", "listed", requests=3, needs={"file"})
async def attach_file(probe: Probe) -> None:
    """Add a file to a new store, and list the store's files."""
    store = await make(probe, STORE)
    await probe.send(files_of(store).replace(method="POST", body=to_body({"file_id": "{file}"})), "attached")
    await probe.send(files_of(store), "listed")


@declare_steps(SUCCESS, WRONG_CREDENTIAL, "unstored", requests=5, needs={"small_model"})
async def fetch_responses(probe: Probe) -> None:
    """A stored response can be fetched; an unstored one cannot."""
    stored = get(f"/v1/responses/{await make(probe, STORED)}")
    await probe.send(stored, SUCCESS)
    await probe.send(wrong_key(stored), WRONG_CREDENTIAL)
    unstored = await make(probe, create_response(store=False))
    await probe.send(get(f"/v1/responses/{unstored}"), "unstored")


@declare_steps(SUCCESS, WRONG_CREDENTIAL, "listed", requests=5, needs={"file"})
async def attach_batch(probe: Probe) -> None:
    """Add a batch of one file to a new store, and list the store's files."""
    store = await make(probe, STORE)
    batch = add_to_store(store, ["{file}"])
    await probe.send(batch, SUCCESS)
    await probe.send(files_of(store), "listed")
    await probe.send(wrong_key(batch), WRONG_CREDENTIAL)


RECIPES: tuple[Recipe, ...] = (
    # POST /v1/responses: "model (required), input, max_output_tokens (integer), previous_response_id and conversation
    # (cannot be combined), store, truncation (`auto` allowed), service_tier (default, flex, priority, auto; fast counts
    # as priority). Unknown fields are rejected. Body must be application/json"
    ENDPOINTS.recipe(
        "responses/create_response",
        with_refusals(
            create_response(),
            stream=stream_response(truncation="auto"),  # what is accepted in one body is accepted in a stream
            model_required=create_response(model=None),
            max_output_tokens_is_an_integer=create_response(max_output_tokens="many"),
            unknown_field=create_response(no_such_field=1),
            exclusive_fields=MUTUALLY_EXCLUSIVE,
            content_type=AS_TEXT,
            truncation_auto=create_response(truncation="auto"),
            **{f"service_tier_{tier}": create_response(service_tier=tier) for tier in SERVICE_TIERS},
            service_tier_outside=create_response(service_tier="no-such-tier"),
            input_items=create_response(input=[{"role": "user", "content": "hi"}]),
            input_image=create_response(input=VALID_IMAGE),
            within_bounds=create_response(top_logprobs=5, safety_identifier="x" * 16),  # the bounds of refused requests
            store_true=STORED,
        ),
        cost=Cost.BILLABLE,
        tokens=12 * TOKENS,
    )
    .with_optional(
        {
            "within_window": create_response(model="{small_context_model}"),
            "default_where_priority_is_denied": create_response(service_tier="default").replace(credential="unhurried"),
        },
        tokens=TOKENS,
    )
    .with_optional(continue_response, tokens=2 * TOKENS)
    .with_optional(continue_conversation, tokens=TOKENS),
    # GET /v1/responses/{id}: "unknown or unstored (`store` false) response gives 404"
    # One key, free: "unknown … gives 404", and a GET of an id that nobody has.
    ENDPOINTS.recipe("responses/get_response", fetch_responses, cost=Cost.BILLABLE, tokens=2 * TOKENS).with_optional(
        {"unknown_id": UNKNOWN_RESPONSE}, cost=Cost.FREE, tokens=0
    ),
    # POST /v1/chat/completions: "fields named: max_tokens, temperature (unsupported on reasoning models)"
    ENDPOINTS.recipe(
        "chat/create_chat_completion",
        with_refusals(
            create_completion(),
            stream=create_completion(stream=True).replace(stream=True),
            temperature_on_reasoning_model=ON_REASONING_MODEL,
            temperature=create_completion(temperature=1),
            within_bounds=create_completion(temperature=0.5, stop=["a", "b", "c", "d"]),
        ),
        cost=Cost.BILLABLE,
        tokens=5 * TOKENS,
    ),
    # GET /v1/models; 1:5.3 "Optional headers `PC-Organization` (must match the key's organization) and `PC-Project`
    # (only meaningful for legacy user keys …)", "An optional IP allowlist", "the `PC-Beta` header"
    ENDPOINTS.recipe(
        "models/list_models",
        with_refusals(
            MODELS,
            project_of_another_key=MODELS.with_headers(pc_project="proj_none_of_the_keys"),
            beta_value=MODELS.with_headers(pc_beta="assistants=v2"),
            beta_of_agents=MODELS.with_headers(pc_beta="agents=v1"),
            fetched=get("/v1/models/{small_model}"),
        ),
    ).with_optional(
        {
            "own_organization": MODELS.with_headers(pc_organization="{organization}"),
            "own_project": MODELS.with_headers(pc_project="{project}").replace(credential="legacy_user"),
            "allowed_address": MODELS.replace(credential="nearby"),
        }
    ),
    # GET /v1/agents: "needs the beta header"
    ENDPOINTS.recipe(
        "agents/list_agents",
        with_refusals(AGENTS, missing_beta=get(AGENTS.path), invalid_beta=AGENTS.with_headers(pc_beta="agents=v0")),
    ),
    # GET /v1/organization/external_storage: "needs a scope"
    ENDPOINTS.recipe(
        "organization/get_external_storage",
        with_refusals(EXTERNAL_STORAGE, missing_scope=WITHOUT_SCOPE),
        credential="storage",
    ),
    # POST /v1/organization/spend_limit: "configures the organization hard spend limit"
    ENDPOINTS.recipe(
        "organization/set_spend_limit",
        with_refusals(spend_limit(100)),
        then=reach_and_raise_limit,
        tokens=3 * TOKENS,
        cost=Cost.DESTRUCTIVE,
        credential="admin",
        not_live=(ReasonCode.NO_DOCUMENTED_SETUP, "it changes the spend limit, and nothing shows what it was before"),
    ),
    # GET /v1/fine_tuning/model_limits; 1:1 "administer … fine-tuning jobs"
    ENDPOINTS.recipe("fine_tuning/get_model_limits", with_refusals(get("/v1/fine_tuning/model_limits"))).with_optional(
        {"job_made": post("/v1/fine_tuning/jobs", {"model": "{small_model}", "training_file": "{training_file}"})},
        cost=Cost.DISRUPTIVE,
    ),
    # any /v1/vector_stores/{id}/files and .../file_batches: "share one request budget"
    ENDPOINTS.recipe("vector_stores/files", with_refusals(files_of("{vector_store}")))
    .with_optional({"uploaded": UPLOAD}, cost=Cost.BILLABLE, tokens=TOKENS)
    .with_optional(attach_file, cost=Cost.BILLABLE),
    ENDPOINTS.recipe("vector_stores/file_batches", attach_batch, cost=Cost.BILLABLE),
    # any "live sessions path (v1/live/sessions)"
    ENDPOINTS.recipe("live/sessions", with_refusals(get("/v1/live/sessions"))).with_optional(
        {"opened": post("/v1/live/sessions", {"model": "{small_model}"})}, cost=Cost.BILLABLE, tokens=TOKENS
    ),
    # PATCH, PUT "any update | not supported; updates use POST; a wrong method gives 405"
    ENDPOINTS.recipe("updates/patch", {SUCCESS: Call("PATCH", "/v1/models")}),
    ENDPOINTS.recipe("updates/put", {SUCCESS: Call("PUT", "/v1/models")}),
)
