"""Replacements for PC's numbers, units and names, each slightly wrong."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.pc.errors import UNKNOWN_URL, WRONG_METHOD

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import ErrorRow, Refusal
    from catalog_probe.mockserver.core.limits import TokenBucket
    from catalog_probe.mockserver.pc.call import Call

Handler = Callable[["Call"], Awaitable["Response"]]
Headers = Callable[[str, "TokenBucket", float], dict[str, str]]
Number = Callable[[Iterator[dict[str, Any]]], Iterator[dict[str, Any]]]


def _renumber(number: Callable[[int], int | str]) -> Callable[[Number], Number]:
    def replacement(numbered: Number) -> Number:
        return lambda events: (
            {**event, "sequence_number": number(event["sequence_number"])} for event in numbered(events)
        )

    return replacement


numbered_backwards = _renumber(lambda number: 1_000 - number)
numbered_alike = _renumber(lambda number: 0)
numbered_in_text = _renumber(str)


def plain_seconds(as_duration: object) -> Callable[[float], str]:
    return lambda seconds: str(round(seconds))


def nothing_used(headers: Headers) -> Headers:
    return lambda family, bucket, now: {
        **headers(family, bucket, now),
        f"x-ratelimit-remaining-{family}": f"{bucket.capacity:.0f}",
    }


def less_than_nothing(headers: Headers) -> Headers:
    return lambda family, bucket, now: {**headers(family, bucket, now), f"x-ratelimit-remaining-{family}": "-1"}


def in_milliseconds(retry_after: Callable[[float], dict[str, str]]) -> Callable[[float], dict[str, str]]:
    return lambda seconds: retry_after(seconds * 1000)


def of_another_id(handler: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        body = json.loads(bytes((await handler(call)).body))
        return JSONResponse({**body, "id": f"{body['id']}0"})

    return replacement


def another_field(row: ErrorRow) -> Callable[..., Refusal]:
    return lambda **values: row(**{**values, "param": "metadata"})


def without_limits(handler: Handler) -> Handler:
    async def replacement(call: Call) -> Response:
        return JSONResponse({})

    return replacement


def _with_param(envelope: Callable[[Refusal], Any], change: Callable[[str], str]) -> Callable[[Refusal], Any]:
    def replacement(error: Refusal) -> Any:
        original = envelope(error)
        param = original["error"]["param"]
        return {"error": {**original["error"], "param": None if param is None else change(param)}}

    return replacement


def with_an_empty_param(envelope: Callable[[Refusal], Any]) -> Callable[[Refusal], Any]:
    return _with_param(envelope, lambda param: "")


def with_a_param_as_a_path(envelope: Callable[[Refusal], Any]) -> Callable[[Refusal], Any]:
    return _with_param(envelope, lambda param: f"body.{param}")


def without_x(headers: Headers) -> Headers:
    return lambda family, bucket, now: {
        name.removeprefix("x-"): value for name, value in headers(family, bucket, now).items()
    }


# What follows breaks a rule for one member of the set over which a fact holds: one method, one path, one transport.


def puts_are_405(admit: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    def replacement(self: Any, call: Any, match: Any) -> Any:
        if match.row is None and call.request.method == "PUT":
            raise WRONG_METHOD(method="PUT")
        return admit(self, call, match)

    return replacement


def other_paths_are_404(admit: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    def replacement(self: Any, call: Any, match: Any) -> Any:
        if match.row is None and "/v1/" in call.request.scope["path"]:
            raise UNKNOWN_URL()
        return admit(self, call, match)

    return replacement


Store = Callable[["Call", dict[str, Any], dict[str, Any]], None]


def keeps_streams(store: Store) -> Store:
    return lambda call, body, response: store(call, {} if body.get("stream") else body, response)


def keeps_continuations(store: Store) -> Store:
    return lambda call, body, response: store(call, {} if body.get("previous_response_id") else body, response)
