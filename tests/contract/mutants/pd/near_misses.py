"""What stands in the place of PD's numbers, flags and ids, each a little beside what is documented."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.pd.auth.keys import Key
    from catalog_probe.mockserver.pd.call import Call
    from catalog_probe.mockserver.pd.errors import PdError
    from catalog_probe.mockserver.pd.limits.rates import Meter

Handler = Callable[["Call", "Request"], Awaitable["Response"]]
Positions = Callable[[str, int], tuple[int, int]]


def swapped(described: Callable[[Key], dict[str, Any]]) -> Callable[[Key], dict[str, Any]]:
    def record(key: Key) -> dict[str, Any]:
        return {**described(key), "api_key_blocked": key.disabled, "api_key_disabled": key.blocked}

    return record


def of_another_id(handler: Handler) -> Handler:
    async def handled(call: Call, request: Request) -> Response:
        body = json.loads(bytes((await handler(call, request)).body))
        return JSONResponse({**body, "id": f"{body['id']}-other"})

    return handled


def with_an_empty_error(response: Callable[[PdError], Response]) -> Callable[[PdError], Response]:
    def told(error: PdError) -> Response:
        error.message = ""
        return response(error)

    return told


def of_null_details(envelope: Callable[[int, int, str], Response]) -> Callable[[int, int, str], Response]:
    return lambda status, code, message: JSONResponse({"code": code, "message": message, "details": None}, status)


def of_an_empty_message(envelope: Callable[[int, int, str], Response]) -> Callable[[int, int, str], Response]:
    return lambda status, code, message: envelope(status, code, "")


def of_the_team(caps: Callable[[Call], Iterator[Meter]]) -> Callable[[Call], Iterator[Meter]]:
    """Each key of a team has the caps of all of them."""
    from catalog_probe.mockserver.pd.auth.keys import KEYS

    def capped(call: Call) -> Iterator[Meter]:
        for key in (each for each in KEYS.values() if each.team is call.key.team):
            yield from caps(replace(call, key=key))

    return capped


def of_the_first_column(line_and_column: Positions) -> Positions:
    return lambda text, offset: (line_and_column(text, offset)[0], 1)
