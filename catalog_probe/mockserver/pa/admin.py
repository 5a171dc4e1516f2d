"""The admin API: the key's organization, and the configured rate limits (1:4.1).

The paths of the rate-limit lists are not shown; assumed as usual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.pa.errors import NO_WORKSPACE, NOT_PERMITTED
from catalog_probe.mockserver.pa.keys import DEFAULT_WORKSPACE, KEYS, MARKETPLACE, Key, Role
from catalog_probe.mockserver.pa.limits import MESSAGE_LIMITS, REQUEST_LIMITS
from catalog_probe.mockserver.pa.paging import make_page

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.gateway import Endpoint


async def get_me(call: Call) -> Response:
    """Answer with the organization of the admin key."""
    return JSONResponse({"id": call.key.organization.id, "type": "organization", "name": "Mock organization"})


async def list_organization_limits(call: Call) -> Response:
    """Answer with the limits configured for the organization."""
    return JSONResponse(make_page(call, _list_limits(call.key.organization.tier)))


async def list_workspace_limits(call: Call) -> Response:
    """Answer with the limits of one workspace, below the organization's (2:8.2)."""
    workspace = call.params["workspace_id"]
    if workspace not in {key.workspace for key in KEYS.values() if key.organization == call.key.organization}:
        raise NO_WORKSPACE(id=workspace)
    limits = _list_limits(call.key.organization.tier) if has_limits(call, workspace) else []
    return JSONResponse(make_page(call, [{**limit, "value": limit["value"] // 2} for limit in limits]))


def has_limits(call: Call, workspace: str) -> bool:
    """Whether a workspace can have limits (2:8.2).

    The default one cannot, nor that of a marketplace customer.
    """
    return workspace != DEFAULT_WORKSPACE and call.key.organization != MARKETPLACE


def _list_limits(tier: str) -> list[dict[str, Any]]:
    messages = [
        {"id": f"{model_class}/{kind}", "group": model_class, "limiter": kind, "value": value}
        for model_class, per_minute in MESSAGE_LIMITS[tier].items()
        for kind, value in per_minute._asdict().items()
    ]
    requests = [
        {"id": f"{group}/requests", "group": group, "limiter": "requests", "value": value}
        for group, value in REQUEST_LIMITS[tier].items()
    ]
    return [{"type": "rate_limit", **limit} for limit in (*messages, *requests)]


def admit_admins(key: Key, endpoint: Endpoint) -> None:
    """Refuse all keys but admin keys (1:4.1 "admin credential")."""
    if key.role is not Role.ADMIN:
        raise NOT_PERMITTED()
