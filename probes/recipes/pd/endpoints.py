"""The endpoints of PD (1:4.4): the success, the credential rules, the request rules."""

from __future__ import annotations

from probes.calls.call import Call, get
from probes.elicit.recipe import Recipe, recipe
from probes.recipes.pd.requests import (
    KEY_RECORD,
    MANAGEMENT_KEY,
    MODELS,
    UNKNOWN_MODEL,
    completion,
    denied,
    response,
    tokenize,
)
from probes.target.target import Cost

FAMILY = "pd/endpoints"


def labelled(success: Call, **others: Call) -> dict[str, Call]:
    """The calls of an endpoint by label: the success, no key and a wrong one, and its request rules."""
    return {"success": success, **denied(success), **others}


RECIPES: tuple[Recipe, ...] = (
    recipe(f"{FAMILY}/models/list_models", labelled(MODELS)),
    recipe(f"{FAMILY}/models/get_model", labelled(get("/v1/models/{small_model}"), unknown_model=UNKNOWN_MODEL)),
    recipe(
        f"{FAMILY}/models/get_embedding_model",
        labelled(
            get("/v1/embedding-models/{embedding_model}"), unknown_model=get("/v1/embedding-models/no-such-model")
        ),
    ),
    recipe(
        f"{FAMILY}/chat/create_chat_completion",
        labelled(
            completion(),
            reasoning_effort_supported=completion(model="{reasoning_model}", reasoning_effort="low"),
            reasoning_effort_unsupported=completion(model="{no_reasoning_model}", reasoning_effort="low"),
            multi_agent_refused=completion(model="{multi_agent_model}"),
        ),
        cost=Cost.BILLABLE,
        tokens=2_000,
    ),
    recipe(
        f"{FAMILY}/responses/create_response",
        labelled(response(), multi_agent_accepted=response(model="{multi_agent_model}")),
        cost=Cost.BILLABLE,
        tokens=10_000,
    ),
    recipe(f"{FAMILY}/tokenize/tokenize_text", labelled(tokenize("hi"), text_is_string=tokenize(1))),
    recipe(f"{FAMILY}/api_key/get_api_key", labelled(KEY_RECORD)),
    recipe(
        f"{FAMILY}/management/validate_management_key",
        labelled(MANAGEMENT_KEY),
        credential="management",
    ),
)
