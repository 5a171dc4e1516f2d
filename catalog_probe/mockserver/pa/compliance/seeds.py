"""What is in the archive of a parent organization when a session begins."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.compliance.archive import (
    ARTIFACT,
    CHAT,
    DOCUMENT,
    FILE,
    GENERATED_FILE,
    LOCAL_SESSION,
    PROJECT,
    REMOTE_SESSION,
    Archive,
    Item,
    Message,
)
from catalog_probe.mockserver.pa.compliance.tenants import ADA, BEN, ENTERPRISE, tenant_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.mockserver.pa.call import Call

HOUR_S = 3600
PENDING_S = 600  # how long the pending remote session stays so; the documents do not show what ends it

BUSY, IDLE = "proj_01MockBusy", "proj_01MockIdle"
WORKING_CHAT = "chat_01MockWorking"
CHAT_FILE, PROJECT_FILE = "f0000000-0000-4000-8000-000000000001", "f0000000-0000-4000-8000-000000000002"
PAST = (
    ("chat_viewed", WORKING_CHAT),
    ("chat_created", WORKING_CHAT),
    ("file_uploaded", CHAT_FILE),
    ("project_created", BUSY),
    ("chat_deleted", "chat_01MockGone"),
    ("file_deleted", "f0000000-0000-4000-8000-00000000000a"),
    ("project_deleted", "proj_01MockGone"),
)
"""What people did before the session, newest first, one each hour; the deleted things are gone."""

LONG_TEXT = "all work and no plæy " * 100
"""More bytes than characters, because caps count bytes (1:2.5)."""


@dataclass
class Archives:
    """The archives of one session, by parent organization."""

    by_parent: dict[str, Archive] = field(default_factory=dict)


def archive_of(call: Call) -> Archive:
    """Return the archive of this call's key, seeded when the session first asks."""
    parent = tenant_of(call.key.organization).parent
    archives = call.session.state(Archives).by_parent
    if parent.id not in archives:
        archives[parent.id] = _make_archive(call, is_full=parent is ENTERPRISE)
    return archives[parent.id]


def _make_archive(call: Call, *, is_full: bool) -> Archive:
    now = math.floor(call.now)  # answers show whole seconds, so a window can begin exactly at one
    archive = Archive(call.session.new_id)
    items = [*_make_local_sessions(now)]
    if is_full:
        items += [*_make_chats(now), *_make_projects(now, call.names.id_prefix), *_make_remote_sessions(now)]
        # a session that no other parent has
        items.append(_local_session("clls_01MockOwn", now - 3 * HOUR_S, ADA))
        for hours, (kind, subject) in enumerate(PAST, start=1):
            archive.record(kind, subject, ADA["id"], now - hours * HOUR_S)
    archive.items = {item.id: item for item in items}
    return archive


def _make_chats(now: float) -> Iterator[Item]:
    started = now - 3 * HOUR_S
    yield _chat(WORKING_CHAT, started, ADA, project=BUSY)
    yield _chat("chat_01MockPlain", started - HOUR_S, BEN)
    yield _chat("chat_01MockUserDeleted", started - 2 * HOUR_S, BEN, deleted_at=rfc3339(started))
    yield Item(FILE, CHAT_FILE, started, {"filename": "figures.csv"}, WORKING_CHAT, b"a,b\n1,2\n")
    yield Item(GENERATED_FILE, "genfile_01MockChart", started, owner=WORKING_CHAT, content=b"a chart")
    yield Item(ARTIFACT, "artver_01MockPage", started, owner=WORKING_CHAT, content=b"# A page")


def _chat(
    chat_id: str, started: float, user: dict[str, str], *, project: str | None = None, deleted_at: str | None = None
) -> Item:
    shown: dict[str, Any] = {"user": user, "project_id": project, "deleted_at": deleted_at}
    return Item(CHAT, chat_id, started, shown, messages=_make_messages(started))


def _make_projects(now: float, id_prefix: str) -> Iterator[Item]:
    started = now - 5 * HOUR_S
    yield Item(PROJECT, BUSY, started, {"name": "Figures"})
    yield Item(PROJECT, IDLE, started, {"name": "Notes"})
    yield Item(DOCUMENT, f"{id_prefix}proj_doc_01MockNotes", started, {"filename": "notes.txt"}, IDLE)
    yield Item(FILE, PROJECT_FILE, started, {"filename": "brief.txt"}, IDLE, b"A brief.")


def _make_local_sessions(now: float) -> Iterator[Item]:
    yield _local_session("clls_01MockFirst", now - HOUR_S, ADA)
    yield _local_session("clls_01MockSecond", now - 2 * HOUR_S, BEN)
    yield Item(LOCAL_SESSION, "clls_01MockUnretained", now - HOUR_S, is_retained=False)


def _local_session(session_id: str, started: float, user: dict[str, str]) -> Item:
    return Item(LOCAL_SESSION, session_id, started, {"user": user}, messages=_make_messages(started))


def _make_remote_sessions(now: float) -> Iterator[Item]:
    for session_id, started in (("cse_01MockFinished", now - HOUR_S), ("cse_01MockPending", now)):
        messages = _make_messages(started)
        yield Item(REMOTE_SESSION, session_id, started, messages=messages, ready_at=started + PENDING_S)


def _make_messages(started: float) -> tuple[Message, ...]:
    """Make a question, a long use of a tool, its result and an answer."""
    return (
        Message("msg_01MockQuestion", "user", "How much work?", started),
        Message("msg_02MockToolUse", "assistant", "I will look.", started + 1, tool_input=LONG_TEXT),
        Message("msg_03MockToolResult", "user", "", started + 2, tool_result=LONG_TEXT),
        Message("msg_04MockAnswer", "assistant", "Much.", started + 3),
    )
