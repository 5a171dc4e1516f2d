"""GET /v1/compliance/activities: what people did, newest first (1:4.1, 1:6)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.compliance.archive import ACTIVITY_KINDS
from catalog_probe.mockserver.pa.compliance.errors import BAD_PARAMETER, MALFORMED_ACTIVITY_ID, UNKNOWN_ACTIVITY
from catalog_probe.mockserver.pa.compliance.paging import Row, page_of_window
from catalog_probe.mockserver.pa.compliance.query import is_created_within
from catalog_probe.mockserver.pa.compliance.seeds import archive_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call

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
