"""The reads of PA's compliance API, each with its credential and query rules (1:4.1, 1:2.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalog.model import Reason
from probes.calls.call import Call, get
from probes.elicit.probe import Probe, Stopped
from probes.elicit.recipe import Recipe, recipe, stepwise
from probes.recipes.pa.compliance_requests import (
    ACTIVITY_TYPES,
    APPS,
    ARTIFACT,
    AUDIT,
    BASE,
    EARLY,
    GENERATED_FILE,
    INPUT_CAP,
    LATE,
    LOCAL_SESSIONS,
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
    session_messages,
    transcript,
)
from probes.recipes.pa.requests import UNKNOWN_ID

FAMILY = "pa/endpoints"
CHATS = f"{FAMILY}/compliance_chats"
FILES = f"{FAMILY}/compliance_files"
PROJECTS = f"{FAMILY}/compliance_projects"
SESSIONS = f"{FAMILY}/compliance_sessions"
ORGANIZATIONS = f"{FAMILY}/compliance_organizations"
ACCESS = f"{FAMILY}/compliance_access"
OUTCOMES = "pa/errors/compliance_outcomes"
WINDOW = (("created_at.gte", EARLY), ("created_at.lt", LATE))


def read(address: str, success: Call, **others: Call) -> Recipe:
    """A row: one read and its rules."""
    return recipe(address, labelled(success, **others), credential=READ, control=control_for(success))


RECIPES: tuple[Recipe, ...] = (
    read(f"{ORGANIZATIONS}/list_organizations", get(f"{BASE}/organizations")),
    read(f"{ORGANIZATIONS}/list_users", get(f"{ORGANIZATION}/users")),
    read(
        f"{ORGANIZATIONS}/list_roles",
        get(f"{ORGANIZATION}/roles"),
        unknown_organization=get(f"{UNKNOWN_ORGANIZATION}/roles"),
    ),
    read(
        f"{ORGANIZATIONS}/get_role",
        get(f"{ORGANIZATION}/roles/{{role}}"),
        unknown_role=get(f"{ORGANIZATION}/roles/role_{UNKNOWN_ID}"),
    ),
    read(
        f"{ORGANIZATIONS}/get_settings",
        get(f"{ORGANIZATION}/settings"),
        unknown_organization=get(f"{UNKNOWN_ORGANIZATION}/settings"),
    ),
    read(f"{ORGANIZATIONS}/list_groups", get(f"{BASE}/groups")),
    read(
        f"{ORGANIZATIONS}/get_group",
        get(f"{BASE}/groups/{{group}}"),
        unknown_group=get(f"{BASE}/groups/group_{UNKNOWN_ID}"),
    ),
    read(
        f"{ORGANIZATIONS}/list_group_members",
        get(f"{BASE}/groups/{{group}}/members"),
        unknown_group=get(f"{BASE}/groups/group_{UNKNOWN_ID}/members"),
    ),
    read(
        f"{CHATS}/list_chat_messages",
        messages(),
        tool_use_input_max_bytes_positive=asking(messages(), (INPUT_CAP, "64")),
        tool_use_input_max_bytes_minus_one=asking(messages(), (INPUT_CAP, "-1")),
        tool_use_input_max_bytes_zero=asking(messages(), (INPUT_CAP, "0")),
        tool_result_max_bytes_positive=asking(messages(), (RESULT_CAP, "64")),
        tool_result_max_bytes_minus_one=asking(messages(), (RESULT_CAP, "-1")),
        tool_result_max_bytes_zero=asking(messages(), (RESULT_CAP, "0")),
        unknown_chat=messages(UNKNOWN_CHAT),
    ),
    read(f"{CHATS}/get_generated_file", get(GENERATED_FILE), unknown_file=get(UNKNOWN_GENERATED_FILE)),
    read(
        f"{CHATS}/get_generated_file_content",
        get(f"{GENERATED_FILE}/content"),
        unknown_file=get(f"{UNKNOWN_GENERATED_FILE}/content"),
    ),
    read(f"{CHATS}/get_artifact_version", get(ARTIFACT), unknown_version=get(UNKNOWN_ARTIFACT)),
    read(
        f"{CHATS}/get_artifact_version_content",
        get(f"{ARTIFACT}/content"),
        unknown_version=get(f"{UNKNOWN_ARTIFACT}/content"),
    ),
    read(f"{FILES}/get_file", get(f"{APPS}/files/{{chat_file}}"), unknown_file=get(UNKNOWN_FILE)),
    read(
        f"{FILES}/get_file_content",
        get(f"{APPS}/files/{{project_file}}/content"),
        unknown_file=get(f"{UNKNOWN_FILE}/content"),
    ),
    read(f"{PROJECTS}/get_project", get(PROJECT), unknown_project=get(UNKNOWN_PROJECT)),
    read(
        f"{PROJECTS}/list_project_attachments",
        get(f"{PROJECT}/attachments"),
        unknown_project=get(f"{UNKNOWN_PROJECT}/attachments"),
    ),
    read(
        f"{PROJECTS}/list_project_collaborators",
        get(f"{PROJECT}/collaborators"),
        unknown_project=get(f"{UNKNOWN_PROJECT}/collaborators"),
    ),
    read(f"{SESSIONS}/list_remote_sessions", get(REMOTE_SESSIONS)),
    read(
        f"{SESSIONS}/get_remote_session_transcript",
        transcript("{remote_session}"),
        unknown_session=transcript(f"cse_{UNKNOWN_ID}"),
        malformed_id=transcript("no-session"),
    ),
    recipe(f"{OUTCOMES}/user_deleted_chat_listed", chats(("user_ids[]", "{user_of_deleted_chat}")), credential=READ),
    recipe(
        f"{OUTCOMES}/user_deleted_chat_readable",
        messages(f"{APPS}/chats/{{user_deleted_chat}}"),
        credential=READ,
        control=chats(),
    ),
    recipe(
        f"{ACCESS}/org_audit_key",
        {
            "success": activities().but(credential=AUDIT),
            "wrong_credential": activities().but(credential="wrong"),
            "organizations": get(f"{BASE}/organizations", credential=AUDIT),
            "chats": chats().but(credential=AUDIT),
            "delete_refused": deletion(UNKNOWN_CHAT).but(credential=AUDIT),
        },
        credential=READ,
    ),
    recipe(
        f"{ACCESS}/admin_key",
        {
            "success": activities().but(credential="admin"),
            "wrong_credential": activities().but(credential="wrong"),
            "organizations_refused": get(f"{BASE}/organizations", credential="admin"),
            "chats_refused": chats().but(credential="admin"),
        },
        credential=READ,
    ),
)

ACTIVITY_RULES = {
    "window": activities(*WINDOW),
    "activity_types": activities(*(("activity_types[]", kind) for kind in ACTIVITY_TYPES)),
    "limit": activities(("limit", "1")),
    "limit_above_maximum": activities(("limit", "1000000")),
    "invalid_datetime": activities(("created_at.gte", "yesterday")),
    "missing_timezone": activities(("created_at.gte", "2026-01-01T00:00:00")),
    "type_outside_the_set": activities(("activity_types[]", "no_such_activity")),
    "lt_not_after_gte": activities(("created_at.gte", EARLY), ("created_at.lt", EARLY)),
    "bracketed_range": activities(("created_at[gte]", EARLY)),
    "malformed_after_id": activities(("after_id", "no-activity-id")),
}


@stepwise(
    f"{FAMILY}/compliance_activities/list_activities",
    labels=(*labelled(activities()), *ACTIVITY_RULES, "after_id", "before_id"),
    requests=4 + len(ACTIVITY_RULES) + 2,
    credential=READ,
)
async def list_activities(probe: Probe) -> None:
    """The rules, and a walk by the cursors that the first page returned."""
    for label, call in {**labelled(activities()), **ACTIVITY_RULES}.items():
        await probe.send(call, label)
    first, last = ends_of_page(probe)
    await probe.send(activities(("after_id", last)), "after_id")
    await probe.send(activities(("before_id", first)), "before_id")


CHAT_RULES = {
    "user_ids": chats(("user_ids[]", "{user}")),
    "project_ids": chats(("project_ids[]", "{project}")),
    "bad_after_id": chats(("after_id", "no-cursor")),
}


@stepwise(
    f"{CHATS}/list_chats",
    labels=(*labelled(chats()), *CHAT_RULES, "after_id", "before_id"),
    requests=4 + len(CHAT_RULES) + 2,
    credential=READ,
    control=chats(),
    needs={"user", "project"},
)
async def list_chats(probe: Probe) -> None:
    """The rules, and a walk by the cursors that the first page returned."""
    for label, call in {**labelled(chats()), **CHAT_RULES}.items():
        await probe.send(call, label)
    first, last = ends_of_page(probe)
    await probe.send(chats(("after_id", last)), "after_id")
    await probe.send(chats(("before_id", first)), "before_id")


SESSIONS_LISTED = get(LOCAL_SESSIONS, query=(("limit", "1"),))
SESSION_WALKED = session_messages("{local_session}", ("limit", "1"))
SESSION_RULES = {
    "unknown_session": session_messages(f"clls_{UNKNOWN_ID}"),
    "malformed_id": session_messages("no-session"),
}


@stepwise(
    f"{SESSIONS}/list_local_sessions",
    labels=(*labelled(SESSIONS_LISTED), "window", "page"),
    requests=6,
    credential=READ,
    control=chats(),
)
async def list_local_sessions(probe: Probe) -> None:
    """The rules, and the second page."""
    for label, call in {**labelled(SESSIONS_LISTED), "window": get(LOCAL_SESSIONS, query=WINDOW)}.items():
        await probe.send(call, label)
    await walk_on(probe, SESSIONS_LISTED)


@stepwise(
    f"{SESSIONS}/list_local_session_messages",
    labels=(*labelled(SESSION_WALKED), *SESSION_RULES, "page"),
    requests=4 + len(SESSION_RULES) + 1,
    credential=READ,
    control=chats(),
    needs={"local_session"},
)
async def list_local_session_messages(probe: Probe) -> None:
    """The rules, and the second page."""
    for label, call in {**labelled(SESSION_WALKED), **SESSION_RULES}.items():
        await probe.send(call, label)
    await walk_on(probe, SESSION_WALKED)


async def walk_on(probe: Probe, call: Call) -> None:
    """The page after the one labelled `success`.

    Raises:
        Stopped: there is only one page.
    """
    page = first_page(probe).get("next_page")
    if not isinstance(page, str):
        raise Stopped(Reason("setup-failed", "the first page of one entry has no next_page to walk by"))
    await probe.send(call.but(query=(*call.query, ("page", page))), "page")


def ends_of_page(probe: Probe) -> tuple[str, str]:
    """The cursors that the page labelled `success` returned; without an entry in it there is nothing to walk.

    Raises:
        Stopped: the page is empty, or is no page.
    """
    page = first_page(probe)
    first, last = page.get("first_id"), page.get("last_id")
    if not isinstance(first, str) or not isinstance(last, str):
        raise Stopped(Reason("setup-failed", "the first page has no first_id and last_id to walk by"))
    return first, last


def first_page(probe: Probe) -> Mapping[str, Any]:
    """The body of the answer labelled `success`; empty where it is no object."""
    response = next(each.response for each in probe.exchanges if each.label == "success")
    return response.body if response is not None and isinstance(response.body, dict) else {}
