"""What each kind of key may do in PA's compliance API, endpoint by endpoint, and what it may not (1:5.1, 2:7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.probes.calls.call import get
from catalog_probe.probes.recipes.credential_rules import Refusals
from catalog_probe.probes.recipes.recipe import Family, Recipe

from .compliance_requests import (
    APPS,
    ARTIFACT,
    AUDIT,
    BASE,
    GENERATED_FILE,
    LOCAL_SESSIONS,
    ORGANIZATION,
    PROJECT,
    READ,
    REMOTE_SESSIONS,
    UNKNOWN_CHAT,
    activities,
    chats,
    deletion,
    messages,
    session_messages,
    transcript,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.probes.calls.call import Call

FAMILY = Family("pa/endpoints/compliance_access")
of_key = Refusals(missing=False).labelled
"""What a kind of key may do: the success, a wrong key, and its rules."""

ACTIVITIES = {"activities": activities()}
ORG_DATA = {
    "organizations": get(f"{BASE}/organizations"),
    "roles": get(f"{ORGANIZATION}/roles"),
    "role": get(f"{ORGANIZATION}/roles/{{role}}"),
    "groups": get(f"{BASE}/groups"),
    "group": get(f"{BASE}/groups/{{group}}"),
    "settings": get(f"{ORGANIZATION}/settings"),
}
USER_DATA = {
    "chats": chats(),
    "chat_messages": messages(),
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
    "local_session_messages": session_messages("{local_session}"),
    "remote_sessions": get(REMOTE_SESSIONS),
    "transcript": transcript("{remote_session}"),
    "users": get(f"{ORGANIZATION}/users"),
    "group_members": get(f"{BASE}/groups/{{group}}/members"),
}
DELETE_REFUSED = {"delete_refused": deletion(UNKNOWN_CHAT)}


def refused(calls: Mapping[str, Call], *labels: str) -> dict[str, Call]:
    """Some of the calls, each under the label that says that it is refused."""
    return {f"{label}_refused": calls[label] for label in labels}


def key(slug: str, role: str, success: str, calls: Mapping[str, Call], refusals: Mapping[str, Call]) -> Recipe:
    """A row: what the key of a role reads, as far as the target names what is read, and what it is refused."""
    its = {label: call.but(credential=role) for label, call in calls.items()}
    named = {label: call for label, call in its.items() if call.placeholders}
    others = {label: call for label, call in its.items() if label not in named and label != success}
    return FAMILY.recipe(
        slug,
        of_key(its[success], **others, **{label: call.but(credential=role) for label, call in refusals.items()}),
        credential=READ,
        optional={
            label: FAMILY.recipe(slug, call, label=label, credential=READ, control=chats())
            for label, call in named.items()
        },
    )


RECIPES: tuple[Recipe, ...] = (
    key(
        "activities_key",
        "compliance_activities",
        "activities",
        ACTIVITIES,
        {**refused(ORG_DATA, "organizations"), **refused(USER_DATA, "chats"), **DELETE_REFUSED},
    ),
    key(
        "org_data_key",
        "compliance_org_data",
        "organizations",
        ORG_DATA,
        {**refused(ACTIVITIES, "activities"), **refused(USER_DATA, "chats"), **DELETE_REFUSED},
    ),
    key(
        "user_data_key",
        "compliance_user_data",
        "chats",
        USER_DATA,
        {**refused(ACTIVITIES, "activities"), **refused(ORG_DATA, "organizations"), **DELETE_REFUSED},
    ),
    key("org_audit_key", AUDIT, "activities", {**ACTIVITIES, **ORG_DATA, **USER_DATA}, DELETE_REFUSED),
    key(
        "admin_key",
        "admin",
        "activities",
        ACTIVITIES,
        {**refused(ORG_DATA, "organizations"), **refused(USER_DATA, "chats")},
    ),
)
