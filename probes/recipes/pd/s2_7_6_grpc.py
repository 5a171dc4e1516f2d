"""2:7.6 PD errors, gRPC mapping: a call for each canonical status, and the success that 1:4.4 names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.calls import invoke
from catalog_probe.probes.recipes.book import FAULT_FREE
from catalog_probe.probes.recipes.minimal_requests import BOTH_REFUSALS
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import WRONG_KEY, Cost

from .s2_7_6_errors import exhaustion_recipe

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


def status_recipe(slug: str, calls: Call | Mapping[str, Call], *, tokens: int = 0) -> Recipe:
    """A row of the mapping."""
    return ERRORS.recipe(slug, calls, tokens=tokens, control=MODELS, endpoint=HOST)


RECIPES: tuple[Recipe, ...] = (
    # 1:4.4 gRPC {grpc_host}:443: "canonical gRPC status codes"
    ENDPOINT.recipe("grpc_host", BOTH_REFUSALS.label_calls(MODELS), control=MODELS),
    # "3 INVALID_ARGUMENT to 400"
    status_recipe(
        "invalid_argument",
        {"bad_request": COMPLETE.with_fields(messages=[]), "incorrect_api_key": MODELS.replace(credential=WRONG_KEY)},
        tokens=500,
    ).with_optional({"multi_agent": COMPLETE.with_fields(model="{multi_agent_model}")}),
    # "16 UNAUTHENTICATED to 401"
    status_recipe("unauthenticated", MODELS.replace(credential=None)),
    # "7 PERMISSION_DENIED to 403"
    status_recipe("permission_denied", COMPLETE.replace(credential="no_endpoint_acl"), tokens=500),
    # "5 NOT_FOUND to 404"
    status_recipe("not_found", UNKNOWN_MODEL),
    # "8 RESOURCE_EXHAUSTED to 429"
    exhaustion_recipe(ERRORS, "resource_exhausted", COMPLETE, "tight", control=MODELS, endpoint=HOST),
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
