"""1:4.4 PD endpoints: each row of the table, with what 1:2.6 and 1:5.4 say of its answers and its keys."""

from __future__ import annotations

from catalog_probe.probes.calls import BytesBody, get, post
from catalog_probe.probes.recipes.minimal_requests import BOTH_REFUSALS, as_stream
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost

from .requests import (
    JSON,
    KEY_RECORD,
    MANAGEMENT_KEY,
    MODELS,
    UNKNOWN_MODEL,
    create_completion,
    create_response,
    tokenize,
)

ENDPOINTS = Family("pd/endpoints")
with_refusals = BOTH_REFUSALS.label_calls
"""1:5.4 "A missing header gives 401; an incorrect key on the inference API gives 400." """


RECIPES: tuple[Recipe, ...] = (
    # GET {base_url}/v1/models and {base_url}/v1/models/{id}
    ENDPOINTS.recipe("models/list_models", with_refusals(MODELS)),
    ENDPOINTS.recipe("models/get_model", with_refusals(get("/v1/models/{small_model}"), unknown_model=UNKNOWN_MODEL)),
    # GET {base_url}/v1/embedding-models/{id}
    ENDPOINTS.recipe(
        "models/get_embedding_model",
        with_refusals(
            get("/v1/embedding-models/{embedding_model}"), unknown_model=get("/v1/embedding-models/no-such-model")
        ),
    ),
    # POST {base_url}/v1/chat/completions: "`reasoning_effort` only on some models; multi-agent models are refused here"
    ENDPOINTS.recipe(
        "chat/create_chat_completion",
        with_refusals(
            create_completion(),
            reasoning_effort_supported=create_completion(model="{reasoning_model}", reasoning_effort="low"),
            reasoning_effort_unsupported=create_completion(model="{no_reasoning_model}", reasoning_effort="low"),
            multi_agent_refused=create_completion(model="{multi_agent_model}"),
            multi_agent_refused_streamed=as_stream(create_completion(model="{multi_agent_model}")),
        ),
        cost=Cost.BILLABLE,
        tokens=2_000,
    ),
    # POST {base_url}/v1/responses: "the only place multi-agent models are accepted"
    ENDPOINTS.recipe(
        "responses/create_response",
        with_refusals(create_response(), multi_agent_accepted=create_response(model="{multi_agent_model}")),
        cost=Cost.BILLABLE,
        tokens=10_000,
    ),
    # POST {base_url}/v1/tokenize-text: "body {text: string}; a non-string gives 422"
    # 2:7.6 "plain-string body naming field, line, column": on another line, and in another column
    ENDPOINTS.recipe(
        "tokenize/tokenize_text",
        with_refusals(
            tokenize("hi"),
            text_is_string=tokenize(1),
            text_is_null=post("/v1/tokenize-text", BytesBody(b'{"text": null}'), headers=JSON),
            text_is_string_further_down=post("/v1/tokenize-text", BytesBody(b'{\n\n\n"text": 1}'), headers=JSON),
            text_is_string_further_right=post("/v1/tokenize-text", BytesBody(b'{          "text": 1}'), headers=JSON),
        ),
    ),
    # GET {base_url}/v1/api-key: "returns the key record (2.6)"
    ENDPOINTS.recipe("api_key/get_api_key", with_refusals(KEY_RECORD)).with_optional(
        # 1:2.6: the record of a key that may do nothing else tells why
        {f"{role}_key": KEY_RECORD.replace(credential=role) for role in ("blocked", "disabled", "team_blocked")}
    ),
    # GET {management_url}/auth/management-keys/validation: "management key required". One key, for
    # `inference_key`: 1:5.4 "answers an invalid bearer with 401", and an ordinary key is no management key.
    ENDPOINTS.recipe(
        "management/validate_management_key",
        with_refusals(MANAGEMENT_KEY, inference_key=MANAGEMENT_KEY.replace(credential="inference")),
        credential="management",
    ),
)
