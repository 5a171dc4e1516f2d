"""PA's admin API, and the signed requests of its cloud-marketplace variant (1:4.1, 1:5.1)."""

from __future__ import annotations

from catalog_probe.probes.calls.call import Call, get
from catalog_probe.probes.recipes.other_endpoints import spoilt
from catalog_probe.probes.recipes.recipe import Family, Recipe

from .requests import MODELS, UNKNOWN_ID, labelled

FAMILY = Family("pa/endpoints/admin")
ADMIN = "admin"

ORGANIZATION = get("/v1/organizations/me")
ORGANIZATION_LIMITS = get("/v1/organizations/rate_limits")
WORKSPACE_LIMITS = get("/v1/organizations/workspaces/{workspace}/rate_limits")
DEFAULT_WORKSPACE_LIMITS = get("/v1/organizations/workspaces/{default_workspace}/rate_limits")
MARKETPLACE_LIMITS = get("/v1/organizations/workspaces/{marketplace_workspace}/rate_limits")
UNKNOWN_WORKSPACE = get(f"/v1/organizations/workspaces/wrkspc_{UNKNOWN_ID}/rate_limits")


def badly_signed(call: Call) -> Call:
    """The call as the cloud-marketplace variant takes it, with a signature that is not its own."""
    return call.but(credential="marketplace_bad_signature", key_in=("authorization", ""))


RECIPES: tuple[Recipe, ...] = (
    FAMILY.recipe(
        "get_organization",
        labelled(ORGANIZATION, inference_key=ORGANIZATION.but(credential="inference")),
        credential=ADMIN,
    ),
    FAMILY.recipe(
        "list_organization_rate_limits",
        labelled(ORGANIZATION_LIMITS),
        credential=ADMIN,
    ),
    FAMILY.recipe(
        "list_workspace_rate_limits",
        labelled(WORKSPACE_LIMITS, unknown_workspace=UNKNOWN_WORKSPACE),
        credential=ADMIN,
        optional={
            "default_workspace": FAMILY.recipe(
                "list_workspace_rate_limits", DEFAULT_WORKSPACE_LIMITS, label="default_workspace", credential=ADMIN
            ),
            "marketplace_workspace": FAMILY.recipe(
                "list_workspace_rate_limits",
                MARKETPLACE_LIMITS.but(credential="admin_marketplace"),
                label="marketplace_workspace",
                credential=ADMIN,
            ),
        },
    ),
    Family("pa/errors/admin").recipe("workspace_not_found", UNKNOWN_WORKSPACE, credential=ADMIN),
    Family("pa/errors/general").recipe(
        "bad_request_signing",
        badly_signed(MODELS),
        elsewhere=spoilt(badly_signed),
    ),
)
