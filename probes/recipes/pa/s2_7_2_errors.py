"""2:7.2 PA compliance errors: those rows that one request provokes, by its query, its id or the provider."""

from __future__ import annotations

from collections.abc import Mapping

from catalog_probe.catalog.model.exchange import ANSWER
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import Call, get, post, to_body
from catalog_probe.probes.recipes.minimal_requests import calls_by_endpoint, with_scenario
from catalog_probe.probes.recipes.recipe import Change, Family, OtherEndpoints, Recipe, same_change
from catalog_probe.probes.targets.target import Cost

from .compliance_requests import (
    BASE,
    CHAT,
    EARLY,
    INPUT_CAP,
    LOCAL_SESSIONS,
    NO_UUID,
    ORGANIZATION,
    PROJECT,
    READ,
    RESULT_CAP,
    UNKNOWN_ARTIFACT,
    UNKNOWN_CHAT,
    UNKNOWN_DOCUMENT,
    UNKNOWN_FILE,
    UNKNOWN_GENERATED_FILE,
    UNKNOWN_ORGANIZATION,
    UNKNOWN_PROJECT,
    delete_resource,
    find_control,
    get_transcript,
    list_activities,
    list_chats,
    list_messages,
    list_session_messages,
    with_organization_key,
    with_query,
)
from .requests import UNKNOWN_ID

FAMILY = Family("pa/errors/compliance", credential=READ)

ACTIVITY_LIST = list_activities()
DELETES = {
    "chat": delete_resource(UNKNOWN_CHAT),
    "file": delete_resource(UNKNOWN_FILE),
    "project": delete_resource(UNKNOWN_PROJECT),
    "project_document": delete_resource(UNKNOWN_DOCUMENT),
}
UPSTREAM = {"502": "bad_gateway", "503": "down", "504": "slow", "529": "overloaded"}
"""Status -> the kind of trouble behind the API that causes it."""

UNKNOWN_PARAMETER = ("no_such_parameter", "1")


def refusal_recipe(
    slug: str, calls: Call | Mapping[str, Call], role: str | None = None, other_endpoints: OtherEndpoints | None = None
) -> Recipe:
    """A refused call, or one for each cause, with the key of a role if the key is the reason."""
    by_label = dict(calls) if isinstance(calls, Mapping) else {ANSWER: calls}
    if role is not None:
        by_label = {label: call.replace(credential=role) for label, call in by_label.items()}
    return FAMILY.recipe(slug, by_label, control=find_control(*by_label.values()), other_endpoints=other_endpoints)


def changed_recipe(slug: str, request: Call, change: Change | Mapping[str, Change]) -> Recipe:
    """A request with one change, which every endpoint refuses alike."""
    return FAMILY.recipe(slug, request, change, control=find_control(request))


def destructive_recipe(slug: str, call: Call, detail: str) -> Recipe:
    """A request that does harm if it is not refused, so it is sent to a mock alone."""
    not_live = (ReasonCode.NO_DOCUMENTED_SETUP, detail)
    return FAMILY.recipe(slug, call, cost=Cost.DESTRUCTIVE, not_live=not_live)


