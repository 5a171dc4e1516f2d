"""2:7.2 PA compliance errors: those rows that the key provokes, and the rights it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.calls import get
from catalog_probe.probes.recipes.minimal_requests import with_key
from catalog_probe.probes.recipes.recipe import OtherEndpoints, Recipe, same_change
from catalog_probe.probes.targets.target import WRONG_KEY

from .compliance_requests import BASE, DELETE, ORG_DATA, READ, UNKNOWN_ORGANIZATION, USER_DATA, select_calls
from .s2_7_2_errors import ACTIVITY_LIST, DELETES, changed_recipe, refusal_recipe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.calls import Call


def without_read_scope(labels: Mapping[str, str]) -> OtherEndpoints:
    """Send each endpoint's request with the delete key, which has no read scope, under the endpoint's label."""

    def of_endpoint(endpoint: str, request: Call | None) -> Mapping[str, Call] | None:
        label = labels.get(endpoint.rpartition("/")[2])
        return {label: request.replace(credential=DELETE)} if label is not None and request is not None else None

    return of_endpoint


UNKNOWN_SETTINGS = get(f"{UNKNOWN_ORGANIZATION}/settings")

RECIPES: tuple[Recipe, ...] = (
    # compliance_api_not_enabled: "API not enabled for the organization or its parent; all endpoints"
    changed_recipe(
        "compliance_api_not_enabled",
        ACTIVITY_LIST,
        {"organization": with_key("compliance_not_enabled"), "parent": with_key("compliance_parent_not_enabled")},
    ),
    # One key, for a made-up key: "key does not match a usable key". It belongs to no account.
    # api_key_invalid, api_key_deactivated ("key disabled or deleted"), api_key_expired ("admin key past expiry")
    changed_recipe("api_key_invalid", ACTIVITY_LIST, with_key(WRONG_KEY)),
    changed_recipe("api_key_deactivated", ACTIVITY_LIST, with_key("compliance_deactivated")),
    changed_recipe("api_key_deleted", ACTIVITY_LIST, with_key("compliance_deleted")),
    changed_recipe("api_key_expired", ACTIVITY_LIST, with_key("admin_expired")),
    # insufficient_scope_activities: "activities endpoint without read:compliance_activities or read:org_audit"
    refusal_recipe("insufficient_scope_activities", ACTIVITY_LIST, DELETE),
    # insufficient_scope_org_data: "organizations, roles, groups, settings without read:compliance_org_data …"
    refusal_recipe(
        "insufficient_scope_org_data",
        select_calls(ORG_DATA, "organizations", "roles", "groups", "settings"),
        DELETE,
        without_read_scope({"get_role": "roles", "get_group": "groups"}),
    ),
    # retired_scope_org_settings: "key holds only the retired settings scope"
    refusal_recipe("retired_scope_org_settings", ORG_DATA["settings"], "compliance_retired"),
    # insufficient_scope_user_data: "user-data endpoints without read:compliance_user_data or read:org_audit"
    refusal_recipe(
        "insufficient_scope_user_data",
        select_calls(
            USER_DATA,
            "chats",
            "chat_messages",
            "file",
            "project",
            "local_sessions",
            "remote_sessions",
            "users",
            "group_members",
        ),
        DELETE,
        without_read_scope(
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
    # insufficient_scope_delete: "DELETE without delete:compliance_user_data"
    refusal_recipe("insufficient_scope_delete", DELETES, READ),
    # request_not_authenticated: "no key or an unaccepted key type; bare body, identical to a nonexistent path; the
    # settings endpoint answers 401 instead". One key: 1:5.1 "The ordinary inference key type is refused and answered as
    # an unknown path (404)", whatever the account; without a key no account is named.
    refusal_recipe(
        "request_not_authenticated",
        {
            "nonexistent_path": get(f"{BASE}/no-such-path", credential=None),
            "no_key": ACTIVITY_LIST.replace(credential=None),
            "unaccepted_key_type": ACTIVITY_LIST.replace(credential="inference"),
        },
        other_endpoints=same_change({"no_key": with_key(None), "unaccepted_key_type": with_key("inference")}),
    ),
    # One key: the row's "the settings endpoint answers 401 instead". The row names no organization, and 2:7.2 has
    # the 404 of an unknown one only for a key that it accepts; so the organization may be made up.
    refusal_recipe(
        "settings_not_authenticated",
        {
            "no_key": UNKNOWN_SETTINGS.replace(credential=None),
            "unaccepted_key_type": UNKNOWN_SETTINGS.replace(credential="inference"),
        },
    ),
)
