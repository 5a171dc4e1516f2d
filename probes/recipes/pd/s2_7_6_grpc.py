"""2:7.6 PD errors, gRPC mapping: a call for each canonical status, and the success that 1:4.4 names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import ANSWER
from catalog_probe.probes.calls import invoke
from catalog_probe.probes.recipes.book import FAULT_FREE
from catalog_probe.probes.recipes.minimal_requests import BOTH_REFUSALS
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import WRONG_KEY, Cost

from .requests import UNKNOWN_RESULT
from .s2_7_6_errors import exhaust, exhaustion_recipe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.calls import Call

ENDPOINT = Family("pd/endpoints/grpc")
ERRORS = Family("pd/errors/grpc")
HOST = "pd/endpoints/grpc/grpc_host"
"""Endpoint of all gRPC calls; the documents show no path (1:4.4)."""

MODELS = invoke("/pd_api.Models/ListLanguageModels")
UNKNOWN_MODEL = invoke("/pd_api.Models/GetLanguageModel", {"name": "no-such-model"})
COMPLETE = invoke(
    "/pd_api.Chat/GetCompletion",
    {"model": "{small_model}", "max_tokens": 1, "messages": [{"role": "ROLE_USER", "content": [{"text": "hi"}]}]},
)
COMPLETE_STREAMED = COMPLETE.replace(path="/pd_api.Chat/GetCompletionChunk")
FETCH = invoke("/pd_api.Chat/GetDeferredCompletion", {"request_id": UNKNOWN_RESULT.path.rpartition("/")[2]})

OTHER_METHODS: Mapping[str, Call] = {
    "get_model": invoke("/pd_api.Models/GetLanguageModel", {"name": "{small_model}"}),
    "tokenize": invoke("/pd_api.Tokenize/TokenizeText", {"model": "{small_model}", "text": "hi"}),
    "completion": COMPLETE,
    "completion_streamed": COMPLETE_STREAMED,
    "start_deferred": COMPLETE.replace(path="/pd_api.Chat/StartDeferredCompletion"),
    "fetch_deferred": FETCH,
}
"""A call of each method that refuses by its key, besides the list of models, by the label of its refusal."""


def status_recipe(slug: str, calls: Call | Mapping[str, Call], *, tokens: int = 0) -> Recipe:
    """A row of the mapping."""
    return ERRORS.recipe(slug, calls, tokens=tokens, control=MODELS, endpoint=HOST)


def with_role(role: str | None, calls: Mapping[str, Call]) -> dict[str, Call]:
    """Return the calls with the key of a role, or without any key."""
    return {label: call.replace(credential=role) for label, call in calls.items()}


UNSUITABLE = {
    "unsupported_parameter": {"model": "{no_reasoning_model}", "reasoning_effort": "EFFORT_LOW"},
    "multi_agent": {"model": "{multi_agent_model}"},
}
"""Members that do not suit the model (1:4.4), by the label of their refusal."""


RECIPES: tuple[Recipe, ...] = (
    # 1:4.4 gRPC {grpc_host}:443: "canonical gRPC status codes"
    ENDPOINT.recipe("grpc_host", BOTH_REFUSALS.label_calls(MODELS), control=MODELS),
    # "3 INVALID_ARGUMENT to 400"
    status_recipe(
        "invalid_argument",
        {
            "bad_request": COMPLETE.with_fields(messages=[]),
            "bad_request_streamed": COMPLETE_STREAMED.with_fields(messages=[]),
            "incorrect_api_key": MODELS.replace(credential=WRONG_KEY),
        },
        tokens=500,
    ).with_optional(
        {label: COMPLETE.with_fields(**members) for label, members in UNSUITABLE.items()},
        {f"{label}_streamed": COMPLETE_STREAMED.with_fields(**members) for label, members in UNSUITABLE.items()},
        tokens=100,
    ),
    # "16 UNAUTHENTICATED to 401"
    status_recipe(
        "unauthenticated",
        with_role(
            None,
            {ANSWER: MODELS, **OTHER_METHODS, "key_record": invoke("/pd_api.Auth/get_api_key_info")},
        ),
        tokens=100,
    ),
    # "7 PERMISSION_DENIED to 403"
    status_recipe(
        "permission_denied",
        {
            ANSWER: COMPLETE.replace(credential="no_endpoint_acl"),
            **with_role("no_acl", {"list_models": MODELS, **OTHER_METHODS}),
        },
        tokens=500,
    ),
    # "5 NOT_FOUND to 404"
    status_recipe(
        "not_found",
        {
            ANSWER: UNKNOWN_MODEL,
            "completion": COMPLETE.with_fields(model="no-such-model"),
            "completion_streamed": COMPLETE_STREAMED.with_fields(model="no-such-model"),
            "tokenize": OTHER_METHODS["tokenize"].with_fields(model="no-such-model"),
            "fetch_deferred": FETCH,
        },
        tokens=500,
    ).with_optional(
        {
            "restricted": UNKNOWN_MODEL.with_fields(name="{restricted_model}"),
            "completion_restricted": COMPLETE.with_fields(model="{restricted_model}"),
        },
        tokens=100,
    ),
    # "8 RESOURCE_EXHAUSTED to 429"
    exhaustion_recipe(ERRORS, "resource_exhausted", COMPLETE, "tight", control=MODELS, endpoint=HOST).with_optional(
        exhaust(COMPLETE_STREAMED, "tight", "streamed"),
        exhaust(COMPLETE.with_fields(max_tokens=16), "tight_tokens", "tokens_of_the_model"),
        exhaust(COMPLETE, "capped", "queries_per_minute"),
        exhaust(COMPLETE, "capped_second", "queries_per_second"),
        exhaust(COMPLETE.with_fields(max_tokens=16), "capped_tokens", "tokens_per_minute"),
    ),
    # "13 INTERNAL to 500"
    status_recipe("internal", MODELS.with_scenario("internal_error")),
    # "14 UNAVAILABLE to 503"
    status_recipe("unavailable", MODELS.with_scenario("service_unavailable")),
    # "4 DEADLINE_EXCEEDED to 504"
    status_recipe("deadline_exceeded", MODELS.with_scenario("took_too_long")),
)

FAULT_FREE_REQUESTS = (
    ENDPOINT.recipe("grpc_host", {FAULT_FREE: COMPLETE}, cost=Cost.BILLABLE, control=MODELS, tokens=500),
)
"""A completion, for an account without credit still lists models."""
