"""The errors of PA's compliance API that one request provokes: by key, by query, by id, by the provider (2:7.2)."""

from __future__ import annotations

from collections.abc import Mapping

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import ANSWER
from catalog_probe.probes.calls.body import body_of
from catalog_probe.probes.calls.call import Call, get, post
from catalog_probe.probes.recipes.other_endpoints import Change, listed, spoilt, spoilt_by_label
from catalog_probe.probes.recipes.recipe import Elsewhere, Family, Recipe
from catalog_probe.probes.recipes.shapes import befallen, with_key
from catalog_probe.probes.targets.target import WRONG, Cost

from .compliance_requests import (
    APPS,
    BASE,
    CHAT,
    DELETE,
    EARLY,
    INPUT_CAP,
    LOCAL_SESSIONS,
    NO_UUID,
    ORGANIZATION,
    PROJECT,
    READ,
    REMOTE_SESSIONS,
    RESULT_CAP,
    UNKNOWN_ARTIFACT,
    UNKNOWN_CHAT,
    UNKNOWN_DOCUMENT,
    UNKNOWN_FILE,
    UNKNOWN_GENERATED_FILE,
    UNKNOWN_ORGANIZATION,
    UNKNOWN_PROJECT,
    activities,
    asking,
    chats,
    control_for,
    deletion,
    messages,
    of_another,
    session_messages,
    transcript,
)
from .requests import UNKNOWN_ID

FAMILY = Family("pa/errors/compliance")


def refusal(
    slug: str, calls: Call | Mapping[str, Call], role: str | None = None, elsewhere: Elsewhere | None = None
) -> Recipe:
    """A row: a call, or one a cause, with the key of a role where it is the key that is refused."""
    by_label = dict(calls) if isinstance(calls, Mapping) else {ANSWER: calls}
    if role is not None:
        by_label = {label: call.but(credential=role) for label, call in by_label.items()}
    return FAMILY.recipe(slug, by_label, credential=READ, control=control_for(*by_label.values()), elsewhere=elsewhere)


def refused_key(slug: str, role: str) -> Recipe:
    """A row: a key that is refused wherever it is shown."""
    return refusal(slug, LISTED, role, spoilt(with_key(role)))


def lacking(labels: Mapping[str, str]) -> Elsewhere:
    """The delete key, which has no read scope, under the cause that an endpoint belongs to."""

    def each(endpoint: str, shape: Call | None) -> Mapping[str, Call] | None:
        label = labels.get(endpoint.rpartition("/")[2])
        return {label: shape.but(credential=DELETE)} if label is not None and shape is not None else None

    return each


LISTED = activities()


def deleted_from_elsewhere() -> Recipe:
    """A chat, deleted with the key of another parent: only where nothing is lost if that is not refused."""
    return FAMILY.recipe(
        "chat_outside_key_scope",
        of_another("compliance_elsewhere")(deletion(CHAT)),
        credential=READ,
        cost=Cost.DESTRUCTIVE,
        live=(
            ReasonCode.NO_DOCUMENTED_SETUP,
            "it deletes the chat if the provider errs, and the API can make no other",
        ),
    )


