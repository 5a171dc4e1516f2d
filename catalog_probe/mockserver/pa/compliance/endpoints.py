"""The endpoints of the compliance API, and their table (1:4.1).

The documents show two of its paths; the others are common ones.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.errors import OURS
from catalog_probe.mockserver.pa.compliance import access
from catalog_probe.mockserver.pa.compliance.access import (
    ACTIVITIES,
    ADA,
    BEN,
    DELETE,
    ORG_DATA,
    SETTINGS_ENABLED,
    USER_DATA,
    Entry,
    admit_compliance_request,
    admit_remote_request,
    tenant_of,
)
from catalog_probe.mockserver.pa.compliance.archive import (
    ACTIVITY_KINDS,
    ARTIFACT,
    CHAT,
    DOCUMENT,
    FILE,
    GENERATED_FILE,
    LOCAL_SESSION,
    PROJECT,
    REMOTE_SESSION,
    Item,
    archive_of,
    describe,
)
from catalog_probe.mockserver.pa.compliance.errors import (
    ATTACHED_CHATS,
    BAD_PARAMETER,
    MALFORMED_ACTIVITY_ID,
    MALFORMED_SESSION_ID,
    NO_CHAT,
    NO_CONTENT,
    NO_DOCUMENT,
    NO_FILE,
    NO_LOCAL_SESSION,
    NO_LOCAL_SESSIONS,
    NO_ORGANIZATION_ROLE_OR_GROUP,
    NO_PRODUCT,
    NO_PROJECT,
    NO_REMOTE_SESSION,
    NO_SETTINGS,
    UNKNOWN_ACTIVITY,
    raise_local_sessions_failure,
    take_upstream_trouble,
)
from catalog_probe.mockserver.pa.compliance.queries import (
    AFTER_ID,
    BEFORE_ID,
    CREATED,
    ORDER,
    PAGE,
    SINCE,
    UNLIMITED,
    UNTIL,
    Parameter,
    Row,
    cap,
    is_created_within,
    issue_cursor,
    limit,
    page_by_token,
    page_of_window,
    read_query,
    redeem_cursor,
)
from catalog_probe.mockserver.pa.gateway import Endpoint

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from starlette.requests import Request

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.compliance.archive import Message
    from catalog_probe.mockserver.pa.keys import Key, Names


Handler = Callable[["Call"], Awaitable[Response]]

ABSENT = {
    "chat": NO_CHAT,
    "file": NO_FILE,
    "generated_file": NO_PRODUCT,
    "artifact": NO_PRODUCT,
    "project": NO_PROJECT,
    "project_document": NO_DOCUMENT,
}
"""The 404 of each kind (2:7.2)."""


def find_item(call: Call, kind: str) -> Item:
    """Return the item that the path names, or raise the 404 of its kind."""
    (item_id,) = call.params.values()
    item = archive_of(call).find(kind, item_id, call.now)
    if item is None:
        raise ABSENT[kind]()
    return item


def show_item(kind: str) -> Handler:
    """Make the handler that shows an item."""

    async def show(call: Call) -> Response:
        return JSONResponse(describe(find_item(call, kind)))

    return show


def send_content(kind: str) -> Handler:
    """Make the handler that sends the content of an item."""

    async def send(call: Call) -> Response:
        return Response(find_item(call, kind).content, media_type="application/octet-stream")

    return send


def delete_item(kind: str) -> Handler:
    """Make the handler that deletes an item; a project only without chats (1:3)."""

    async def delete(call: Call) -> Response:
        item, archive = find_item(call, kind), archive_of(call)
        if archive.has_attached_chats(item.id, call.now):
            raise ATTACHED_CHATS()
        archive.delete(item, call.key.organization.id, call.now)
        return JSONResponse({"id": item.id, "type": f"{kind}_deleted"})

    return delete


async def list_attachments(call: Call) -> Response:
    """Answer with one page of a project's files and text documents."""
    project, archive = find_item(call, PROJECT), archive_of(call)
    attached = [item for kind in (FILE, DOCUMENT) for item in archive.list_items(kind, call.now)]
    rows = [Row((item.created_at, item.id), describe(item)) for item in attached if item.owner == project.id]
    return JSONResponse(page_by_token(call, rows, call.query, ("attachments", project.id)))


