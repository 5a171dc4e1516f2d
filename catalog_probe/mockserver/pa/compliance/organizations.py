"""The parent organization's structure: organizations, users, roles, settings, groups and their members (1:4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from catalog_probe.mockserver.pa.compliance.errors import NO_ORGANIZATION_ROLE_OR_GROUP, NO_SETTINGS
from catalog_probe.mockserver.pa.compliance.paging import Row, page_by_token
from catalog_probe.mockserver.pa.compliance.tenants import Child, Entry, Parent, tenant_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call


async def list_organizations(call: Call) -> Response:
    """Answer with the organizations linked to the parent."""
    return _page(call, "organizations", ({"id": child.id, "name": child.name} for child in _parent_of(call).children))


async def list_users(call: Call) -> Response:
    """Answer with the people of one organization."""
    child = _find_child(call)
    return _page(call, f"users of {child.id}", child.people)


async def list_roles(call: Call) -> Response:
    """Answer with the roles of one organization."""
    child = _find_child(call)
    return _page(call, f"roles of {child.id}", child.roles)


async def get_role(call: Call) -> Response:
    """Answer with one role of one organization."""
    return JSONResponse(_find_entry(_find_child(call).roles, call.params["role_id"]))


async def get_settings(call: Call) -> Response:
    """Answer with the settings of one organization; every reason why there are none gets the same body (2:7.2)."""
    for child in _parent_of(call).children:
        if child.id == call.params["organization_id"] and child.settings_enabled:
            return JSONResponse({"organization_id": child.id, "settings": {"retention_days": 365}})
    raise NO_SETTINGS()


async def list_groups(call: Call) -> Response:
    """Answer with the groups of the parent."""
    return _page(call, "groups", (group for group, _ in _parent_of(call).groups))


async def get_group(call: Call) -> Response:
    """Answer with one group."""
    groups = [group for group, _ in _parent_of(call).groups]
    return JSONResponse(_find_entry(groups, call.params["group_id"]))


async def list_members(call: Call) -> Response:
    """Answer with the members of one group."""
    for group, members in _parent_of(call).groups:
        if group["id"] == call.params["group_id"]:
            return _page(call, f"members of {group['id']}", members)
    raise NO_ORGANIZATION_ROLE_OR_GROUP()


def _parent_of(call: Call) -> Parent:
    return tenant_of(call.key.organization).parent


def _find_child(call: Call) -> Child:
    for child in _parent_of(call).children:
        if child.id == call.params["organization_id"]:
            return child
    raise NO_ORGANIZATION_ROLE_OR_GROUP()


def _find_entry(entries: Iterable[Entry], entry_id: str) -> Entry:
    for entry in entries:
        if entry["id"] == entry_id:
            return entry
    raise NO_ORGANIZATION_ROLE_OR_GROUP()


def _page(call: Call, binding: str, entries: Iterable[Entry]) -> Response:
    rows = [Row((0.0, entry["id"]), entry) for entry in entries]
    return JSONResponse(page_by_token(call, rows, call.query, (binding, call.key.organization.id), descending=False))
