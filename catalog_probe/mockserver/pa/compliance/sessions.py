"""Local and remote sessions: lists, messages, transcripts (1:2.4, 1:4.1, 2:7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.pa.compliance.archive import LOCAL_SESSION, REMOTE_SESSION, describe
from catalog_probe.mockserver.pa.compliance.causes import raise_local_sessions_failure
from catalog_probe.mockserver.pa.compliance.errors import (
    MALFORMED_SESSION_ID,
    NO_CONTENT,
    NO_LOCAL_SESSION,
    NO_LOCAL_SESSIONS,
    NO_REMOTE_SESSION,
)
from catalog_probe.mockserver.pa.compliance.paging import Row, page_by_token
from catalog_probe.mockserver.pa.compliance.query import SINCE, UNTIL, is_created_within
from catalog_probe.mockserver.pa.compliance.seeds import archive_of
from catalog_probe.mockserver.pa.compliance.tenants import tenant_of

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.compliance.archive import Item

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
