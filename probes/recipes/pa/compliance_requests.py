"""Requests to PA's compliance API: its paths, ids that cannot exist, reads by scope, windows of time (1:4.1, 1:2.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from catalog_probe.probes.calls import Call, delete, get
from catalog_probe.probes.recipes.minimal_requests import BOTH_REFUSALS

from .requests import UNKNOWN_ID

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.recipe import Change

READ, DELETE, AUDIT = "compliance", "compliance_delete", "compliance_audit"
"""Roles: a key with all read scopes, a separate delete key, and one with read:org_audit alone (1:5.1)."""

BASE = "/v1/compliance"
APPS = f"{BASE}/apps"
NO_UUID = "no-uuid"
UNKNOWN_UUID = "00000000-0000-4000-8000-000000000000"
UNKNOWN_CHAT = f"{APPS}/chats/chat_{UNKNOWN_ID}"
UNKNOWN_FILE = f"{APPS}/files/{UNKNOWN_UUID}"
UNKNOWN_GENERATED_FILE = f"{APPS}/generated-files/genfile_{UNKNOWN_ID}"
UNKNOWN_ARTIFACT = f"{APPS}/artifacts/artver_{UNKNOWN_ID}"
UNKNOWN_PROJECT = f"{APPS}/projects/proj_{UNKNOWN_ID}"
UNKNOWN_DOCUMENT = f"{APPS}/projects/documents/pa_proj_doc_{UNKNOWN_ID}"
UNKNOWN_ORGANIZATION = f"{BASE}/organizations/{UNKNOWN_UUID}"
ORGANIZATION = f"{BASE}/organizations/{{organization}}"

CHAT = f"{APPS}/chats/{{chat}}"
GENERATED_FILE = f"{APPS}/generated-files/{{generated_file}}"
ARTIFACT = f"{APPS}/artifacts/{{artifact_version}}"
PROJECT = f"{APPS}/projects/{{project}}"
LOCAL_SESSIONS = f"{APPS}/local-sessions"
REMOTE_SESSIONS = f"{APPS}/remote-sessions"

SINCE, UNTIL = "created_at.gte", "created_at.lt"
EARLY, JUST_LATER, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-12-31T00:00:00+01:00"
ACTIVITY_TYPES = (
    "pa_chat_created",
    "pa_chat_viewed",
    "pa_chat_deleted",
    "pa_file_uploaded",
    "pa_file_deleted",
    "pa_project_created",
    "pa_project_deleted",
)
"""1:2.4"""

INPUT_CAP, RESULT_CAP = "tool_use_input_max_bytes", "tool_result_max_bytes"


def with_query(call: Call, *parameters: tuple[str, str]) -> Call:
    """Add query parameters."""
    return call.replace(query=(*call.query, *parameters))


def list_activities(*query: tuple[str, str]) -> Call:
    """GET /v1/compliance/activities, by default one entry."""
    return get(f"{BASE}/activities", query=query or (("limit", "1"),))


def list_chats(*query: tuple[str, str]) -> Call:
    return get(f"{APPS}/chats", query=query)


ORGANIZATIONS, CHATS = get(f"{BASE}/organizations"), get(f"{APPS}/chats")


def find_control(*calls: Call) -> Call:
    """Return the cheapest read of the scope that the calls need: a key may hold one scope and lack another (1:5.1)."""
    if any(call.path.startswith(APPS) or call.path.endswith(("/users", "/members")) for call in calls):
        return CHATS
    return list_activities() if any(call.path.endswith("/activities") for call in calls) else ORGANIZATIONS


def list_messages(chat: str = CHAT) -> Call:
    return get(f"{chat}/messages")


def list_session_messages(session: str, *query: tuple[str, str]) -> Call:
    return get(f"{LOCAL_SESSIONS}/{session}/messages", query=query)


def get_transcript(session: str) -> Call:
    return get(f"{REMOTE_SESSIONS}/{session}/transcript")


def delete_resource(path: str) -> Call:
    """DELETE with the delete key, which is separate from the read keys (1:5.1)."""
    return delete(path, credential=DELETE)


def with_organization_key(role: str) -> Change:
    """Use the key of another organization, its delete key for deletes: no key does both (1:5.1)."""
    return lambda call: call.replace(credential=f"{role}_delete" if call.credential == DELETE else role)


ACTIVITIES: Mapping[str, Call] = {"activities": list_activities()}
ORG_DATA: Mapping[str, Call] = {
    "organizations": ORGANIZATIONS,
    "roles": get(f"{ORGANIZATION}/roles"),
    "role": get(f"{ORGANIZATION}/roles/{{role}}"),
    "groups": get(f"{BASE}/groups"),
    "group": get(f"{BASE}/groups/{{group}}"),
    "settings": get(f"{ORGANIZATION}/settings"),
}
USER_DATA: Mapping[str, Call] = {
    "chats": list_chats(),
    "chat_messages": list_messages(),
    "generated_file": get(GENERATED_FILE),
    "generated_file_content": get(f"{GENERATED_FILE}/content"),
    "artifact_version": get(ARTIFACT),
    "artifact_version_content": get(f"{ARTIFACT}/content"),
    "file": get(f"{APPS}/files/{{chat_file}}"),
    "file_content": get(f"{APPS}/files/{{project_file}}/content"),
    "project": get(PROJECT),
    "attachments": get(f"{PROJECT}/attachments"),
    "collaborators": get(f"{PROJECT}/collaborators"),
    "local_sessions": get(LOCAL_SESSIONS),
    "local_session_messages": list_session_messages("{local_session}"),
    "remote_sessions": get(REMOTE_SESSIONS),
    "transcript": get_transcript("{remote_session}"),
    "users": get(f"{ORGANIZATION}/users"),
    "group_members": get(f"{BASE}/groups/{{group}}/members"),
}
"""The reads of each scope (1:4.1, 1:5.1)."""


def select_calls(calls: Mapping[str, Call], *labels: str) -> dict[str, Call]:
    return {label: calls[label] for label in labels}


def with_refusals(success: Call, **rules: Call) -> Mapping[str, Call]:
    """Return the calls of a read by label, with its refusals and an unknown query parameter."""
    unknown = with_query(success, ("no_such_parameter", "1"))
    return BOTH_REFUSALS.label_calls(success, unknown_parameter=unknown, **rules)
