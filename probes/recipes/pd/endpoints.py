"""The endpoints of PD (1:4.4): the success, the credential rules, the request rules."""

from __future__ import annotations

from catalog_probe.probes.calls.body import Content
from catalog_probe.probes.calls.call import get, post
from catalog_probe.probes.recipes.credential_rules import BOTH
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost

from .requests import (
    KEY_RECORD,
    MANAGEMENT_KEY,
    MODELS,
    UNKNOWN_MODEL,
    completion,
    response,
    tokenize,
)

FAMILY = Family("pd/endpoints")
labelled = BOTH.labelled

FURTHER_DOWN = post("/v1/tokenize-text", Content(b'{\n\n\n"text": 1}'), headers={"content-type": "application/json"})
"""A text of the wrong type on the fourth line of the body."""


FURTHER_RIGHT = post("/v1/tokenize-text", Content(b'{          "text": 1}'), headers=FURTHER_DOWN.headers)
"""On its first line, further to the right than it stands as we write it."""


def of_key(role: str) -> dict[str, Recipe]:
    """The record of a key that may do nothing else."""
    label = f"{role}_key"
    return {label: FAMILY.recipe("api_key/get_api_key", KEY_RECORD.but(credential=role), label=label)}


RECIPES: tuple[Recipe, ...] = (
    FAMILY.recipe("models/list_models", labelled(MODELS)),
    FAMILY.recipe("models/get_model", labelled(get("/v1/models/{small_model}"), unknown_model=UNKNOWN_MODEL)),
    FAMILY.recipe(
        "models/get_embedding_model",
        labelled(
            get("/v1/embedding-models/{embedding_model}"), unknown_model=get("/v1/embedding-models/no-such-model")
        ),
    ),
    FAMILY.recipe(
        "chat/create_chat_completion",
        labelled(
            completion(),
            reasoning_effort_supported=completion(model="{reasoning_model}", reasoning_effort="low"),
            reasoning_effort_unsupported=completion(model="{no_reasoning_model}", reasoning_effort="low"),
            multi_agent_refused=completion(model="{multi_agent_model}"),
        ),
        cost=Cost.BILLABLE,
        tokens=2_000,
    ),
    FAMILY.recipe(
        "responses/create_response",
        labelled(response(), multi_agent_accepted=response(model="{multi_agent_model}")),
        cost=Cost.BILLABLE,
        tokens=10_000,
    ),
    FAMILY.recipe(
        "tokenize/tokenize_text",
        labelled(
            tokenize("hi"),
            text_is_string=tokenize(1),
            text_is_string_further_down=FURTHER_DOWN,
            text_is_string_further_right=FURTHER_RIGHT,
        ),
    ),
    FAMILY.recipe(
        "api_key/get_api_key",
        labelled(KEY_RECORD),
        optional={**of_key("blocked"), **of_key("disabled"), **of_key("team_blocked")},
    ),
    FAMILY.recipe(
        "management/validate_management_key",
        labelled(MANAGEMENT_KEY, inference_key=MANAGEMENT_KEY.but(credential="inference")),
        credential="management",
    ),
)
