"""Remote sessions: their list and their transcripts, under a budget of their own (1:4.1, 2:7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.compliance.errors import MALFORMED_SESSION_ID, NO_REMOTE_SESSION
from catalog_probe.mockserver.pa.compliance.paging import Row, page_by_token
from catalog_probe.mockserver.pa.compliance.query import SINCE, UNTIL, created_within
from catalog_probe.mockserver.pa.compliance.seeds import archive_of

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.compliance.archive import RemoteSession

ID_PREFIX = "cse_"
PENDING = "pending"
LATER = "completed"
"""Of the statuses only `pending` is shown (1:3); this one is ours."""


async def list_sessions(call: Call) -> Response:
    """One page of the sessions in a window of time, newest first, the pending ones included."""
    rows = [
        Row(
            (session.created_at, session.id),
            {"id": session.id, "status": status_of(call, session), "created_at": rfc3339(session.created_at)},
        )
        for session in archive_of(call).remote_sessions.values()
        if created_within(call.query, session.created_at)
    ]
    window = (call.query.get(SINCE), call.query.get(UNTIL))
    return JSONResponse(page_by_token(call, rows, call.query, ("remote sessions", call.key.organization.id, window)))


async def get_transcript(call: Call) -> Response:
    """The transcript of a session that is no longer pending."""
    session_id = call.params["session_id"]
    if not session_id.startswith(ID_PREFIX):
        raise MALFORMED_SESSION_ID(kind="remote", prefix=ID_PREFIX)
    session = archive_of(call).remote_sessions.get(session_id)
    if session is None or status_of(call, session) == PENDING:
        raise NO_REMOTE_SESSION()
    return JSONResponse({"id": session.id, "transcript": list(session.transcript)})


def status_of(call: Call, session: RemoteSession) -> str:
    """What a session is at this moment (1:3)."""
    return PENDING if call.now < session.ready_at else LATER
