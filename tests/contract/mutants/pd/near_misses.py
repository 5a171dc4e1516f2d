"""Replacements for PD's numbers, flags and ids, each slightly wrong."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.limits import Limit, Meter
    from catalog_probe.mockserver.pd.gateway import Call
    from catalog_probe.mockserver.pd.keys import Key

Handler = Callable[["Call"], Awaitable["Response"]]
Positions = Callable[[str, int], tuple[int, int]]


def swapped(described: Callable[[Key], dict[str, Any]]) -> Callable[[Key], dict[str, Any]]:
    def replacement(key: Key) -> dict[str, Any]:
        return {**described(key), "api_key_blocked": key.disabled, "api_key_disabled": key.blocked}

    return replacement


def of_another_id(handler: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        body = json.loads(bytes((await handler(call)).body))
        return JSONResponse({**body, "id": f"{body['id']}-other"})

    return replacement


def with_an_empty_error(respond: Callable[[Refusal], Response]) -> Callable[[Refusal], Response]:
    def replacement(refusal: Refusal) -> Response:
        refusal.message = ""
        return respond(refusal)

    return replacement


def of_null_details(envelope: Callable[[int, int, str], Response]) -> Callable[[int, int, str], Response]:
    return lambda status, code, message: JSONResponse({"code": code, "message": message, "details": None}, status)


def of_an_empty_message(envelope: Callable[[int, int, str], Response]) -> Callable[[int, int, str], Response]:
    return lambda status, code, message: envelope(status, code, "")


def of_the_team(caps: Callable[[Call], list[Meter[Limit]]]) -> Callable[[Call], list[Meter[Limit]]]:
    """Each key of a team has the caps of all of them."""
    from catalog_probe.mockserver.pd.keys import KEYS

    def replacement(call: Call) -> list[Meter[Limit]]:
        keys = [key for key in KEYS.values() if key.team is call.key.team]
        return [meter for key in keys for meter in caps(replace(call, key=key))]

    return replacement


def of_the_first_column(line_and_column: Positions) -> Positions:
    return lambda text, offset: (line_and_column(text, offset)[0], 1)
