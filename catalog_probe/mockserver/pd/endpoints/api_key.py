"""GET /v1/api-key: the record of the key that asks; a blocked or disabled key may still ask (1:2.6, 1:4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.pd.auth.keys import Key
    from catalog_probe.mockserver.pd.call import Call


async def show(call: Call, request: Request) -> Response:
    """The key's record."""
    return JSONResponse(described(call.key))


def described(key: Key) -> dict[str, Any]:
    """The fields that the documents name, and enough to tell keys apart; never the secret itself."""
    return {
        "redacted_api_key": f"...{key.secret[-4:]}",
        "name": key.name,
        "team_id": key.team.id,
        "acls": list(key.acls),
        "api_key_blocked": key.blocked,
        "api_key_disabled": key.disabled,
        "team_blocked": key.team.blocked,
    }
