"""1:4.1 PA endpoints, reads of the compliance API: each with its credential and query rules (1:2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import Call, get, to_body
from catalog_probe.probes.recipes.recipe import Family, Recipe, Steps, declare_steps
from catalog_probe.probes.targets.target import Cost

from .compliance_requests import (
    APPS,
    BASE,
    INPUT_CAP,
    ORG_DATA,
    ORGANIZATION,
    READ,
    RESULT_CAP,
    UNKNOWN_ARTIFACT,
    UNKNOWN_CHAT,
    UNKNOWN_FILE,
    UNKNOWN_GENERATED_FILE,
    UNKNOWN_ORGANIZATION,
    UNKNOWN_PROJECT,
    USER_DATA,
    find_control,
    get_transcript,
    list_chats,
    list_messages,
    with_query,
    with_refusals,
)
from .requests import UNKNOWN_ID

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.probe import Probe

CHATS = Family("pa/endpoints/compliance_chats", credential=READ)
FILES = Family("pa/endpoints/compliance_files", credential=READ)
PROJECTS = Family("pa/endpoints/compliance_projects", credential=READ)
SESSIONS = Family("pa/endpoints/compliance_sessions", credential=READ)
ORGANIZATIONS = Family("pa/endpoints/compliance_organizations", credential=READ)
OUTCOMES = Family("pa/errors/compliance_outcomes", credential=READ)

WRITE, UNCHANGED, PENDING_NO_MORE = "write_refused", "unchanged", "pending_no_more"


def write_to(call: Call) -> Steps:
    """Write to a read-only resource, and read it again."""

    @declare_steps(WRITE, UNCHANGED, requests=2, needs=call.placeholders)
    async def steps(probe: Probe) -> None:
        await probe.send(call.replace(method="POST", body=to_body({})), WRITE)
        await probe.send(call, UNCHANGED)

    return steps


def read_only_recipe(slug: str, success: Call, **rules: Call) -> Recipe:
    """A read of a read-only resource, its rules, and a write to it."""
    return read_recipe(ORGANIZATIONS, slug, success, **rules).with_optional(write_to(success), cost=Cost.DESTRUCTIVE)


def read_recipe(family: Family, slug: str, success: Call, **rules: Call) -> Recipe:
    """A read and its rules."""
    return family.recipe(slug, with_refusals(success, **rules), control=find_control(success))


PENDING = get_transcript("{pending_remote_session}")


@declare_steps(PENDING_NO_MORE, requests=2, needs=PENDING.placeholders)
async def ask_a_day_later(probe: Probe) -> None:
    """Ask for the transcript of a pending session a day later, when the session is no longer pending."""
    await probe.setup(PENDING, 404)  # a mock's session begins with its first request, so a day can pass only after it
    await probe.send(PENDING.with_clock("+1d"), PENDING_NO_MORE)


CAPS = {"positive": "64", "one": "1", "minus_one": "-1", "zero": "0", "minus_two": "-2", "not_integer": "many"}
"""Label -> value of a cap; allowed are a positive integer and -1 (1:2.5)."""


def messages_by_cap(cap: str) -> dict[str, Call]:
    """List a chat's messages with each value of a cap."""
    return {f"{cap}_{label}": with_query(list_messages(), (cap, value)) for label, value in CAPS.items()}


RECIPES: tuple[Recipe, ...] = (
    # "compliance paths for organizations, roles, groups, group members, settings, users"; 1:2.4 "read-only"
    read_only_recipe("list_organizations", ORG_DATA["organizations"]),
    read_only_recipe("list_users", USER_DATA["users"]),
    read_only_recipe("list_roles", ORG_DATA["roles"], unknown_organization=get(f"{UNKNOWN_ORGANIZATION}/roles")),
    read_recipe(
        ORGANIZATIONS, "get_role", ORG_DATA["role"], unknown_role=get(f"{ORGANIZATION}/roles/role_{UNKNOWN_ID}")
    ),
    read_only_recipe(
        "get_settings", ORG_DATA["settings"], unknown_organization=get(f"{UNKNOWN_ORGANIZATION}/settings")
    ),
    read_only_recipe("list_groups", ORG_DATA["groups"]),
    read_recipe(ORGANIZATIONS, "get_group", ORG_DATA["group"], unknown_group=get(f"{BASE}/groups/group_{UNKNOWN_ID}")),
    read_only_recipe(
        "list_group_members", USER_DATA["group_members"], unknown_group=get(f"{BASE}/groups/group_{UNKNOWN_ID}/members")
    ),
    # "compliance paths for …, chat messages, files (metadata and content), generated files (metadata and content),
    # artifacts (two endpoints), projects (detail, attachments, collaborators)"
    read_recipe(
        CHATS,
        "list_chat_messages",
        list_messages(),
        **messages_by_cap(INPUT_CAP),
        **messages_by_cap(RESULT_CAP),
        unknown_chat=list_messages(UNKNOWN_CHAT),
    ),
    read_recipe(CHATS, "get_generated_file", USER_DATA["generated_file"], unknown_file=get(UNKNOWN_GENERATED_FILE)),
    read_recipe(
        CHATS,
        "get_generated_file_content",
        USER_DATA["generated_file_content"],
        unknown_file=get(f"{UNKNOWN_GENERATED_FILE}/content"),
    ),
    read_recipe(CHATS, "get_artifact_version", USER_DATA["artifact_version"], unknown_version=get(UNKNOWN_ARTIFACT)),
    read_recipe(
        CHATS,
        "get_artifact_version_content",
        USER_DATA["artifact_version_content"],
        unknown_version=get(f"{UNKNOWN_ARTIFACT}/content"),
    ),
    read_recipe(FILES, "get_file", USER_DATA["file"], unknown_file=get(UNKNOWN_FILE)),
    read_recipe(FILES, "get_file_content", USER_DATA["file_content"], unknown_file=get(f"{UNKNOWN_FILE}/content")),
    read_recipe(PROJECTS, "get_project", USER_DATA["project"], unknown_project=get(UNKNOWN_PROJECT)),
    read_recipe(
        PROJECTS,
        "list_project_attachments",
        get(f"{APPS}/projects/{{project_without_chats}}/attachments"),
        unknown_project=get(f"{UNKNOWN_PROJECT}/attachments"),
    ),
    read_recipe(
        PROJECTS,
        "list_project_collaborators",
        USER_DATA["collaborators"],
        unknown_project=get(f"{UNKNOWN_PROJECT}/collaborators"),
    ),
    # "remote sessions (list, transcript)"; 1:3 "Remote session status: `pending` (no transcript available)"
    read_recipe(SESSIONS, "list_remote_sessions", USER_DATA["remote_sessions"]),
    read_recipe(
        SESSIONS,
        "get_remote_session_transcript",
        get_transcript("{remote_session}"),
        unknown_session=get_transcript(f"cse_{UNKNOWN_ID}"),
        malformed_id=get_transcript("no-session"),
    )
    .with_optional({"pending": PENDING})
    .with_optional(
        ask_a_day_later,
        not_live=(ReasonCode.NO_DOCUMENTED_SETUP, "the documents do not say how long a session is pending (1:3)"),
    ),
    # 1:2.4 "has `deleted_at` (set when a user deleted it; such chats are still listed)"
    OUTCOMES.recipe("user_deleted_chat_listed", list_chats(("user_ids[]", "{user_of_deleted_chat}"))),
    OUTCOMES.recipe(
        "user_deleted_chat_readable",
        list_messages(f"{APPS}/chats/{{user_deleted_chat}}"),
        control=list_chats(),
    ),
)
