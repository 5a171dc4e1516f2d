"""PA's admin API, and the signed requests of its cloud-marketplace variant (1:4.1, 1:5.1)."""

from __future__ import annotations

from probes.calls.call import get
from probes.elicit.recipe import Recipe, recipe
from probes.recipes.pa.requests import MODELS, UNKNOWN_ID, denied

FAMILY = "pa/endpoints/admin"
ADMIN = "admin"

ORGANIZATION = get("/v1/organizations/me")
ORGANIZATION_LIMITS = get("/v1/organizations/rate_limits")
WORKSPACE_LIMITS = get("/v1/organizations/workspaces/{workspace}/rate_limits")
UNKNOWN_WORKSPACE = get(f"/v1/organizations/workspaces/wrkspc_{UNKNOWN_ID}/rate_limits")

RECIPES: tuple[Recipe, ...] = (
    recipe(
        f"{FAMILY}/get_organization",
        {"success": ORGANIZATION, **denied(ORGANIZATION, missing=False)},
        credential=ADMIN,
    ),
    recipe(
        f"{FAMILY}/list_organization_rate_limits",
        {"success": ORGANIZATION_LIMITS, **denied(ORGANIZATION_LIMITS, missing=False)},
        credential=ADMIN,
    ),
    recipe(
        f"{FAMILY}/list_workspace_rate_limits",
        {
            "success": WORKSPACE_LIMITS,
            **denied(WORKSPACE_LIMITS, missing=False),
            "unknown_workspace": UNKNOWN_WORKSPACE,
        },
        credential=ADMIN,
    ),
    recipe("pa/errors/admin/workspace_not_found", UNKNOWN_WORKSPACE, credential=ADMIN),
    recipe(
        "pa/errors/general/bad_request_signing",
        MODELS.but(credential="marketplace_bad_signature", key_in=("authorization", "")),
    ),
)
