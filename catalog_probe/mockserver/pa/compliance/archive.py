"""What people made, as the compliance API sees it: chats, files, projects, sessions, and the activities about them.

A chat that its user deleted is still listed, with `deleted_at`; one that was deleted here, or is past its retention, is
gone with everything that hung on it (1:2.4, 1:3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.compliance.tenants import Person

DAY_S = 24 * 3600
CHAT_RETENTION_S = 365 * DAY_S
LOCAL_SESSION_RETENTION_S = 30 * DAY_S
"""How long a session stays before it ages out. Neither length is shown."""

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
    """One message of a chat or a local session; a tool's input and result where it used one."""

    id: str
    role: str
    text: str
    created_at: float
    tool_input: str | None = None
    tool_result: str | None = None


@dataclass(frozen=True)
class Chat:
    """A chat. `deleted_at` is set when its user deleted it."""

    id: str
    user: Person
    created_at: float
    messages: tuple[Message, ...]
    project: str | None = None
    deleted_at: float | None = None


@dataclass(frozen=True)
class File:
    """A file of a chat or of a project, a text document of a project, or what the model made in a chat."""

    id: str
    filename: str
    content: bytes
    created_at: float
    chat: str | None = None
    project: str | None = None


@dataclass(frozen=True)
class Project:
    """A project."""

    id: str
    name: str
    created_at: float
    collaborators: tuple[Person, ...]


@dataclass(frozen=True)
class LocalSession:
    """A session on somebody's machine; under zero data retention it cannot be read."""

    id: str
    user: Person
    created_at: float
    messages: tuple[Message, ...]
    zero_data_retention: bool = False


@dataclass(frozen=True)
class RemoteSession:
    """A session on the provider's machines: `pending` until `ready_at`, and without a transcript until then."""

    id: str
    user: Person
    created_at: float
    ready_at: float
    transcript: tuple[str, ...]


@dataclass(frozen=True)
class Activity:
    """What somebody did, to what."""

    id: str
    kind: str
    subject: str
    actor: str
    created_at: float


NewId = Callable[[str], str]


@dataclass
class Archive:
    """Everything of one parent organization, by id."""

    new_id: NewId
    chats: dict[str, Chat] = field(default_factory=dict)
    files: dict[str, File] = field(default_factory=dict)
    generated_files: dict[str, File] = field(default_factory=dict)
    artifacts: dict[str, File] = field(default_factory=dict)
    """By the id of a version."""
    projects: dict[str, Project] = field(default_factory=dict)
    documents: dict[str, File] = field(default_factory=dict)
    """By an id that lacks the provider's prefix."""
    local_sessions: dict[str, LocalSession] = field(default_factory=dict)
    remote_sessions: dict[str, RemoteSession] = field(default_factory=dict)
    activities: list[Activity] = field(default_factory=list)

    def live_chats(self, now: float) -> list[Chat]:
        """The chats within their retention, those included that their user deleted."""
        return [chat for chat in self.chats.values() if now - chat.created_at <= CHAT_RETENTION_S]

    def chat(self, chat_id: str, now: float) -> Chat | None:
        """A chat that can be read."""
        return next((chat for chat in self.live_chats(now) if chat.id == chat_id), None)

    def readable_local_sessions(self, now: float) -> list[LocalSession]:
        """The local sessions that are retained at all and have not aged out."""
        return [
            session
            for session in self.local_sessions.values()
            if not session.zero_data_retention and now - session.created_at <= LOCAL_SESSION_RETENTION_S
        ]

    def record(self, kind: str, subject: str, actor: str, now: float) -> None:
        """Keep an activity, so that a client can reconcile."""
        self.activities.append(Activity(self.new_id("activity_"), kind, subject, actor, now))

    def delete_chat(self, chat_id: str, actor: str, now: float) -> None:
        """Delete a chat with its files, generated files and artifacts."""
        del self.chats[chat_id]
        self.record("chat_deleted", chat_id, actor, now)
        for file in [file for file in self.files.values() if file.chat == chat_id]:
            self.delete_file(file.id, actor, now)
        _drop(self.generated_files, chat=chat_id)
        _drop(self.artifacts, chat=chat_id)

    def delete_file(self, file_id: str, actor: str, now: float) -> None:
        """Delete a file of a chat or a project."""
        del self.files[file_id]
        self.record("file_deleted", file_id, actor, now)

    def delete_project(self, project_id: str, actor: str, now: float) -> None:
        """Delete a project that has no chats attached, with its files and documents."""
        del self.projects[project_id]
        self.record("project_deleted", project_id, actor, now)
        for file in [file for file in self.files.values() if file.project == project_id]:
            self.delete_file(file.id, actor, now)
        _drop(self.documents, project=project_id)

    def attached_chats(self, project_id: str, now: float) -> list[Chat]:
        """The chats that keep a project from being deleted."""
        return [chat for chat in self.live_chats(now) if chat.project == project_id and chat.deleted_at is None]


def _drop(files: dict[str, File], *, chat: str | None = None, project: str | None = None) -> None:
    for file in [file for file in files.values() if (file.chat, file.project) == (chat, project)]:
        del files[file.id]
