"""What people made, and the activities about it (1:2.4, 1:3).

A chat that its user deleted is still listed, with `deleted_at`. A chat that was deleted here, or is past its
retention, is gone with all that belongs to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from catalog_probe.mockserver.core.clock import rfc3339

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
