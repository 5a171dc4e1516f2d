"""What PD refuses by the request alone: bodies, URLs, parameters, keys, methods, models (2:7.6 rows 400 to 422)."""

from __future__ import annotations

from catalog_probe.catalog.model.labels import ANSWER, SETUP
from catalog_probe.probes.calls.body import Content, JsonBody
from catalog_probe.probes.calls.call import Call, delete, get
from catalog_probe.probes.recipes.other_endpoints import Change, listed, spoilt, spoilt_by_label
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.recipes.shapes import befallen, with_key
from catalog_probe.probes.targets.target import WRONG

from .requests import MANAGEMENT_KEY, MODELS, UNKNOWN_MODEL, completion, response, tokenize

ERRORS = Family("pd/errors")
JSON = {"content-type": "application/json"}

ENDPOINTS = "pd/endpoints"


def cut_short(call: Call) -> Call:
    """The call with a body that ends too soon."""
    return call.but(body=Content(b'{"model": '), headers=JSON)


def as_text(call: Call) -> Call:
    """The call with a body that is none of JSON, and says so."""
    return call.but(body=Content(b"text=hi"), headers={"content-type": "text/plain"})


def with_bad_url(call: Call) -> Call:
    """The call with something in place of an id that no URL may hold."""
    return call.but(path=f"{call.path.rpartition('/')[0]}/%FF")


def of_model(model: str) -> Change:
    """The call for another model, which stands in its body or at the end of its path."""

    def changed(call: Call) -> Call:
        in_the_body = isinstance(call.body, JsonBody)
        return (
            call.with_fields(model=model) if in_the_body else call.but(path=f"{call.path.rpartition('/')[0]}/{model}")
        )

    return changed


RECIPES: tuple[Recipe, ...] = (
    ERRORS.recipe(
        "invalid_argument/bad_body",
        completion(messages=[]),
        tokens=500,
        elsewhere=listed(ENDPOINTS, {"responses/create_response": response(input=[])}),
    ),
    ERRORS.recipe(
        "invalid_argument/bad_body_string",
        cut_short(completion()),
        elsewhere=spoilt(cut_short),
    ),
    ERRORS.recipe("invalid_argument/bad_url", with_bad_url(get("/v1/models/x")), elsewhere=spoilt(with_bad_url)),
    ERRORS.recipe(
        "invalid_argument/unsupported_parameter",
        completion(model="{no_reasoning_model}", reasoning_effort="low"),
        tokens=500,
        elsewhere=listed(
            ENDPOINTS,
            {"responses/create_response": response(model="{no_reasoning_model}", reasoning={"effort": "low"})},
        ),
    ),
    ERRORS.recipe(
        "invalid_argument/incorrect_api_key", MODELS.but(credential=WRONG), elsewhere=spoilt(with_key(WRONG))
    ),
    ERRORS.recipe("authentication/no_credentials", MODELS.but(credential=None), elsewhere=spoilt(with_key(None))),
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
    ERRORS.recipe(
        "not_found/unknown_path", {"no_such_path": get("/v1/no-such-path"), "without_version": get("/models")}
    ),
    ERRORS.recipe("not_found/model_missing", UNKNOWN_MODEL, elsewhere=spoilt(of_model("no-such-model"))),
    ERRORS.recipe(
        "not_found/model_restricted",
        {"restricted": get("/v1/models/{restricted_model}"), "missing": UNKNOWN_MODEL},
        elsewhere=spoilt_by_label(restricted=of_model("{restricted_model}"), missing=of_model("no-such-model")),
    ),
    ERRORS.recipe(
        "not_found/model_not_in_region",
        {
            SETUP: get("/v1/models/{non_regional_model}"),
            ANSWER: get("/v1/models/{non_regional_model}", service="regional_base_url"),
        },
        elsewhere=spoilt(lambda call: of_model("{non_regional_model}")(call).but(service="regional_base_url")),
    ),
    ERRORS.recipe(
        "request/method_not_allowed",
        {"wrong_method": get("/v1/chat/completions"), "delete_on_list_path": delete("/v1/models")},
    ),
    ERRORS.recipe(
        "request/unsupported_media_type",
        as_text(tokenize("hi")),
        elsewhere=spoilt(as_text),
    ),
    ERRORS.recipe(
        "request/wrong_type",
        tokenize(1),
        elsewhere=listed(
            ENDPOINTS,
            {
                "chat/create_chat_completion": completion(messages=1),
                "responses/create_response": response(text=1),
            },
        ),
    ),
    ERRORS.recipe(
        "server/server_fault", MODELS.befallen("internal_error"), elsewhere=spoilt(befallen("internal_error"))
    ),
    ERRORS.recipe("server/unavailable", MODELS.befallen("service_unavailable")),
    ERRORS.recipe("server/deadline_exceeded", MODELS.befallen("took_too_long")),
)