BY_KEY: tuple[Recipe, ...] = (
    refusal(
        "compliance_api_not_enabled",
        {
            "organization": LISTED.but(credential="compliance_not_enabled"),
            "parent": LISTED.but(credential="compliance_parent_not_enabled"),
        },
        elsewhere=spoilt_by_label(
            organization=with_key("compliance_not_enabled"), parent=with_key("compliance_parent_not_enabled")
        ),
    ),
    refused_key("api_key_invalid", WRONG),
    refused_key("api_key_deactivated", "compliance_deactivated"),
    refused_key("api_key_deleted", "compliance_deleted"),
    refused_key("api_key_expired", "admin_expired"),
    refusal(
        "settings_not_authenticated",
        {
            "no_key": get(f"{ORGANIZATION}/settings", credential=None),
            "unaccepted_key_type": get(f"{ORGANIZATION}/settings", credential="inference"),
        },
    ),
    refusal(
        "request_not_authenticated",
        {
            "nonexistent_path": get(f"{BASE}/no-such-path", credential=None),
            "no_key": LISTED.but(credential=None),
            "unaccepted_key_type": LISTED.but(credential="inference"),
        },
        elsewhere=spoilt_by_label(no_key=with_key(None), unaccepted_key_type=with_key("inference")),
    ),
    refusal("insufficient_scope_activities", LISTED, DELETE),
    refusal(
        "insufficient_scope_org_data",
        {
            "organizations": get(f"{BASE}/organizations"),
            "roles": get(f"{ORGANIZATION}/roles"),
            "groups": get(f"{BASE}/groups"),
            "settings": get(f"{ORGANIZATION}/settings"),
        },
        DELETE,
        lacking({"get_role": "roles", "get_group": "groups"}),
    ),
    refusal("retired_scope_org_settings", get(f"{ORGANIZATION}/settings"), "compliance_retired"),
    refusal(
        "insufficient_scope_user_data",
        {
            "chats": chats(),
            "chat_messages": messages(),
            "file": get(f"{APPS}/files/{{chat_file}}"),
            "project": get(PROJECT),
            "local_sessions": get(LOCAL_SESSIONS),
            "remote_sessions": get(REMOTE_SESSIONS),
            "users": get(f"{ORGANIZATION}/users"),
            "group_members": get(f"{BASE}/groups/{{group}}/members"),
        },
        DELETE,
        lacking(
            {
                "get_generated_file": "file",
                "get_generated_file_content": "file",
                "get_artifact_version": "file",
                "get_artifact_version_content": "file",
                "get_file_content": "file",
                "list_project_attachments": "project",
                "list_project_collaborators": "project",
                "list_local_session_messages": "local_sessions",
                "get_remote_session_transcript": "remote_sessions",
            }
        ),
    ),
    refusal(
        "insufficient_scope_delete",
        {
            "chat": deletion(UNKNOWN_CHAT),
            "file": deletion(UNKNOWN_FILE),
            "project": deletion(UNKNOWN_PROJECT),
            "project_document": deletion(UNKNOWN_DOCUMENT),
        },
        READ,
    ),
    refusal(
        "chat_outside_key_scope",
        messages(),
        "compliance_elsewhere",
        listed("pa/endpoints/compliance_chats", {"delete_chat": deleted_from_elsewhere()}),
    ),
    refusal("remote_session_out_of_scope", transcript("{remote_session}"), "compliance_elsewhere"),
    refusal("local_session_unreadable", session_messages("{unreadable_local_session}"), "compliance_elsewhere"),
    refusal(
        "local_sessions_not_available",
        {"list": get(LOCAL_SESSIONS), "messages": session_messages(f"clls_{UNKNOWN_ID}")},
        "compliance_without_local_sessions",
    ),
    refusal(
        "local_sessions_captured_content_unavailable",
        session_messages("{sealed_local_session}"),
        "compliance_sealed",
    ),
)

BY_QUERY: tuple[Recipe, ...] = (
    refusal(
        "unknown_query_parameter",
        {
            "unknown_name": activities(("no_such_parameter", "1")),
            "bracketed_range": activities(("created_at[gte]", EARLY)),
            "array_without_suffix": activities(("activity_types", "pa_chat_created")),
        },
        elsewhere=spoilt_by_label(unknown_name=lambda call: call.but(query=(*call.query, ("no_such_parameter", "1")))),
    ),
    refusal(
        "invalid_parameter_value",
        {
            "limit_above_maximum": activities(("limit", "1000000")),
            "invalid_datetime": activities(("created_at.gte", "yesterday")),
            "missing_timezone": activities(("created_at.lt", "2026-01-01T00:00:00")),
            "value_outside_the_set": activities(("activity_types[]", "no_such_activity")),
            "lt_not_after_gte": activities(("created_at.gte", EARLY), ("created_at.lt", EARLY)),
            "tool_use_input_max_bytes": asking(messages(), (INPUT_CAP, "-2")),
            "tool_result_max_bytes": asking(messages(), (RESULT_CAP, "0")),
        },
    ),
    refusal(
        "invalid_pagination_cursor",
        {
            "activity_id": activities(("after_id", "no-activity-id")),
            "chat_after_id": chats(("after_id", "no-cursor")),
            "page": session_messages("{local_session}", ("page", "no-cursor")),
        },
    ),
)

