"""What people made, and the activities about it, when a session begins (1:2.4).

A chat that its user deleted is still listed, with `deleted_at`. A chat that was deleted here, or is past its
retention, is gone with all that belongs to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.compliance.access import ADA, BEN, ENTERPRISE, tenant_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.mockserver.pa.call import Call


CHAT, FILE, GENERATED_FILE, ARTIFACT = "chat", "file", "generated_file", "artifact"
PROJECT, DOCUMENT = "project", "project_document"
LOCAL_SESSION, REMOTE_SESSION = "local_session", "remote_session"

DAY_S = 24 * 3600
RETENTION_S = {CHAT: 365 * DAY_S, LOCAL_SESSION: 30 * DAY_S}
"""How long things of a kind are kept. The documents say that there is a retention, not how long it is (2:7.2)."""

ACTIVITY_KINDS = (
    "chat_created",
    "chat_viewed",
    "chat_deleted",
    "file_uploaded",
    "file_deleted",
    "project_created",
    "project_deleted",
)
"""The types used in reconciliation, without their prefix (1:2.4)."""


@dataclass(frozen=True)
class Message:
    """A message of a chat or session, with a tool's input or result."""

    id: str
    role: str
    text: str
    created_at: float
    tool_input: str | None = None
    tool_result: str | None = None


@dataclass(frozen=True)
class Item:
    """One thing that people made, of any kind.

    Args:
        shown: its fields in an answer, beside `id`, `type` and `created_at`.
        owner: the id of the chat or project that it is deleted with.
        ready_at: when a remote session leaves the state `pending`.
        is_retained: whether it can be read; local sessions under zero data retention cannot.
    """

    kind: str
    id: str
    created_at: float
    shown: Mapping[str, Any] = field(default_factory=dict)
    owner: str | None = None
    content: bytes = b""
    messages: tuple[Message, ...] = ()
    ready_at: float = 0.0
    is_retained: bool = True


@dataclass(frozen=True)
class Activity:
    """What somebody did, to what."""

    id: str
    kind: str
    subject: str
    actor: str
    created_at: float


@dataclass
class Archive:
    """Everything of one parent organization, by id."""

    new_id: Callable[[str], str]
    items: dict[str, Item] = field(default_factory=dict)
    activities: list[Activity] = field(default_factory=list)

    def list_items(self, kind: str, now: float) -> list[Item]:
        """Return the readable items of a kind."""
        return [item for item in self.items.values() if item.kind == kind and self.is_readable(item, now)]

    def find(self, kind: str, item_id: str, now: float) -> Item | None:
        """Return a readable item of a kind."""
        item = self.items.get(item_id)
        return item if item is not None and item.kind == kind and self.is_readable(item, now) else None

    def is_readable(self, item: Item, now: float) -> bool:
        """Whether an item, and its owner, is within its retention."""
        if not item.is_retained or now - item.created_at > RETENTION_S.get(item.kind, float("inf")):
            return False
        return item.owner is None or self.is_readable(self.items[item.owner], now)

    def has_attached_chats(self, project_id: str, now: float) -> bool:
        """Whether chats keep a project from being deleted."""
        chats = self.list_items(CHAT, now)
        return any(chat.shown["project_id"] == project_id and chat.shown["deleted_at"] is None for chat in chats)

    def delete(self, item: Item, actor: str, now: float) -> None:
        """Delete an item with all that belongs to it."""
        del self.items[item.id]
        if f"{item.kind}_deleted" in ACTIVITY_KINDS:
            self.record(f"{item.kind}_deleted", item.id, actor, now)
        for owned in [owned for owned in self.items.values() if owned.owner == item.id]:
            self.delete(owned, actor, now)

    def record(self, kind: str, subject: str, actor: str, now: float) -> None:
        """Keep an activity, so that a client can reconcile."""
        self.activities.append(Activity(self.new_id("activity_"), kind, subject, actor, now))


def describe(item: Item) -> dict[str, Any]:
    """Return an item as it is shown."""
    return {"id": item.id, "type": item.kind, "created_at": rfc3339(item.created_at), **item.shown}


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
