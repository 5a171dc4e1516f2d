"""What PD refuses by the request alone: bodies, URLs, parameters, keys, methods, models (2:7.6 rows 400 to 422)."""

from __future__ import annotations

from catalog.model.labels import ANSWER, SETUP
from probes.calls.body import Content
from probes.calls.call import delete, get, post
from probes.elicit.recipe import Family, Recipe
from probes.recipes.pd.requests import MANAGEMENT_KEY, MODELS, UNKNOWN_MODEL, completion, tokenize
from probes.target.target import WRONG

ERRORS = Family("pd/errors")
JSON = {"content-type": "application/json"}

RECIPES: tuple[Recipe, ...] = (
    ERRORS.recipe("invalid_argument/bad_body", completion(messages=[]), tokens=500),
    ERRORS.recipe(
        "invalid_argument/bad_body_string",
        post("/v1/chat/completions", Content(b'{"model": '), headers=JSON),
    ),
    ERRORS.recipe("invalid_argument/bad_url", get("/v1/models/%FF")),
    ERRORS.recipe(
        "invalid_argument/unsupported_parameter",
        completion(model="{no_reasoning_model}", reasoning_effort="low"),
        tokens=500,
    ),
    ERRORS.recipe("invalid_argument/incorrect_api_key", MODELS.but(credential=WRONG)),
    ERRORS.recipe("authentication/no_credentials", MODELS.but(credential=None)),
    ERRORS.recipe(
        "authentication/management_invalid_bearer",
        MANAGEMENT_KEY.but(credential=WRONG),
        credential="management",
    ),
    ERRORS.recipe(
        "authentication/management_no_credentials",
        MANAGEMENT_KEY.but(credential=None),
        credential="management",
    ),
    ERRORS.recipe("not_found/unknown_path", get("/v1/no-such-path")),
    ERRORS.recipe("not_found/model_missing", UNKNOWN_MODEL),
    ERRORS.recipe(
        "not_found/model_restricted",
        {"restricted": get("/v1/models/{restricted_model}"), "missing": UNKNOWN_MODEL},
    ),
    ERRORS.recipe(
        "not_found/model_not_in_region",
        {
            SETUP: get("/v1/models/{non_regional_model}"),
            ANSWER: get("/v1/models/{non_regional_model}", service="regional_base_url"),
        },
    ),
    ERRORS.recipe(
        "request/method_not_allowed",
        {"wrong_method": get("/v1/chat/completions"), "delete_on_list_path": delete("/v1/models")},
    ),
    ERRORS.recipe(
        "request/unsupported_media_type",
        post("/v1/tokenize-text", Content(b"text=hi"), headers={"content-type": "text/plain"}),
    ),
    ERRORS.recipe("request/wrong_type", tokenize(1)),
    ERRORS.recipe("server/server_fault", MODELS.befallen("internal_error")),
)
