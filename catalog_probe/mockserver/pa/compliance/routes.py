"""The compliance API's route table. The documents show two of its paths; the others are common shapes (1:4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.routing import Route
from catalog_probe.mockserver.pa.compliance import (
    access,
    activities,
    chats,
    files,
    local_sessions,
    organizations,
    projects,
    remote_sessions,
)
from catalog_probe.mockserver.pa.compliance.budget import admit_remote_request, admit_request
from catalog_probe.mockserver.pa.compliance.causes import upstream_trouble
from catalog_probe.mockserver.pa.gateway import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.gateway import Handler

BASE = "/v1/compliance"
APPS = f"{BASE}/apps"
PROJECT = f"{APPS}/projects/{{project_id}}"
ORGANIZATION = f"{BASE}/organizations/{{organization_id}}"


def _endpoint(handler: Handler, scope: str, admit_budget: Callable[[Call], None] = admit_request) -> Endpoint:
    """An endpoint that needs `scope` and counts against a budget."""

    async def guarded(call: Call) -> Response:
        admit_budget(call)
        return upstream_trouble(call) or await handler(call)

    return Endpoint(guarded, scope, admit=access.admit, authenticate=access.authenticate)


def _settings() -> Endpoint:
    """The one endpoint that answers strangers otherwise."""
    usual = _endpoint(organizations.get_settings, access.ORG_DATA)
    return Endpoint(usual.handler, usual.group, admit=usual.admit, authenticate=access.authenticate_for_settings)


def _get(path: str, handler: Handler, scope: str) -> Route[Endpoint]:
    return Route("GET", path, _endpoint(handler, scope))


def _remote(path: str, handler: Handler) -> Route[Endpoint]:
    return Route("GET", path, _endpoint(handler, access.USER_DATA, admit_remote_request))


def _delete(path: str, handler: Handler) -> Route[Endpoint]:
    return Route("DELETE", path, _endpoint(handler, access.DELETE))


ROUTES = (
    _get(f"{BASE}/activities", activities.list_activities, access.ACTIVITIES),
    _get(f"{BASE}/organizations", organizations.list_organizations, access.ORG_DATA),
    _get(f"{ORGANIZATION}/roles", organizations.list_roles, access.ORG_DATA),
    _get(f"{ORGANIZATION}/roles/{{role_id}}", organizations.get_role, access.ORG_DATA),
    _get(f"{ORGANIZATION}/users", organizations.list_users, access.USER_DATA),
    Route("GET", f"{ORGANIZATION}/settings", _settings()),
    _get(f"{BASE}/groups", organizations.list_groups, access.ORG_DATA),
    _get(f"{BASE}/groups/{{group_id}}", organizations.get_group, access.ORG_DATA),
    _get(f"{BASE}/groups/{{group_id}}/members", organizations.list_members, access.USER_DATA),
    _get(f"{APPS}/chats", chats.list_chats, access.USER_DATA),
    _get(f"{APPS}/chats/{{chat_id}}/messages", chats.list_messages, access.USER_DATA),
    _delete(f"{APPS}/chats/{{chat_id}}", chats.delete_chat),
    _get(f"{APPS}/files/{{file_id}}", files.get_file, access.USER_DATA),
    _get(f"{APPS}/files/{{file_id}}/content", files.get_file_content, access.USER_DATA),
    _delete(f"{APPS}/files/{{file_id}}", files.delete_file),
    _get(f"{APPS}/generated-files/{{product_id}}", chats.get_generated_file, access.USER_DATA),
    _get(f"{APPS}/generated-files/{{product_id}}/content", chats.get_generated_file_content, access.USER_DATA),
    _get(f"{APPS}/artifacts/{{product_id}}", chats.get_artifact, access.USER_DATA),
    _get(f"{APPS}/artifacts/{{product_id}}/content", chats.get_artifact_content, access.USER_DATA),
    _get(PROJECT, projects.get_project, access.USER_DATA),
    _get(f"{PROJECT}/attachments", projects.list_attachments, access.USER_DATA),
    _get(f"{PROJECT}/collaborators", projects.list_collaborators, access.USER_DATA),
    _delete(PROJECT, projects.delete_project),
    _delete(f"{APPS}/projects/documents/{{document_id}}", projects.delete_document),
    _get(f"{APPS}/local-sessions", local_sessions.list_sessions, access.USER_DATA),
    _get(f"{APPS}/local-sessions/{{session_id}}/messages", local_sessions.list_messages, access.USER_DATA),
    _remote(f"{APPS}/remote-sessions", remote_sessions.list_sessions),
    _remote(f"{APPS}/remote-sessions/{{session_id}}/transcript", remote_sessions.get_transcript),
)
