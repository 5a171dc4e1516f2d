"""The endpoint table of the compliance API: the documents show two of its paths, the others are common (1:4.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.sections import OURS
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
from catalog_probe.mockserver.pa.compliance.access import ACTIVITIES, DELETE, ORG_DATA, USER_DATA
from catalog_probe.mockserver.pa.compliance.budget import admit_remote_request, admit_request
from catalog_probe.mockserver.pa.compliance.causes import take_upstream_trouble
from catalog_probe.mockserver.pa.compliance.query import (
    AFTER_ID,
    BEFORE_ID,
    CREATED,
    PAGE,
    Parameter,
    cap,
    limit,
    one_of,
    read_query,
    text,
)
from catalog_probe.mockserver.pa.gateway import Endpoint

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.auth.keys import Key
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.names import Names

BASE = "/v1/compliance"
APPS = f"{BASE}/apps"
PROJECT = f"{APPS}/projects/{{project_id}}"
ORGANIZATION = f"{BASE}/organizations/{{organization_id}}"


def _row(
    method: str,
    path: str,
    handler: Callable[[Call], Any],
    scopes: tuple[str, ...],
    parameters: tuple[Parameter, ...] = (),
    section: str = OURS,
    *,
    count: Callable[[Call], None] = admit_request,
    authenticate: Callable[[Request, Names], Key] = access.authenticate,
) -> Endpoint:
    """An endpoint that needs a scope, counts against a budget of the parent organization, and takes a query."""

    async def answer(call: Call) -> Response:
        count(call)
        trouble = take_upstream_trouble(call)
        if trouble is not None:
            return trouble
        call.query = read_query(call, *parameters)
        response: Response = await handler(call)
        return response

    return Endpoint(method, path, answer, section, scopes=scopes, authenticate=authenticate, admit=access.admit)


# 1:2.5; the documents show one maximum, and not whose it is; how the order of messages is asked for is not shown either
PAGED = (PAGE, limit(100))
ACTIVITY_QUERY = (*CREATED, text(activities.TYPES), AFTER_ID, BEFORE_ID, limit(activities.MAX_LIMIT))
CHAT_QUERY = (text(chats.USERS), text(chats.PROJECTS), *CREATED, AFTER_ID, BEFORE_ID, limit(100))
CAPS = (cap(chats.INPUT_CAP), cap(chats.RESULT_CAP))
ORDERED = (*PAGED, one_of("order", ("asc", "desc")))

ROUTES = (
    # "query: created_at.gte, created_at.lt, activity_types[], after_id, before_id, limit"
    _row("GET", f"{BASE}/activities", activities.list_activities, ACTIVITIES, ACTIVITY_QUERY, "1:4.1"),
    # "compliance paths for organizations, roles, groups, group members, settings, users"
    _row("GET", f"{BASE}/organizations", organizations.list_organizations, ORG_DATA, PAGED),
    _row("GET", f"{ORGANIZATION}/roles", organizations.list_roles, ORG_DATA, PAGED),
    _row("GET", f"{ORGANIZATION}/roles/{{role_id}}", organizations.get_role, ORG_DATA),
    _row("GET", f"{ORGANIZATION}/users", organizations.list_users, USER_DATA, PAGED),
    _row(
        "GET",
        f"{ORGANIZATION}/settings",
        organizations.get_settings,
        ORG_DATA,
        authenticate=access.authenticate_for_settings,
    ),
    _row("GET", f"{BASE}/groups", organizations.list_groups, ORG_DATA, PAGED),
    _row("GET", f"{BASE}/groups/{{group_id}}", organizations.get_group, ORG_DATA),
    _row("GET", f"{BASE}/groups/{{group_id}}/members", organizations.list_members, USER_DATA, PAGED),
    # "compliance paths for chats (filter user_ids[], project_ids[]), chat messages, files (metadata and content),
    # generated files (metadata and content), artifacts (two endpoints), projects (detail, attachments, collaborators)"
    _row("GET", f"{APPS}/chats", chats.list_chats, USER_DATA, CHAT_QUERY),
    _row("GET", f"{APPS}/chats/{{chat_id}}/messages", chats.list_messages, USER_DATA, CAPS),
    _row("GET", f"{APPS}/files/{{file_id}}", files.get_file, USER_DATA),
    _row("GET", f"{APPS}/files/{{file_id}}/content", files.get_file_content, USER_DATA),
    _row("GET", f"{APPS}/generated-files/{{product_id}}", chats.get_generated_file, USER_DATA),
    _row("GET", f"{APPS}/generated-files/{{product_id}}/content", chats.get_generated_file_content, USER_DATA),
    _row("GET", f"{APPS}/artifacts/{{product_id}}", chats.get_artifact, USER_DATA),
    _row("GET", f"{APPS}/artifacts/{{product_id}}/content", chats.get_artifact_content, USER_DATA),
    _row("GET", PROJECT, projects.get_project, USER_DATA),
    _row("GET", f"{PROJECT}/attachments", projects.list_attachments, USER_DATA, PAGED, "1:4.1"),
    _row("GET", f"{PROJECT}/collaborators", projects.list_collaborators, USER_DATA, PAGED),
    # "compliance paths for local sessions (list, messages) and remote sessions (list, transcript)"
    _row("GET", f"{APPS}/local-sessions", local_sessions.list_sessions, USER_DATA, (*CREATED, *PAGED)),
    _row("GET", f"{APPS}/local-sessions/{{session_id}}/messages", local_sessions.list_messages, USER_DATA, ORDERED),
    # 2:7.2 "remote-session endpoints have a second budget"
    _row(
        "GET",
        f"{APPS}/remote-sessions",
        remote_sessions.list_sessions,
        USER_DATA,
        (*CREATED, *PAGED),
        count=admit_remote_request,
    ),
    _row(
        "GET",
        f"{APPS}/remote-sessions/{{session_id}}/transcript",
        remote_sessions.get_transcript,
        USER_DATA,
        count=admit_remote_request,
    ),
    # "compliance paths for chats, files, projects, project documents | scope delete:compliance_user_data"
    _row("DELETE", f"{APPS}/chats/{{chat_id}}", chats.delete_chat, DELETE),
    _row("DELETE", f"{APPS}/files/{{file_id}}", files.delete_file, DELETE),
    _row("DELETE", PROJECT, projects.delete_project, DELETE),
    _row("DELETE", f"{APPS}/projects/documents/{{document_id}}", projects.delete_document, DELETE),
)
