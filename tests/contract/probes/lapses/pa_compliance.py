"""PA's compliance mock without one of its behaviours, and who states it."""

from __future__ import annotations

import itertools
from typing import Any

from mockserver.pa.compliance import (
    access,
    activities,
    archive,
    budget,
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
    ),
    lapse(
        "a chat that its user deleted is still listed",
        Archive,
        "live_chats",
        only_active,
        f"{OUTCOMES}/user_deleted_chat_listed",
        f"{OUTCOMES}/user_deleted_chat_readable",
    ),
    lapse("chats expire", archive, "CHAT_RETENTION_S", NEVER, f"{ERRORS}/chat_retention_expired"),
    lapse("local sessions age out", archive, "LOCAL_SESSION_RETENTION_S", NEVER, f"{ERRORS}/local_session_aged_out"),
    lapse(
        "cursors of local-session messages expire",
        local_sessions,
        "MESSAGE_CURSOR_LIFETIME_S",
        NEVER,
        f"{ERRORS}/page_cursor_expired",
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
