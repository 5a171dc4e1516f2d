"""PA's compliance mock without one of its behaviours, and who states it."""

from __future__ import annotations

import itertools
from typing import Any

from mockserver.pa.compliance import (
    access,
    activities,
    archive,
    budget,
    chats,
    local_sessions,
    organizations,
    paging,
    query,
    remote_sessions,
)
from mockserver.pa.compliance.archive import Archive
from mockserver.pa.errors import not_found
from mockserver.pa.keys import Role
from tests.harness.engines import catalog
from tests.harness.lapses import Lapses, lapse

ERRORS, OUTCOMES = "pa/errors/compliance", "pa/errors/compliance_outcomes"
ENDPOINTS = "pa/endpoints/compliance"
NEVER = float("inf")

COMPLIANCE = [str(record.address) for record in catalog().select(provider="pa") if "/compliance" in str(record.address)]


def only_active(self: Archive, now: float) -> list[archive.Chat]:
    return [chat for chat in self.chats.values() if chat.deleted_at is None and now - chat.created_at < 300 * 86_400]


bound = paging.redeem


def unbound(call: Any, name: str, token: str, binding: Any, *lifetime_s: float) -> tuple[float, str]:
    cursor = call.session.state(paging.Cursors).issued.get(token)
    return bound(call, name, token, cursor.binding if cursor else binding, *lifetime_s)


on = paging.page_of_window


def over_and_over(rows: Any, values: Any, redeem: Any, token: Any) -> dict[str, Any]:
    return on(rows, {name: value for name, value in values.items() if name != "after_id"}, redeem, token)


reasons = itertools.count()

LAPSES = Lapses(
    "pa",
    COMPLIANCE,
    lapse(
        "chats keep a project from being deleted",
        Archive,
        "attached_chats",
        lambda self, project_id, now: [],
        f"{ERRORS}/project_has_attached_chats",
        f"{ENDPOINTS}_projects/delete_project",
    ),
    lapse(
        "activities tell of deletes",
        Archive,
        "record",
        lambda self, *told: None,
        *(f"{OUTCOMES}/{kind}_deleted_activity" for kind in ("chat", "file", "project")),
        f"{ENDPOINTS}_activities/list_activities",  # there is no page left to walk
        f"{ENDPOINTS}_chats/delete_chat",
        f"{ENDPOINTS}_files/delete_file",
        f"{ENDPOINTS}_projects/delete_project",
    ),
    lapse(
        "a chat that its user deleted is still listed",
        Archive,
        "live_chats",
        only_active,
        f"{OUTCOMES}/user_deleted_chat_listed",
        f"{OUTCOMES}/user_deleted_chat_readable",
        f"{ENDPOINTS}_chats/list_chats",  # what is left makes no second page
    ),
    lapse("chats expire", archive, "CHAT_RETENTION_S", NEVER, f"{ERRORS}/chat_retention_expired"),
    lapse("local sessions age out", archive, "LOCAL_SESSION_RETENTION_S", NEVER, f"{ERRORS}/local_session_aged_out"),
    lapse(
        "cursors of local-session messages expire",
        local_sessions,
        "MESSAGE_CURSOR_LIFETIME_S",
        NEVER,
        f"{ERRORS}/page_cursor_expired",
        f"{ENDPOINTS}_sessions/list_local_session_messages",
    ),
    lapse(
        "a page cursor is bound to its request",
        paging,
        "redeem",
        unbound,
        f"{ERRORS}/page_not_valid_for_request",
    ),
    lapse(
        "ordinary keys are strangers here",
        access,
        "ACCEPTED_ROLES",
        tuple(Role),
        f"{ERRORS}/request_not_authenticated",
        f"{ERRORS}/settings_not_authenticated",
    ),
    lapse("org_audit is an alternative", access, "AUDIT", "no such scope", f"{ENDPOINTS}_access/org_audit_key"),
    lapse(
        "the second budget says one second",
        budget,
        "REMOTE_RETRY_AFTER_S",
        7,
        f"{ERRORS}/remote_session_rate_limit_exceeded",
    ),
    lapse(
        "a local session's id has a form",
        local_sessions,
        "ID_PREFIX",
        "",
        f"{ERRORS}/local_session_malformed_id",
        f"{ENDPOINTS}_sessions/list_local_session_messages",
    ),
    lapse(
        "a pending session has no transcript",
        remote_sessions,
        "status_of",
        lambda call, session: remote_sessions.LATER,
        f"{ERRORS}/remote_session_pending",
    ),
    lapse(
        "settings hide why there are none",
        organizations,
        "settings_not_available",
        lambda: not_found(f"No settings, for reason {next(reasons)}."),
        f"{ERRORS}/organization_settings_not_available",
    ),
    lapse(
        "a window shows what is within it",
        activities,
        "created_within",
        lambda values, created_at: True,
        f"{ENDPOINTS}_activities/list_activities",
    ),
    lapse(
        "users and projects choose their chats",
        chats,
        "asked_for",
        lambda chat, values: True,
        f"{ENDPOINTS}_chats/list_chats",
    ),
    lapse(
        "after_id goes on",
        (activities, chats),
        "page_of_window",
        over_and_over,
        f"{ENDPOINTS}_activities/list_activities",
        f"{ENDPOINTS}_chats/list_chats",
        f"{ERRORS}/invalid_pagination_cursor",
    ),
    lapse("a cap cuts", chats, "cut", lambda text, maximum: text, f"{ENDPOINTS}_chats/list_chat_messages"),
    lapse(
        "-1 lifts a cap",
        query,
        "UNLIMITED",
        -9,
        f"{ENDPOINTS}_chats/list_chat_messages",
    ),
    lapse(
        "a page has a largest size",
        activities,
        "MAX_LIMIT",
        10**9,
        f"{ERRORS}/invalid_parameter_value",
        f"{ENDPOINTS}_activities/list_activities",
    ),
)
