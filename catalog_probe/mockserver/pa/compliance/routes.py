"""The endpoint table of the compliance API (1:4.1).

The documents show two of its paths; the others are common ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.sections import OURS
from catalog_probe.mockserver.pa.compliance import access, activities, chats, items, organizations, sessions
from catalog_probe.mockserver.pa.compliance.access import (
    ACTIVITIES,
    DELETE,
    ORG_DATA,
    USER_DATA,
    admit_compliance_request,
    admit_remote_request,
)
from catalog_probe.mockserver.pa.compliance.archive import ARTIFACT, CHAT, DOCUMENT, FILE, GENERATED_FILE, PROJECT
from catalog_probe.mockserver.pa.compliance.causes import take_upstream_trouble
from catalog_probe.mockserver.pa.compliance.query import (
    AFTER_ID,
    BEFORE_ID,
    CREATED,
    ORDER,
    PAGE,
    Parameter,
    cap,
    limit,
    read_query,
)
from catalog_probe.mockserver.pa.gateway import Endpoint

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.auth.keys import Key
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.compliance.items import Handler
    from catalog_probe.mockserver.pa.names import Names

BASE = "/v1/compliance"
APPS = f"{BASE}/apps"
CHAT_PATH = f"{APPS}/chats/{{chat_id}}"
FILE_PATH = f"{APPS}/files/{{file_id}}"
GENERATED_FILE_PATH = f"{APPS}/generated-files/{{product_id}}"
ARTIFACT_PATH = f"{APPS}/artifacts/{{product_id}}"
PROJECT_PATH = f"{APPS}/projects/{{project_id}}"
ORGANIZATION = f"{BASE}/organizations/{{organization_id}}"


def _row(
    method: str,
    path: str,
    handler: Handler,
    scopes: tuple[str, ...],
    parameters: tuple[Parameter, ...] = (),
    section: str = OURS,
    *,
    count: Callable[[Call], None] = admit_compliance_request,
    authenticate: Callable[[Request, Names], Key] = access.authenticate_for_compliance,
) -> Endpoint:
    """Make a row; its handler runs after budget, upstream trouble and query."""

    async def answer(call: Call) -> Response:
        count(call)
        trouble = take_upstream_trouble(call)
        if trouble is not None:
            return trouble
        call.query = read_query(call, *parameters)
        return await handler(call)

    return Endpoint(method, path, answer, section, scopes=scopes, authenticate=authenticate, admit=access.admit)


def _remote_row(path: str, handler: Handler, parameters: tuple[Parameter, ...] = ()) -> Endpoint:
    """Make a row of remote sessions, which "have a second budget" (2:7.2)."""
    return _row("GET", f"{APPS}/remote-sessions{path}", handler, USER_DATA, parameters, count=admit_remote_request)


# 1:2.5; the documents show one maximum of `limit`, and not whose it is
PAGED = (PAGE, limit(100))
ACTIVITY_QUERY = (*CREATED, Parameter(activities.TYPES), AFTER_ID, BEFORE_ID, limit(activities.MAX_ACTIVITIES))
CHAT_QUERY = (Parameter(chats.USERS), Parameter(chats.PROJECTS), *CREATED, AFTER_ID, BEFORE_ID, limit(100))
CAPS = (cap(chats.INPUT_CAP), cap(chats.RESULT_CAP))

COMPLIANCE_ROUTES = (
    # "query: created_at.gte, created_at.lt, activity_types[], after_id, before_id, limit"
    _row("GET", f"{BASE}/activities", activities.list_activities, ACTIVITIES, ACTIVITY_QUERY, "1:4.1"),
    # "compliance paths for organizations, roles, groups, group members, settings, users"
    _row("GET", f"{BASE}/organizations", organizations.list_entries, ORG_DATA, PAGED),
    _row("GET", f"{ORGANIZATION}/roles", organizations.list_entries, ORG_DATA, PAGED),
    _row("GET", f"{ORGANIZATION}/roles/{{role_id}}", organizations.get_entry, ORG_DATA),
    _row("GET", f"{ORGANIZATION}/users", organizations.list_entries, USER_DATA, PAGED),
    _row(
        "GET",
        f"{ORGANIZATION}/settings",
        organizations.get_settings,
        ORG_DATA,
        authenticate=access.authenticate_for_settings,
    ),
    _row("GET", f"{BASE}/groups", organizations.list_entries, ORG_DATA, PAGED),
    _row("GET", f"{BASE}/groups/{{group_id}}", organizations.get_entry, ORG_DATA),
    _row("GET", f"{BASE}/groups/{{group_id}}/members", organizations.list_entries, USER_DATA, PAGED),
    # "compliance paths for chats (filter user_ids[], project_ids[]), chat messages, files (metadata and content),
    # generated files (metadata and content), artifacts (two endpoints), projects (detail, attachments, collaborators)"
    _row("GET", f"{APPS}/chats", chats.list_chats, USER_DATA, CHAT_QUERY),
    _row("GET", f"{CHAT_PATH}/messages", chats.list_chat_messages, USER_DATA, CAPS),
    _row("GET", FILE_PATH, items.show_item(FILE), USER_DATA),
    _row("GET", f"{FILE_PATH}/content", items.send_content(FILE), USER_DATA),
    _row("GET", GENERATED_FILE_PATH, items.show_item(GENERATED_FILE), USER_DATA),
    _row("GET", f"{GENERATED_FILE_PATH}/content", items.send_content(GENERATED_FILE), USER_DATA),
    _row("GET", ARTIFACT_PATH, items.show_item(ARTIFACT), USER_DATA),
    _row("GET", f"{ARTIFACT_PATH}/content", items.send_content(ARTIFACT), USER_DATA),
    _row("GET", PROJECT_PATH, items.show_item(PROJECT), USER_DATA),
    _row("GET", f"{PROJECT_PATH}/attachments", items.list_attachments, USER_DATA, PAGED, "1:4.1"),
    _row("GET", f"{PROJECT_PATH}/collaborators", items.list_collaborators, USER_DATA, PAGED),
    # "compliance paths for local sessions (list, messages) and remote sessions (list, transcript)"
    _row("GET", f"{APPS}/local-sessions", sessions.list_local_sessions, USER_DATA, (*CREATED, *PAGED)),
    _row(
        "GET",
        f"{APPS}/local-sessions/{{session_id}}/messages",
        sessions.list_session_messages,
        USER_DATA,
        (*PAGED, ORDER),
    ),
    _remote_row("", sessions.list_remote_sessions, (*CREATED, *PAGED)),
    _remote_row("/{session_id}/transcript", sessions.get_transcript),
    # "compliance paths for chats, files, projects, project documents | scope delete:compliance_user_data"
    _row("DELETE", CHAT_PATH, items.delete_item(CHAT), DELETE),
    _row("DELETE", FILE_PATH, items.delete_item(FILE), DELETE),
    _row("DELETE", PROJECT_PATH, items.delete_item(PROJECT), DELETE),
    _row("DELETE", f"{APPS}/projects/documents/{{document_id}}", items.delete_item(DOCUMENT), DELETE),
)
