"""PB's endpoint that issues ephemeral tokens for the live API (1:4.2, 1:5.2)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pb import ephemeral
from catalog_probe.mockserver.pb.bodies import AsciiJsonResponse, read_object
from catalog_probe.mockserver.pb.errors import NO_TIMESTAMP
from catalog_probe.mockserver.pb.fields import AUTH_TOKEN

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call


async def create_auth_token(call: Call) -> Response:
    """Issue a token."""
    body = await read_object(call, AUTH_TOKEN)
    token = ephemeral.issue(
        call.session, call.project, call.now, expires_at=_read_expiry(body), uses=body.get("uses", 1)
    )
    return AsciiJsonResponse({"name": token.name, "expireTime": rfc3339(token.expires_at), "uses": token.uses})


def _read_expiry(body: dict[str, Any]) -> float | None:
    """Return the requested expiry in seconds since the epoch, if there is one."""
    if "expireTime" not in body:
        return None
    try:
        moment = datetime.fromisoformat(body["expireTime"])
    except ValueError:
        raise NO_TIMESTAMP(path="expireTime", value=body["expireTime"]) from None
    return moment.timestamp()