BY_ID: tuple[Recipe, ...] = (
    refusal("chat_not_found", messages(UNKNOWN_CHAT)),
    refusal("deleted_chat_not_found", deletion(UNKNOWN_CHAT)),
    refusal("file_not_found", {"metadata": get(UNKNOWN_FILE), "content": get(f"{UNKNOWN_FILE}/content")}),
    refusal("deleted_file_not_found", deletion(UNKNOWN_FILE)),
    refusal(
        "generated_file_or_artifact_not_found",
        {
            "generated_file": get(UNKNOWN_GENERATED_FILE),
            "generated_file_content": get(f"{UNKNOWN_GENERATED_FILE}/content"),
            "artifact_version": get(UNKNOWN_ARTIFACT),
        },
        elsewhere=spoilt_by_label(artifact_version=lambda _: get(f"{UNKNOWN_ARTIFACT}/content")),
    ),
    refusal(
        "project_not_found",
        {
            "detail": get(UNKNOWN_PROJECT),
            "attachments": get(f"{UNKNOWN_PROJECT}/attachments"),
            "collaborators": get(f"{UNKNOWN_PROJECT}/collaborators"),
        },
    ),
    refusal("deleted_project_not_found", deletion(UNKNOWN_PROJECT)),
    refusal("project_document_not_found", deletion(UNKNOWN_DOCUMENT)),
    refusal("local_session_not_found", session_messages(f"clls_{UNKNOWN_ID}")),
    refusal("local_session_unretained", session_messages("{unretained_local_session}")),
    refusal("local_session_malformed_id", session_messages("no-session")),
    refusal("remote_session_not_found", transcript(f"cse_{UNKNOWN_ID}")),
    refusal("remote_session_deleted", transcript("{deleted_remote_session}")),
    refusal("remote_session_pending", transcript("{pending_remote_session}")),
    refusal("remote_session_malformed_id", transcript("no-session")),
    refusal(
        "organization_role_or_group_not_found",
        {
            "organization": get(f"{UNKNOWN_ORGANIZATION}/roles"),
            "role": get(f"{ORGANIZATION}/roles/role_{UNKNOWN_ID}"),
            "group": get(f"{BASE}/groups/group_{UNKNOWN_ID}"),
        },
        elsewhere=listed(
            "pa/endpoints/compliance_organizations",
            {
                "list_users": {"organization": get(f"{UNKNOWN_ORGANIZATION}/users")},
                "list_group_members": {"group": get(f"{BASE}/groups/group_{UNKNOWN_ID}/members")},
            },
        ),
    ),
    refusal(
        "organization_settings_not_available",
        {
            "not_linked": get(f"{UNKNOWN_ORGANIZATION}/settings"),
            "invalid_uuid": get(f"{BASE}/organizations/{NO_UUID}/settings"),
            "not_enabled": get(f"{BASE}/organizations/{{organization_without_settings}}/settings"),
        },
    ),
    FAMILY.recipe(
        "project_has_attached_chats",
        deletion(PROJECT),
        credential=READ,
        cost=Cost.DESTRUCTIVE,
        live=(
            ReasonCode.NO_DOCUMENTED_SETUP,
            "it deletes the project if the provider errs, and the API can make no other",
        ),
    ),
)


UPSTREAM = {"502": "bad_gateway", "503": "down", "504": "slow", "529": "overloaded"}
"""What something behind the API may suffer, by the status that is answered."""


def transient(status: str) -> Change:
    """A call that something behind the API fails with this status."""
    return befallen(f"upstream_trouble;kind={UPSTREAM[status]}")


BY_THE_PROVIDER: tuple[Recipe, ...] = (
    refusal(
        "transient_upstream",
        {status: transient(status)(LISTED) for status in UPSTREAM},
        elsewhere=spoilt_by_label(**{status: transient(status) for status in UPSTREAM}),
    ),
    refusal(
        "local_sessions_index_unavailable",
        get(LOCAL_SESSIONS).befallen("local_sessions_index_down"),
        elsewhere=spoilt(befallen("local_sessions_index_down")),
    ),
    refusal(
        "local_sessions_retention_overrides_unavailable",
        {
            "page": get(LOCAL_SESSIONS).befallen("retention_overrides_down"),
            "session": session_messages("{local_session}").befallen("retention_overrides_down"),
        },
    ),
)

BY_METHOD: tuple[Recipe, ...] = (
    FAMILY.recipe(
        "write_refused",
        post(f"{BASE}/groups", {}),
        credential=READ,
        cost=Cost.DESTRUCTIVE,
        elsewhere=spoilt(lambda shape: shape.but(method="POST", body=body_of({}))),
    ),
)

RECIPES: tuple[Recipe, ...] = (*BY_METHOD, *BY_KEY, *BY_QUERY, *BY_ID, *BY_THE_PROVIDER)
