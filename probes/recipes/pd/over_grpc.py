"""PD over gRPC: a call for each canonical status of 2:7.6."""

from __future__ import annotations

from catalog_probe.probes.calls.call import invoke
from catalog_probe.probes.recipes.credential_rules import BOTH
from catalog_probe.probes.recipes.fault_free import TWIN
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import WRONG, Cost

from .accounts import used_up

ERRORS = Family("pd/errors/grpc")
COMPLETION = {
    "model": "{small_model}",
    "max_tokens": 1,
    "messages": [{"role": "ROLE_USER", "content": [{"text": "hi"}]}],
}

MODELS = invoke("/pd_api.Models/ListLanguageModels")
COMPLETE = invoke("/pd_api.Chat/GetCompletion", COMPLETION)

HOST = "pd/endpoints/grpc/grpc_host"
"""The endpoint of all calls: no path of theirs is shown (1:4.4)."""

RECIPES: tuple[Recipe, ...] = (
    Family("pd/endpoints/grpc").recipe("grpc_host", BOTH.labelled(MODELS), control=MODELS),
    ERRORS.recipe(
        "invalid_argument",
        {
            "bad_request": COMPLETE.with_fields(messages=[]),
            "incorrect_api_key": MODELS.but(credential=WRONG),
        },
        optional={
            "multi_agent": ERRORS.recipe(
                "invalid_argument",
                COMPLETE.with_fields(model="{multi_agent_model}"),
                label="multi_agent",
                control=MODELS,
                tokens=500,
            )
        },
        control=MODELS,
        endpoint=HOST,
        tokens=500,
    ),
    ERRORS.recipe(
        "deadline_exceeded",
        MODELS.befallen("took_too_long"),
        control=MODELS,
        endpoint=HOST,
    ),
    ERRORS.recipe(
        "not_found", invoke("/pd_api.Models/GetLanguageModel", {"name": "no-such-model"}), control=MODELS, endpoint=HOST
    ),
    ERRORS.recipe(
        "permission_denied", COMPLETE.but(credential="no_endpoint_acl"), control=MODELS, tokens=500, endpoint=HOST
    ),
    ERRORS.recipe("internal", MODELS.befallen("internal_error"), control=MODELS, endpoint=HOST),
    ERRORS.recipe("unavailable", MODELS.befallen("service_unavailable"), control=MODELS, endpoint=HOST),
    ERRORS.recipe("unauthenticated", MODELS.but(credential=None), control=MODELS, endpoint=HOST),
    used_up(ERRORS, "resource_exhausted", COMPLETE, "tight", control=MODELS, endpoint=HOST),
)

TWINS = (
    Family("pd/endpoints/grpc").recipe(
        "grpc_host", COMPLETE, label=TWIN, cost=Cost.BILLABLE, control=MODELS, tokens=500
    ),
)
"""An account without credit still lists models; it completes nothing."""
