"""PD over gRPC: a call for each canonical status of 2:7.6."""

from __future__ import annotations

from probes.calls.call import invoke
from probes.elicit.probe import Probe
from probes.elicit.recipe import Recipe, recipe, stepwise
from probes.recipes.pd.accounts import DISRUPTIVE, until_refused

ERRORS = "pd/errors/grpc"
COMPLETION = {
    "model": "{small_model}",
    "max_tokens": 1,
    "messages": [{"role": "ROLE_USER", "content": [{"text": "hi"}]}],
}

MODELS = invoke("/pd_api.Models/ListLanguageModels")
COMPLETE = invoke("/pd_api.Chat/GetCompletion", COMPLETION)

TOO_SOON_S = 0.01
"""A deadline that no answer over a network can meet. The mock, on loopback, is told to take its time."""

RECIPES: tuple[Recipe, ...] = (
    recipe(
        "pd/endpoints/grpc/grpc_host",
        {
            "success": MODELS,
            "missing_credential": MODELS.but(credential=None),
            "wrong_credential": MODELS.but(credential="wrong"),
        },
        control=MODELS,
    ),
    recipe(
        f"{ERRORS}/invalid_argument",
        {
            "bad_request": COMPLETE.with_fields(messages=[]),
            "incorrect_api_key": MODELS.but(credential="wrong"),
        },
        control=MODELS,
        tokens=500,
    ),
    recipe(
        f"{ERRORS}/deadline_exceeded",
        MODELS.but(timeout_s=TOO_SOON_S).befallen("latency;ms=300"),
        control=MODELS,
        scenario=False,
    ),
    recipe(f"{ERRORS}/not_found", invoke("/pd_api.Models/GetLanguageModel", {"name": "no-such-model"}), control=MODELS),
    recipe(f"{ERRORS}/permission_denied", COMPLETE.but(credential="no_endpoint_acl"), control=MODELS, tokens=500),
    recipe(f"{ERRORS}/internal", MODELS.befallen("internal_error"), control=MODELS),
    recipe(f"{ERRORS}/unavailable", MODELS.befallen("service_unavailable"), control=MODELS),
    recipe(f"{ERRORS}/unauthenticated", MODELS.but(credential=None), control=MODELS),
)


@stepwise(f"{ERRORS}/resource_exhausted", roles={"tight"}, control=MODELS, **DISRUPTIVE)
async def resource_exhausted(probe: Probe) -> None:
    await until_refused(probe, COMPLETE.but(credential="tight"))
