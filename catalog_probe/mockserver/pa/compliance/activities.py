"""GET /v1/compliance/activities: what people did, newest first; polled, not pushed (1:4.1, 1:6)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.compliance.archive import ACTIVITY_KINDS
from catalog_probe.mockserver.pa.compliance.errors import BAD_PARAMETER, MALFORMED_ACTIVITY_ID, UNKNOWN_ACTIVITY
from catalog_probe.mockserver.pa.compliance.paging import Redeem, Row, page_of_window
from catalog_probe.mockserver.pa.compliance.query import created_within
from catalog_probe.mockserver.pa.compliance.seeds import archive_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.responses import Response

    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.compliance.archive import Activity

MAX_LIMIT = 1_000
"""The one maximum that is shown (1:2.5); on which endpoint is not."""
ACTIVITY_ID = re.compile(r"activity_[0-9A-Za-z]{24}")
TYPES = "activity_types[]"


async def list_activities(call: Call) -> Response:
    """One page of the activities in a window of time, of some types."""
    types = {call.names.id_prefix + kind: kind for kind in ACTIVITY_KINDS}
    refuse_other_types(call, types)
    kinds = {types.get(name) for name in call.query.get(TYPES, types)}
    rows = [
        Row((activity.created_at, activity.id), describe(call, activity))
        for activity in archive_of(call).activities
        if created_within(call.query, activity.created_at) and activity.kind in kinds
    ]
    rows.sort(key=lambda row: row.key, reverse=True)
    return JSONResponse(page_of_window(rows, call.query, _position_among(rows), lambda row: row.shown["id"]))


def refuse_other_types(call: Call, types: Collection[str]) -> None:
    """Raise that a type is outside the enumerated set."""
    if not set(types).issuperset(call.query.get(TYPES, ())):
        raise BAD_PARAMETER(name=TYPES, constraint=f"must be one of {', '.join(sorted(types))}")


def _position_among(rows: list[Row]) -> Redeem:
    """Activity ids are their own cursors: checked against their format, then looked for in this very list."""

    def redeem(name: str, activity_id: str) -> tuple[float, str]:
        if not ACTIVITY_ID.fullmatch(activity_id):
            raise MALFORMED_ACTIVITY_ID(name=name)
        key = next((row.key for row in rows if row.shown["id"] == activity_id), None)
        if key is None:
            raise UNKNOWN_ACTIVITY(name=name)
        return key

    return redeem


def describe(call: Call, activity: Activity) -> dict[str, Any]:
    """An activity as it is listed."""
    return {
        "id": activity.id,
        "type": call.names.id_prefix + activity.kind,
        "created_at": rfc3339(activity.created_at),
        "actor": {"id": activity.actor},
        "subject": {"id": activity.subject},
    }
