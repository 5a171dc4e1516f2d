"""POST /v1beta/auth_tokens: makes an ephemeral token for the live API (1:4.2, 1:5.2)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pb import fields
from catalog_probe.mockserver.pb.auth import ephemeral
from catalog_probe.mockserver.pb.call import JsonAnswer, read_object
from catalog_probe.mockserver.pb.errors import invalid

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call


def _moment(at: str, value: Any) -> None:
    fields.string(at, value)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise invalid(f"Invalid value at '{at}': {value!r} is not an RFC 3339 timestamp") from None
    if moment.tzinfo is None:
        raise invalid(f"Invalid value at '{at}': {value!r} has no UTC offset")


BODY: fields.Fields = {
    "expireTime": _moment,
    "newSessionExpireTime": _moment,
    "uses": fields.at_least(0),
    "bidiGenerateContentSetup": fields.mapping,
    "fieldMask": fields.string,
}
"""The documents show no body; these are the fields that clients send, all optional."""


async def create(call: Call) -> Response:
    """Make a token; whoever holds it may open live connections until it expires."""
    given = fields.read(await read_object(call), BODY)
    moments = {
        name: datetime.fromisoformat(given[name]).timestamp() for name in BODY if name in given and "Time" in name
    }
    for name, moment in moments.items():
        if moment <= call.now:
            raise invalid(f"{name}: must lie in the future")
    token = ephemeral.issue(
        call.session,
        call.project,
        call.now,
        expires_at=moments.get("expireTime"),
        new_session_until=moments.get("newSessionExpireTime"),
        uses=given.get("uses", 1),
    )
    return JsonAnswer(
        {
            "name": token.name,
            "expireTime": rfc3339(token.expires_at),
            "newSessionExpireTime": rfc3339(token.new_session_until),
            "uses": token.uses,
        }
    )
