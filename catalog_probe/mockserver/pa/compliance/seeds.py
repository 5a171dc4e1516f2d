"""What a session finds in the archive of a parent organization before it has changed anything."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.mockserver.pa.compliance.archive import (
    Archive,
    Chat,
    File,
    LocalSession,
    Message,
    Project,
    RemoteSession,
)
from catalog_probe.mockserver.pa.compliance.tenants import ADA, BEN, ENTERPRISE, tenant_of

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.call import Call

HOUR_S = 3600
PENDING_S = 600
"""How long the pending remote session stays so; the documents do not show what ends it."""

BUSY, IDLE = "proj_01MockBusy", "proj_01MockIdle"
WORKING_CHAT, PLAIN_CHAT, DELETED_CHAT = "chat_01MockWorking", "chat_01MockPlain", "chat_01MockUserDeleted"
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
"""What people did before the session, newest first; what they deleted is gone."""
LONG_TEXT = "all work and no plæy " * 100
"""Of more bytes than characters, for caps count bytes (1:2.5)."""


@dataclass
class Archives:
    """The archives of one session, by parent organization."""

    by_parent: dict[str, Archive] = field(default_factory=dict)


def archive_of(call: Call) -> Archive:
    """The archive that this call's key can see; seeded when the session first looks."""
    parent = tenant_of(call.key.organization).parent
    archives = call.session.state(Archives).by_parent
    if parent.id not in archives:
        archives[parent.id] = _seeded(call, full=parent is ENTERPRISE)
    return archives[parent.id]


def _seeded(call: Call, *, full: bool) -> Archive:
    """What was before the session was at whole seconds, which is how moments are told: a window can begin at one."""
    archive, now = Archive(call.session.new_id), math.floor(call.now)
    _add_local_sessions(archive, now)
    if full:
        own = LocalSession("clls_01MockOwn", ADA, now - 3 * HOUR_S, _messages(now - 3 * HOUR_S))
        archive.local_sessions[own.id] = own
        _add_chats(archive, now)
        _add_projects(archive, now)
        _add_remote_sessions(archive, now)
        for hours, (kind, subject) in enumerate(PAST, start=1):
            archive.record(kind, subject, ADA.id, now - hours * HOUR_S)
    return archive


def _add_chats(archive: Archive, now: float) -> None:
    started = now - 3 * HOUR_S
    archive.chats = {
        WORKING_CHAT: Chat(WORKING_CHAT, ADA, started, _messages(started), project=BUSY),
        PLAIN_CHAT: Chat(PLAIN_CHAT, BEN, started - HOUR_S, _messages(started - HOUR_S)),
        DELETED_CHAT: Chat(
            DELETED_CHAT, BEN, started - 2 * HOUR_S, _messages(started - 2 * HOUR_S), deleted_at=started
        ),
    }
    archive.files[CHAT_FILE] = File(CHAT_FILE, "figures.csv", b"a,b\n1,2\n", started, chat=WORKING_CHAT)
    generated = File("genfile_01MockChart", "chart.txt", b"a chart", started, chat=WORKING_CHAT)
    artifact = File("artver_01MockPage", "A page", b"# A page", started, chat=WORKING_CHAT)
    archive.generated_files[generated.id] = generated
    archive.artifacts[artifact.id] = artifact


def _add_projects(archive: Archive, now: float) -> None:
    started = now - 5 * HOUR_S
    archive.projects = {
        BUSY: Project(BUSY, "Figures", started, (ADA, BEN)),
        IDLE: Project(IDLE, "Notes", started, (BEN,)),
    }
    notes = File("proj_doc_01MockNotes", "notes.txt", b"Notes.", started, project=IDLE)
    archive.documents[notes.id] = notes
    archive.files[PROJECT_FILE] = File(PROJECT_FILE, "brief.txt", b"A brief.", started, project=IDLE)


def _add_local_sessions(archive: Archive, now: float) -> None:
    sessions = (
        LocalSession("clls_01MockFirst", ADA, now - HOUR_S, _messages(now - HOUR_S)),
        LocalSession("clls_01MockSecond", BEN, now - 2 * HOUR_S, _messages(now - 2 * HOUR_S)),
        LocalSession("clls_01MockUnretained", BEN, now - HOUR_S, (), zero_data_retention=True),
    )
    archive.local_sessions = {session.id: session for session in sessions}


def _add_remote_sessions(archive: Archive, now: float) -> None:
    sessions = (
        RemoteSession("cse_01MockFinished", ADA, now - HOUR_S, now - HOUR_S + PENDING_S, ("Hello.", "Done.")),
        RemoteSession("cse_01MockPending", BEN, now, now + PENDING_S, ("Hello.",)),
    )
    archive.remote_sessions = {session.id: session for session in sessions}


def _messages(started: float) -> tuple[Message, ...]:
    """A question, a tool used at length, its result, an answer."""
    return (
        Message("msg_01MockQuestion", "user", "How much work?", started),
        Message("msg_02MockToolUse", "assistant", "I will look.", started + 1, tool_input=LONG_TEXT),
        Message("msg_03MockToolResult", "user", "", started + 2, tool_result=LONG_TEXT),
        Message("msg_04MockAnswer", "assistant", "Much.", started + 3),
    )