async def list_collaborators(call: Call) -> Response:
    """Answer with one page of the people who work on a project."""
    project = find_item(call, PROJECT)
    rows = [Row((0.0, person["id"]), person) for person in (ADA, BEN)]
    return JSONResponse(page_by_token(call, rows, call.query, ("collaborators", project.id)))


USERS, PROJECTS = "user_ids[]", "project_ids[]"
FILTERS = (USERS, PROJECTS, "created_at.gte", "created_at.lt")
INPUT_CAP, RESULT_CAP = "tool_use_input_max_bytes", "tool_result_max_bytes"
DEFAULT_CAP = 1_000  # bytes; not shown


async def list_chats(call: Call) -> Response:
    """Answer with one page of chats, those included that their user deleted."""
    rows = [
        Row((chat.created_at, chat.id), describe(chat))
        for chat in archive_of(call).list_items(CHAT, call.now)
        if is_requested(chat, call.query)
    ]
    rows.sort(key=lambda row: row.key, reverse=True)
    binding = ("chats", call.key.organization.id, *(call.query.get(name) for name in FILTERS))
    return JSONResponse(
        page_of_window(
            rows,
            call.query,
            lambda name, token: redeem_cursor(call, name, token, binding),
            lambda row: issue_cursor(call, row, binding),
        )
    )


async def list_chat_messages(call: Call) -> Response:
    """Answer with the messages of one chat, oldest first."""
    chat = find_item(call, CHAT)
    messages = [show_message(message, call.query) for message in chat.messages]
    return JSONResponse({**describe(chat), "chat_messages": messages})


def is_requested(chat: Item, values: Mapping[str, Any]) -> bool:
    """Whether a chat has the users, projects and window of a query, if given."""
    user, project = chat.shown["user"]["id"], chat.shown["project_id"]
    return (
        user in values.get(USERS, (user,))
        and project in values.get(PROJECTS, (project,))
        and is_created_within(values, chat.created_at)
    )