QUERY_ERRORS: tuple[Recipe, ...] = (
    # unknown_query_parameter: "use dot notation for ranges, `[]` for arrays"
    refusal_recipe(
        "unknown_query_parameter",
        {
            "unknown_name": list_activities(UNKNOWN_PARAMETER),
            "bracketed_range": list_activities(("created_at[gte]", EARLY)),
            "array_without_suffix": list_activities(("activity_types", "pa_chat_created")),
            "beside_a_known_one": list_activities(("limit", "1"), UNKNOWN_PARAMETER),
            "of_another_endpoint": get(LOCAL_SESSIONS, query=(("after_id", "no-cursor"),)),
        },
        other_endpoints=same_change({"unknown_name": lambda call: with_query(call, UNKNOWN_PARAMETER)}),
    ),
    # invalid_parameter_value: "limit above maximum, invalid datetime, missing timezone, array value outside the set,
    # created_at.lt not after created_at.gte; tool_use_input_max_bytes and tool_result_max_bytes accept a positive
    # integer or -1"
    refusal_recipe(
        "invalid_parameter_value",
        {
            "limit_above_maximum": list_activities(("limit", "1000000")),
            "invalid_datetime": list_activities(("created_at.gte", "yesterday")),
            "missing_timezone": list_activities(("created_at.lt", "2026-01-01T00:00:00")),
            "value_outside_the_set": list_activities(("activity_types[]", "no_such_activity")),
            "lt_not_after_gte": list_activities(("created_at.gte", EARLY), ("created_at.lt", EARLY)),
            "tool_use_input_max_bytes": with_query(list_messages(), (INPUT_CAP, "-2")),
            "tool_result_max_bytes": with_query(list_messages(), (RESULT_CAP, "0")),
        },
    ),
    # invalid_pagination_cursor: "bad activity id format; bad after_id (chats); page not valid for this request"
    refusal_recipe(
        "invalid_pagination_cursor",
        {
            "activity_id": list_activities(("after_id", "no-activity-id")),
            "chat_after_id": list_chats(("after_id", "no-cursor")),
            "page": list_session_messages("{local_session}", ("page", "no-cursor")),
        },
    ),
)

