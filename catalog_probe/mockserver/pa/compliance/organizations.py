"""The parent organization's structure: organizations, users, roles, settings, groups and their members (1:4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.pa.compliance.errors import NO_ORGANIZATION_ROLE_OR_GROUP, NO_SETTINGS
from catalog_probe.mockserver.pa.compliance.paging import Row, page_by_token
from catalog_probe.mockserver.pa.compliance.tenants import Child, Named, Parent, Person, tenant_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call


async def list_organizations(call: Call) -> Response:
    """The organizations linked to the parent."""
    return _page(call, "organizations", ({"id": child.id, "name": child.name} for child in _parent(call).children))


async def list_users(call: Call) -> Response:
    """The people of one organization."""
    child = _child(call)
    return _page(call, f"users of {child.id}", map(_person, child.people))


async def list_roles(call: Call) -> Response:
    """The roles of one organization."""
    child = _child(call)
    return _page(call, f"roles of {child.id}", map(_named, child.roles))


async def get_role(call: Call) -> Response:
    """One role of one organization."""
    return JSONResponse(_named(_find(_child(call).roles, call.params["role_id"])))


async def get_settings(call: Call) -> Response:
    """The settings of one organization. Every reason why there are none gets the same body, on purpose."""
    child = _children(call).get(call.params["organization_id"])
    if child is None or not child.settings_enabled:
        raise NO_SETTINGS()
    return JSONResponse({"organization_id": child.id, "settings": {"retention_days": 365}})


async def list_groups(call: Call) -> Response:
    """The groups of the parent."""
    return _page(call, "groups", map(_named, _parent(call).groups))


async def get_group(call: Call) -> Response:
    """One group."""
    return JSONResponse(_named(_group(call)))


async def list_members(call: Call) -> Response:
    """The members of one group."""
    group = _group(call)
    return _page(call, f"members of {group.id}", map(_person, group.members))


def _parent(call: Call) -> Parent:
    return tenant_of(call.key.organization).parent


def _children(call: Call) -> dict[str, Child]:
    return {child.id: child for child in _parent(call).children}


def _child(call: Call) -> Child:
    child = _children(call).get(call.params["organization_id"])
    if child is None:
        raise NO_ORGANIZATION_ROLE_OR_GROUP()
    return child


def _group(call: Call) -> Named:
    return _find(_parent(call).groups, call.params["group_id"])


def _find(entries: Sequence[Named], entry_id: str) -> Named:
    entry = {entry.id: entry for entry in entries}.get(entry_id)
    if entry is None:
        raise NO_ORGANIZATION_ROLE_OR_GROUP()
    return entry


def _named(named: Named) -> dict[str, Any]:
    return {"id": named.id, "name": named.name}


def _person(person: Person) -> dict[str, Any]:
    return {"id": person.id, "email_address": person.email}


def _page(call: Call, binding: str, items: Iterable[dict[str, Any]]) -> Response:
    rows = [Row((0.0, item["id"]), item) for item in items]
    return JSONResponse(page_by_token(call, rows, call.query, (binding, call.key.organization.id), descending=False))
