"""The parent organization's structure and its settings (1:4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from catalog_probe.mockserver.pa.compliance.errors import NO_ORGANIZATION_ROLE_OR_GROUP, NO_SETTINGS
from catalog_probe.mockserver.pa.compliance.paging import Row, page_by_token
from catalog_probe.mockserver.pa.compliance.tenants import SETTINGS_ENABLED, Entry, tenant_of

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call


async def list_entries(call: Call) -> Response:
    """Answer with one page of the list that the path names."""
    path = _get_path(call)
    rows = [Row((0.0, entry["id"]), entry) for entry in _find_list(call, path)]
    return JSONResponse(page_by_token(call, rows, call.query, (path, call.key.organization.id), descending=False))


async def get_entry(call: Call) -> Response:
    """Answer with the entry that the path names."""
    path, _, entry_id = _get_path(call).rpartition("/")
    for entry in _find_list(call, path):
        if entry["id"] == entry_id:
            return JSONResponse(entry)
    raise NO_ORGANIZATION_ROLE_OR_GROUP()


async def get_settings(call: Call) -> Response:
    """Answer with an organization's settings, or with one body for any reason (2:7.2)."""
    organization_id = call.params["organization_id"]
    children = [entry["id"] for entry in _find_list(call, "organizations")]
    if organization_id not in children or organization_id not in SETTINGS_ENABLED:
        raise NO_SETTINGS()
    return JSONResponse({"organization_id": organization_id, "settings": {"retention_days": 365}})


def _get_path(call: Call) -> str:
    return call.request.url.path.partition("/v1/compliance/")[2]


def _find_list(call: Call, path: str) -> tuple[Entry, ...]:
    structure = tenant_of(call.key.organization).parent.structure
    if path not in structure:
        raise NO_ORGANIZATION_ROLE_OR_GROUP()
    return structure[path]