ID_ERRORS: tuple[Recipe, ...] = (
    # chat_not_found: "hard-deleted, retention-expired or outside key scope"
    refusal_recipe("chat_not_found", list_messages(UNKNOWN_CHAT)),
    refusal_recipe("deleted_chat_not_found", DELETES["chat"]),
    refusal_recipe(
        "chat_outside_key_scope",
        list_messages(),
        "compliance_elsewhere",
        calls_by_endpoint(
            "pa/endpoints/compliance_chats",
            {
                "delete_chat": destructive_recipe(
                    "chat_outside_key_scope",
                    with_organization_key("compliance_elsewhere")(delete_resource(CHAT)),
                    "it deletes the chat if the provider errs, and the API can make no other",
                )
            },
        ),
    ),
    # file_not_found: "file missing or deleted; metadata, content and delete endpoints"
    refusal_recipe("file_not_found", {"metadata": get(UNKNOWN_FILE), "content": get(f"{UNKNOWN_FILE}/content")}),
    refusal_recipe("deleted_file_not_found", DELETES["file"]),
    # generated_file_or_artifact_not_found: "generated file, its content or artifact version gone with its chat"
    refusal_recipe(
        "generated_file_or_artifact_not_found",
        {
            "generated_file": get(UNKNOWN_GENERATED_FILE),
            "generated_file_content": get(f"{UNKNOWN_GENERATED_FILE}/content"),
            "artifact_version": get(UNKNOWN_ARTIFACT),
        },
        other_endpoints=same_change({"artifact_version": lambda _: get(f"{UNKNOWN_ARTIFACT}/content")}),
    ),
    # project_not_found: "detail, attachments, collaborators, and DELETE of a missing or already deleted project"
    refusal_recipe(
        "project_not_found",
        {
            "detail": get(UNKNOWN_PROJECT),
            "attachments": get(f"{UNKNOWN_PROJECT}/attachments"),
            "collaborators": get(f"{UNKNOWN_PROJECT}/collaborators"),
        },
    ),
    refusal_recipe("deleted_project_not_found", DELETES["project"]),
    # project_document_not_found: "text project document missing or already deleted"
    refusal_recipe("project_document_not_found", DELETES["project_document"]),
    # local_session_not_found: "unreadable, never existed, zero data retention in effect, or aged out; a malformed id
    # (not `clls_`) gives 400"
    refusal_recipe(
        "local_session_unreadable", list_session_messages("{unreadable_local_session}"), "compliance_elsewhere"
    ),
    refusal_recipe("local_session_not_found", list_session_messages(f"clls_{UNKNOWN_ID}")),
    refusal_recipe("local_session_unretained", list_session_messages("{unretained_local_session}")),
    refusal_recipe("local_session_malformed_id", list_session_messages("no-session")),
    # local_sessions_not_available: "returned for every local-session call while endpoints are unavailable"
    refusal_recipe(
        "local_sessions_not_available",
        {"list": get(LOCAL_SESSIONS), "messages": list_session_messages(f"clls_{UNKNOWN_ID}")},
        "compliance_without_local_sessions",
    ),
    # remote_session_not_found: "id missing, deleted, out of scope, or session still `pending`; malformed id gives 400"
    refusal_recipe("remote_session_not_found", get_transcript(f"cse_{UNKNOWN_ID}")),
    refusal_recipe("remote_session_deleted", get_transcript("{deleted_remote_session}")),
    refusal_recipe("remote_session_out_of_scope", get_transcript("{remote_session}"), "compliance_elsewhere"),
    refusal_recipe("remote_session_pending", get_transcript("{pending_remote_session}")),
    refusal_recipe("remote_session_malformed_id", get_transcript("no-session")),
    # organization_role_or_group_not_found: "unknown organization, role or group"
    refusal_recipe(
        "organization_role_or_group_not_found",
        {
            "organization": get(f"{UNKNOWN_ORGANIZATION}/roles"),
            "role": get(f"{ORGANIZATION}/roles/role_{UNKNOWN_ID}"),
            "group": get(f"{BASE}/groups/group_{UNKNOWN_ID}"),
        },
        other_endpoints=calls_by_endpoint(
            "pa/endpoints/compliance_organizations",
            {
                "list_users": {"organization": get(f"{UNKNOWN_ORGANIZATION}/users")},
                "list_group_members": {"group": get(f"{BASE}/groups/group_{UNKNOWN_ID}/members")},
            },
        ),
    ),
    # organization_settings_not_available: "organization not a linked child, invalid UUID, or settings not enabled"
    refusal_recipe(
        "organization_settings_not_available",
        {
            "not_linked": get(f"{UNKNOWN_ORGANIZATION}/settings"),
            "invalid_uuid": get(f"{BASE}/organizations/{NO_UUID}/settings"),
            "not_enabled": get(f"{BASE}/organizations/{{organization_without_settings}}/settings"),
        },
    ),
    # project_has_attached_chats: "project delete while chats attached"
    destructive_recipe(
        "project_has_attached_chats",
        delete_resource(PROJECT),
        "it deletes the project if the provider errs, and the API can make no other",
    ),
    # 1:2.4 "organization, role, group, group member, user, settings: read-only"
    FAMILY.recipe(
        "write_refused",
        post(f"{BASE}/groups", {}),
        cost=Cost.DESTRUCTIVE,
        other_endpoints=same_change(lambda request: request.replace(method="POST", body=to_body({}))),
    ),
)

PROVIDER_ERRORS: tuple[Recipe, ...] = (
    # 502/503/504/529: "transient upstream or overload"
    changed_recipe(
        "transient_upstream",
        ACTIVITY_LIST,
        {status: with_scenario(f"upstream_trouble;kind={kind}") for status, kind in UPSTREAM.items()},
    ),
    # local_sessions_index_unavailable: "index temporarily unavailable"
    changed_recipe("local_sessions_index_unavailable", get(LOCAL_SESSIONS), with_scenario("local_sessions_index_down")),
    # local_sessions_captured_content_unavailable: "captured content unavailable"
    refusal_recipe(
        "local_sessions_captured_content_unavailable",
        list_session_messages("{sealed_local_session}"),
        "compliance_sealed",
    ),
    # local_sessions_retention_overrides_unavailable: "cannot be evaluated for the page or session"
    refusal_recipe(
        "local_sessions_retention_overrides_unavailable",
        {
            "page": get(LOCAL_SESSIONS).with_scenario("retention_overrides_down"),
            "session": list_session_messages("{local_session}").with_scenario("retention_overrides_down"),
        },
    ),
)

RECIPES: tuple[Recipe, ...] = (*QUERY_ERRORS, *ID_ERRORS, *PROVIDER_ERRORS)
