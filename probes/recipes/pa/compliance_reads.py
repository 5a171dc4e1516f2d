"""The reads of PA's compliance API, each with its credential and query rules (1:4.1, 1:2.5)."""

from __future__ import annotations

from probes.calls.call import Call, get
from probes.elicit.recipe import Family, Recipe
from probes.recipes.credential_rules import Refusals
from probes.recipes.pa.compliance_requests import (
    APPS,
    ARTIFACT,
    AUDIT,
    BASE,
    GENERATED_FILE,
    INPUT_CAP,
    ORGANIZATION,
    PROJECT,
    READ,
    REMOTE_SESSIONS,
    RESULT_CAP,
    UNKNOWN_ARTIFACT,
    UNKNOWN_CHAT,
    UNKNOWN_FILE,
    UNKNOWN_GENERATED_FILE,
    UNKNOWN_ORGANIZATION,
    UNKNOWN_PROJECT,
    activities,
    asking,
    chats,
    control_for,
    deletion,
    labelled,
    messages,
    transcript,
)
from probes.recipes.pa.requests import UNKNOWN_ID

CHATS = Family("pa/endpoints/compliance_chats")
FILES = Family("pa/endpoints/compliance_files")
PROJECTS = Family("pa/endpoints/compliance_projects")
SESSIONS = Family("pa/endpoints/compliance_sessions")
ORGANIZATIONS = Family("pa/endpoints/compliance_organizations")
ACCESS = Family("pa/endpoints/compliance_access")
OUTCOMES = Family("pa/errors/compliance_outcomes")

of_key = Refusals(missing=False).labelled
"""What a kind of key may do: the success, a wrong key, and where it is refused."""


def read(family: Family, slug: str, success: Call, **others: Call) -> Recipe:
    """A row: one read and its rules."""
    return family.recipe(slug, labelled(success, **others), credential=READ, control=control_for(success))


CAPS = {"positive": "64", "one": "1", "minus_one": "-1", "zero": "0", "minus_two": "-2", "not_integer": "many"}
"""What a cap may be, a positive integer or -1, and what it may not be, by label (1:2.5)."""


def capped(cap: str) -> dict[str, Call]:
    """The messages of a chat under each value of a cap."""
    return {f"{cap}_{label}": asking(messages(), (cap, value)) for label, value in CAPS.items()}


RECIPES: tuple[Recipe, ...] = (
    read(ORGANIZATIONS, "list_organizations", get(f"{BASE}/organizations")),
    read(ORGANIZATIONS, "list_users", get(f"{ORGANIZATION}/users")),
    read(
        ORGANIZATIONS,
        "list_roles",
        get(f"{ORGANIZATION}/roles"),
        unknown_organization=get(f"{UNKNOWN_ORGANIZATION}/roles"),
    ),
    read(
        ORGANIZATIONS,
        "get_role",
        get(f"{ORGANIZATION}/roles/{{role}}"),
        unknown_role=get(f"{ORGANIZATION}/roles/role_{UNKNOWN_ID}"),
    ),
    read(
        ORGANIZATIONS,
        "get_settings",
        get(f"{ORGANIZATION}/settings"),
        unknown_organization=get(f"{UNKNOWN_ORGANIZATION}/settings"),
    ),
    read(ORGANIZATIONS, "list_groups", get(f"{BASE}/groups")),
    read(
        ORGANIZATIONS,
        "get_group",
        get(f"{BASE}/groups/{{group}}"),
        unknown_group=get(f"{BASE}/groups/group_{UNKNOWN_ID}"),
    ),
    read(
        ORGANIZATIONS,
        "list_group_members",
        get(f"{BASE}/groups/{{group}}/members"),
        unknown_group=get(f"{BASE}/groups/group_{UNKNOWN_ID}/members"),
    ),
    read(
        CHATS,
        "list_chat_messages",
        messages(),
        **capped(INPUT_CAP),
        **capped(RESULT_CAP),
        unknown_chat=messages(UNKNOWN_CHAT),
    ),
    read(CHATS, "get_generated_file", get(GENERATED_FILE), unknown_file=get(UNKNOWN_GENERATED_FILE)),
    read(
        CHATS,
        "get_generated_file_content",
        get(f"{GENERATED_FILE}/content"),
        unknown_file=get(f"{UNKNOWN_GENERATED_FILE}/content"),
    ),
    read(CHATS, "get_artifact_version", get(ARTIFACT), unknown_version=get(UNKNOWN_ARTIFACT)),
    read(
        CHATS,
        "get_artifact_version_content",
        get(f"{ARTIFACT}/content"),
        unknown_version=get(f"{UNKNOWN_ARTIFACT}/content"),
    ),
    read(FILES, "get_file", get(f"{APPS}/files/{{chat_file}}"), unknown_file=get(UNKNOWN_FILE)),
    read(
        FILES,
        "get_file_content",
        get(f"{APPS}/files/{{project_file}}/content"),
        unknown_file=get(f"{UNKNOWN_FILE}/content"),
    ),
    read(PROJECTS, "get_project", get(PROJECT), unknown_project=get(UNKNOWN_PROJECT)),
    read(
        PROJECTS,
        "list_project_attachments",
        get(f"{PROJECT}/attachments"),
        unknown_project=get(f"{UNKNOWN_PROJECT}/attachments"),
    ),
    read(
        PROJECTS,
        "list_project_collaborators",
        get(f"{PROJECT}/collaborators"),
        unknown_project=get(f"{UNKNOWN_PROJECT}/collaborators"),
    ),
    read(SESSIONS, "list_remote_sessions", get(REMOTE_SESSIONS)),
    read(
        SESSIONS,
        "get_remote_session_transcript",
        transcript("{remote_session}"),
        unknown_session=transcript(f"cse_{UNKNOWN_ID}"),
        malformed_id=transcript("no-session"),
    ),
    OUTCOMES.recipe("user_deleted_chat_listed", chats(("user_ids[]", "{user_of_deleted_chat}")), credential=READ),
    OUTCOMES.recipe(
        "user_deleted_chat_readable",
        messages(f"{APPS}/chats/{{user_deleted_chat}}"),
        credential=READ,
        control=chats(),
    ),
    ACCESS.recipe(
        "org_audit_key",
        of_key(
            activities().but(credential=AUDIT),
            organizations=get(f"{BASE}/organizations", credential=AUDIT),
            chats=chats().but(credential=AUDIT),
            delete_refused=deletion(UNKNOWN_CHAT).but(credential=AUDIT),
        ),
        credential=READ,
    ),
    ACCESS.recipe(
        "admin_key",
        of_key(
            activities().but(credential="admin"),
            organizations_refused=get(f"{BASE}/organizations", credential="admin"),
            chats_refused=chats().but(credential="admin"),
        ),
        credential=READ,
    ),
)
