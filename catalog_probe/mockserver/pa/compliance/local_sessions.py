"""Local sessions: their list and their messages, both walked by a `page` cursor (1:2.5, 1:4.1, 2:7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.compliance.causes import raise_local_sessions_failure
from catalog_probe.mockserver.pa.compliance.errors import (
    MALFORMED_SESSION_ID,
    NO_CONTENT,
    NO_LOCAL_SESSION,
    NO_LOCAL_SESSIONS,
)
from catalog_probe.mockserver.pa.compliance.paging import Row, page_by_token
from catalog_probe.mockserver.pa.compliance.query import SINCE, UNTIL, created_within
from catalog_probe.mockserver.pa.compliance.seeds import archive_of
from catalog_probe.mockserver.pa.compliance.tenants import ContentKey, tenant_of

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call

MESSAGE_CURSOR_LIFETIME_S = 24 * 3600
"""2:8.1; of no other cursor do the documents say that it expires."""
ID_PREFIX = "clls_"


async def list_sessions(call: Call) -> Response:
    """One page of the sessions in a window of time, newest first."""
    _guard(call)
    rows = [
        Row(
            (session.created_at, session.id),
            {"id": session.id, "user": {"id": session.user.id}, "created_at": rfc3339(session.created_at)},
        )
        for session in archive_of(call).readable_local_sessions(call.now)
        if created_within(call.query, session.created_at)
    ]
    window = (call.query.get(SINCE), call.query.get(UNTIL))
    return JSONResponse(page_by_token(call, rows, call.query, ("local sessions", call.key.organization.id, window)))


async def list_messages(call: Call) -> Response:
    """One page of a session's transcript, oldest first unless asked otherwise."""
    _guard(call)
    session_id = call.params["session_id"]
    if not session_id.startswith(ID_PREFIX):
        raise MALFORMED_SESSION_ID(kind="local", prefix=ID_PREFIX)
    readable = {session.id: session for session in archive_of(call).readable_local_sessions(call.now)}
    session = readable.get(session_id)
    if session is None:
        raise NO_LOCAL_SESSION()
    if tenant_of(call.key.organization).parent.content_key is not ContentKey.OURS:
        raise NO_CONTENT()
    rows = [
        Row((message.created_at, message.id), {"id": message.id, "role": message.role, "text": message.text})
        for message in session.messages
    ]
    descending = call.query.get("order") == "desc"
    binding = ("local session", session.id)
    return JSONResponse(
        page_by_token(call, rows, call.query, binding, descending=descending, lifetime_s=MESSAGE_CURSOR_LIFETIME_S)
    )


def _guard(call: Call) -> None:
    if not tenant_of(call.key.organization).parent.local_sessions:
        raise NO_LOCAL_SESSIONS()
    raise_local_sessions_failure(call)