def show_message(message: Message, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message as shown, with the tool's input and result capped."""
    content: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
    if message.tool_input is not None:
        content.append({"type": "tool_use", "input": cut(message.tool_input, values.get(INPUT_CAP))})
    if message.tool_result is not None:
        content.append({"type": "tool_result", "content": cut(message.tool_result, values.get(RESULT_CAP))})
    return {"id": message.id, "role": message.role, "created_at": rfc3339(message.created_at), "content": content}


def cut(text: str, max_bytes: int | None) -> str:
    """Cut a text at a number of bytes, never within a character; -1 lifts the cap."""
    if max_bytes == UNLIMITED:
        return text
    return text.encode()[: max_bytes or DEFAULT_CAP].decode(errors="ignore")


MAX_ACTIVITIES = 1_000  # the one maximum that is shown (1:2.5); on which endpoint is not
ACTIVITY_ID = re.compile(r"activity_[0-9A-Za-z]{24}")
TYPES = "activity_types[]"


async def list_activities(call: Call) -> Response:
    """Answer with one page of the activities in a window of time, of some types."""
    kinds = {call.names.id_prefix + kind: kind for kind in ACTIVITY_KINDS}
    refuse_other_types(call, kinds)
    requested_kinds = {kinds.get(name) for name in call.query.get(TYPES, kinds)}
    rows = [
        Row(
            (activity.created_at, activity.id),
            {
                "id": activity.id,
                "type": call.names.id_prefix + activity.kind,
                "created_at": rfc3339(activity.created_at),
                "actor": {"id": activity.actor},
                "subject": {"id": activity.subject},
            },
        )
        for activity in archive_of(call).activities
        if is_created_within(call.query, activity.created_at) and activity.kind in requested_kinds
    ]
    rows.sort(key=lambda row: row.key, reverse=True)

    def redeem(name: str, activity_id: str) -> tuple[float, str]:
        """Find the activity of a cursor, which is its id and must be in this list."""
        if not ACTIVITY_ID.fullmatch(activity_id):
            raise MALFORMED_ACTIVITY_ID(name=name)
        for row in rows:
            if row.shown["id"] == activity_id:
                return row.key
        raise UNKNOWN_ACTIVITY(name=name)

    return JSONResponse(page_of_window(rows, call.query, redeem, lambda row: row.shown["id"]))


def refuse_other_types(call: Call, types: Collection[str]) -> None:
    """Raise that a type is outside the enumerated set."""
    if not set(types).issuperset(call.query.get(TYPES, ())):
        raise BAD_PARAMETER(name=TYPES, constraint=f"must be one of {', '.join(sorted(types))}")


async def list_entries(call: Call) -> Response:
    """Answer with one page of the list that the path names."""
    path = _get_path(call)
    rows = [Row((0.0, entry["id"]), entry) for entry in _find_list(call, path)]
    return JSONResponse(page_by_token(call, rows, call.query, (path, call.key.organization.id), descending=False))


async def get_entry(call: Call) -> Response:
    """Answer with the entry that the path names."""
    path, _, entry_id = _get_path(call).rpartition("/")
    for entry in _find_list(call, path):
        if entry["id"] == entry_id:
            return JSONResponse(entry)
    raise NO_ORGANIZATION_ROLE_OR_GROUP()


async def get_settings(call: Call) -> Response:
    """Answer with an organization's settings, or with one body for any reason (2:7.2)."""
    organization_id = call.params["organization_id"]
    children = [entry["id"] for entry in _find_list(call, "organizations")]
    if organization_id not in children or organization_id not in SETTINGS_ENABLED:
        raise NO_SETTINGS()
    return JSONResponse({"organization_id": organization_id, "settings": {"retention_days": 365}})


def _get_path(call: Call) -> str:
    return call.request.url.path.partition("/v1/compliance/")[2]


def _find_list(call: Call, path: str) -> tuple[Entry, ...]:
    structure = tenant_of(call.key.organization).parent.structure
    if path not in structure:
        raise NO_ORGANIZATION_ROLE_OR_GROUP()
    return structure[path]


MESSAGE_CURSOR_LIFETIME_S = 24 * 3600  # 2:8.1; no other cursor is documented to expire
LOCAL_ID_PREFIX, REMOTE_ID_PREFIX = "clls_", "cse_"
PENDING = "pending"
COMPLETED = "completed"  # ours: `pending` is the only status shown (1:3)


async def list_local_sessions(call: Call) -> Response:
    """Answer with one page of the local sessions in a window of time, newest first."""
    check_local_sessions(call)
    return _list_sessions(call, LOCAL_SESSION)


async def list_session_messages(call: Call) -> Response:
    """Answer with one page of a local session's messages, by default oldest first."""
    check_local_sessions(call)
    session = _find_session(call, LOCAL_SESSION, LOCAL_ID_PREFIX)
    if session is None:
        raise NO_LOCAL_SESSION()
    if not tenant_of(call.key.organization).parent.content_readable:
        raise NO_CONTENT()
    rows = [
        Row((message.created_at, message.id), {"id": message.id, "role": message.role, "text": message.text})
        for message in session.messages
    ]
    is_descending = call.query.get("order") == "desc"
    binding = ("local session", session.id)
    return JSONResponse(
        page_by_token(call, rows, call.query, binding, descending=is_descending, lifetime_s=MESSAGE_CURSOR_LIFETIME_S)
    )


async def list_remote_sessions(call: Call) -> Response:
    """Answer with one page of the remote sessions, with the pending ones."""
    return _list_sessions(call, REMOTE_SESSION)


async def get_transcript(call: Call) -> Response:
    """Answer with the transcript of a remote session that is no longer pending."""
    session = _find_session(call, REMOTE_SESSION, REMOTE_ID_PREFIX)
    if session is None or get_status(call, session) == PENDING:
        raise NO_REMOTE_SESSION()
    return JSONResponse({"id": session.id, "transcript": [message.text for message in session.messages]})


def check_local_sessions(call: Call) -> None:
    """Refuse the call if there are no local sessions, or a part of theirs fails."""
    if not tenant_of(call.key.organization).parent.local_sessions:
        raise NO_LOCAL_SESSIONS()
    raise_local_sessions_failure(call)


def get_status(call: Call, session: Item) -> str:
    """Return the status of a remote session at the time of the call (1:3)."""
    return PENDING if call.now < session.ready_at else COMPLETED


def _list_sessions(call: Call, kind: str) -> Response:
    rows = [
        Row((session.created_at, session.id), _show_session(call, session))
        for session in archive_of(call).list_items(kind, call.now)
        if is_created_within(call.query, session.created_at)
    ]
    window = (call.query.get(SINCE), call.query.get(UNTIL))
    return JSONResponse(page_by_token(call, rows, call.query, (kind, call.key.organization.id, window)))


def _show_session(call: Call, session: Item) -> dict[str, Any]:
    status = {"status": get_status(call, session)} if session.kind == REMOTE_SESSION else {}
    return {**describe(session), **status}


def _find_session(call: Call, kind: str, id_prefix: str) -> Item | None:
    """Return a session; a malformed id is a 400 (2:7.2)."""
    session_id = call.params["session_id"]
    if not session_id.startswith(id_prefix):
        raise MALFORMED_SESSION_ID(kind=kind.removesuffix("_session"), prefix=id_prefix)
    return archive_of(call).find(kind, session_id, call.now)


BASE = "/v1/compliance"
APPS = f"{BASE}/apps"
CHAT_PATH = f"{APPS}/chats/{{chat_id}}"
FILE_PATH = f"{APPS}/files/{{file_id}}"
GENERATED_FILE_PATH = f"{APPS}/generated-files/{{product_id}}"
ARTIFACT_PATH = f"{APPS}/artifacts/{{product_id}}"
PROJECT_PATH = f"{APPS}/projects/{{project_id}}"
ORGANIZATION = f"{BASE}/organizations/{{organization_id}}"


def _row(
    method: str,
    path: str,
    handler: Handler,
    scopes: tuple[str, ...],
    parameters: tuple[Parameter, ...] = (),
    section: str = OURS,
    *,
    count: Callable[[Call], None] = admit_compliance_request,
    authenticate: Callable[[Request, Names], Key] = access.authenticate_for_compliance,
) -> Endpoint:
    """Make a row; its handler runs after budget, upstream trouble and query."""

    async def answer(call: Call) -> Response:
        count(call)
        trouble = take_upstream_trouble(call)
        if trouble is not None:
            return trouble
        call.query = read_query(call, *parameters)
        return await handler(call)

    return Endpoint(method, path, answer, section, scopes=scopes, authenticate=authenticate, admit=access.admit)


def _remote_row(path: str, handler: Handler, parameters: tuple[Parameter, ...] = ()) -> Endpoint:
    """Make a row of remote sessions, which "have a second budget" (2:7.2)."""
    return _row("GET", f"{APPS}/remote-sessions{path}", handler, USER_DATA, parameters, count=admit_remote_request)


# 1:2.5; the documents show one maximum of `limit`, and not whose it is
PAGED = (PAGE, limit(100))
ACTIVITY_QUERY = (*CREATED, Parameter(TYPES), AFTER_ID, BEFORE_ID, limit(MAX_ACTIVITIES))
CHAT_QUERY = (Parameter(USERS), Parameter(PROJECTS), *CREATED, AFTER_ID, BEFORE_ID, limit(100))
CAPS = (cap(INPUT_CAP), cap(RESULT_CAP))

COMPLIANCE_ROUTES = (
    # "query: created_at.gte, created_at.lt, activity_types[], after_id, before_id, limit"
    _row("GET", f"{BASE}/activities", list_activities, ACTIVITIES, ACTIVITY_QUERY, "1:4.1"),
    # "compliance paths for organizations, roles, groups, group members, settings, users"
    _row("GET", f"{BASE}/organizations", list_entries, ORG_DATA, PAGED),
    _row("GET", f"{ORGANIZATION}/roles", list_entries, ORG_DATA, PAGED),
    _row("GET", f"{ORGANIZATION}/roles/{{role_id}}", get_entry, ORG_DATA),
    _row("GET", f"{ORGANIZATION}/users", list_entries, USER_DATA, PAGED),
    _row(
        "GET",
        f"{ORGANIZATION}/settings",
        get_settings,
        ORG_DATA,
        authenticate=access.authenticate_for_settings,
    ),
    _row("GET", f"{BASE}/groups", list_entries, ORG_DATA, PAGED),
    _row("GET", f"{BASE}/groups/{{group_id}}", get_entry, ORG_DATA),
    _row("GET", f"{BASE}/groups/{{group_id}}/members", list_entries, USER_DATA, PAGED),
    # "compliance paths for chats (filter user_ids[], project_ids[]), chat messages, files (metadata and content),
    # generated files (metadata and content), artifacts (two endpoints), projects (detail, attachments, collaborators)"
    _row("GET", f"{APPS}/chats", list_chats, USER_DATA, CHAT_QUERY),
    _row("GET", f"{CHAT_PATH}/messages", list_chat_messages, USER_DATA, CAPS),
    _row("GET", FILE_PATH, show_item(FILE), USER_DATA),
    _row("GET", f"{FILE_PATH}/content", send_content(FILE), USER_DATA),
    _row("GET", GENERATED_FILE_PATH, show_item(GENERATED_FILE), USER_DATA),
    _row("GET", f"{GENERATED_FILE_PATH}/content", send_content(GENERATED_FILE), USER_DATA),
    _row("GET", ARTIFACT_PATH, show_item(ARTIFACT), USER_DATA),
    _row("GET", f"{ARTIFACT_PATH}/content", send_content(ARTIFACT), USER_DATA),
    _row("GET", PROJECT_PATH, show_item(PROJECT), USER_DATA),
    _row("GET", f"{PROJECT_PATH}/attachments", list_attachments, USER_DATA, PAGED, "1:4.1"),
    _row("GET", f"{PROJECT_PATH}/collaborators", list_collaborators, USER_DATA, PAGED),
    # "compliance paths for local sessions (list, messages) and remote sessions (list, transcript)"
    _row("GET", f"{APPS}/local-sessions", list_local_sessions, USER_DATA, (*CREATED, *PAGED)),
    _row(
        "GET",
        f"{APPS}/local-sessions/{{session_id}}/messages",
        list_session_messages,
        USER_DATA,
        (*PAGED, ORDER),
    ),
    _remote_row("", list_remote_sessions, (*CREATED, *PAGED)),
    _remote_row("/{session_id}/transcript", get_transcript),
    # "compliance paths for chats, files, projects, project documents | scope delete:compliance_user_data"
    _row("DELETE", CHAT_PATH, delete_item(CHAT), DELETE),
    _row("DELETE", FILE_PATH, delete_item(FILE), DELETE),
    _row("DELETE", PROJECT_PATH, delete_item(PROJECT), DELETE),
    _row("DELETE", f"{APPS}/projects/documents/{{document_id}}", delete_item(DOCUMENT), DELETE),
)
