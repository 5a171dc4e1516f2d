"""PA's compliance mock without one of its behaviours: exactly the records that state it must stop conforming."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import pytest

from catalog.model import Outcome
from mockserver.app import create_app
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
from tests.harness.engines import catalog, mock_target_at, probe
from tests.harness.serving import serving

ERRORS, OUTCOMES = "pa/errors/compliance", "pa/errors/compliance_outcomes"
ENDPOINTS = "pa/endpoints/compliance"
NEVER = float("inf")

COMPLIANCE = [str(record.address) for record in catalog().select(provider="pa") if "/compliance" in str(record.address)]


@dataclass(frozen=True)
class Lapse:
    """What no longer holds, the part of the mock that made it hold, what stands there instead, and who states it."""

    what: str
    owner: Any
    name: str
    instead: Any
    stated_by: frozenset[str]


def lapse(what: str, owner: Any, name: str, instead: Any, *stated_by: str) -> Lapse:
    return Lapse(what, owner, name, instead, frozenset(stated_by))


def only_active(self: Archive, now: float) -> list[archive.Chat]:
    return [chat for chat in self.chats.values() if chat.deleted_at is None and now - chat.created_at < 300 * 86_400]


bound = paging.redeem


def unbound(call: Any, name: str, token: str, binding: Any) -> tuple[float, str]:
    cursor = call.session.state(paging.Cursors).issued.get(token)
    return bound(call, name, token, cursor.binding if cursor else binding)


reasons = itertools.count()

LAPSES = (
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
    lapse("page cursors expire", paging, "CURSOR_LIFETIME_S", NEVER, f"{ERRORS}/page_cursor_expired"),
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
        "_status",
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


@pytest.mark.slow
@pytest.mark.parametrize("lapse", LAPSES, ids=lambda lapse: lapse.what)
def test_exactly_the_records_that_state_it_stop_conforming(lapse, monkeypatch):
    monkeypatch.setattr(lapse.owner, lapse.name, lapse.instead)
    with serving(create_app(only=["pa"])) as base:
        results = probe(mock_target_at(base), COMPLIANCE)
    assert {address for address, each in results.items() if each.outcome is not Outcome.CONFORMS} == lapse.stated_by
