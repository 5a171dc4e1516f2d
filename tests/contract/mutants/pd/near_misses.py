"""What stands in the place of PD's numbers, flags and ids, each a little beside what is documented."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from mockserver.pd.call import Call
    from mockserver.pd.keys import Key

Handler = Callable[["Call", "Request"], Awaitable["Response"]]


def swapped(described: Callable[[Key], dict[str, Any]]) -> Callable[[Key], dict[str, Any]]:
    def record(key: Key) -> dict[str, Any]:
        return {**described(key), "api_key_blocked": key.disabled, "api_key_disabled": key.blocked}

    return record


def of_another_id(handler: Handler) -> Handler:
    async def handled(call: Call, request: Request) -> Response:
        body = json.loads(bytes((await handler(call, request)).body))
        return JSONResponse({**body, "id": f"{body['id']}-other"})

    return handled
