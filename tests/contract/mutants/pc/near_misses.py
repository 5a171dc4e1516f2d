"""What stands in the place of PC's numbers, units and names, each a little beside what is documented."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.pc.errors import MISSING_REQUIRED_PARAMETER

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.errors import PcError

Handler = Callable[["Call"], Awaitable["Response"]]
Headers = Callable[[str, "TokenBucket", float], dict[str, str]]
Sse = Callable[[Mapping[str, Any], "PcError | None"], AsyncIterator[bytes]]


def _numbered(sse: Sse, number: Callable[[int], int | str]) -> Sse:
    async def events(response: Mapping[str, Any], failure: PcError | None) -> AsyncIterator[bytes]:
        async for event in sse(response, failure):
            name, _, data = event.decode().partition("data: ")
            told = json.loads(data)
            told["sequence_number"] = number(told["sequence_number"])
            yield f"{name}data: {json.dumps(told)}\n\n".encode()

    return events


def numbered_backwards(sse: Sse) -> Sse:
    return _numbered(sse, lambda number: 1_000 - number)


def numbered_alike(sse: Sse) -> Sse:
    return _numbered(sse, lambda number: 0)


def plain_seconds(as_duration: object) -> Callable[[float], str]:
    return lambda seconds: str(round(seconds))


def less_than_nothing(headers: Headers) -> Headers:
    return lambda family, bucket, now: {**headers(family, bucket, now), f"x-ratelimit-remaining-{family}": "-1"}


def in_milliseconds(retry_after: Callable[[float], dict[str, str]]) -> Callable[[float], dict[str, str]]:
    return lambda seconds: retry_after(seconds * 1000)


def of_another_id(handler: Handler) -> Handler:
    async def handled(call: Call) -> Response:
        body = json.loads(bytes((await handler(call)).body))
        return JSONResponse({**body, "id": f"{body['id']}0"})

    return handled


def another_field(missing: object) -> Callable[[str], PcError]:
    return lambda param: MISSING_REQUIRED_PARAMETER(f"Missing required parameter: '{param}'.", "metadata")


def without_limits(handler: Handler) -> Handler:
    async def handled(call: Call) -> Response:
        return JSONResponse({})

    return handled


def numbered_in_text(sse: Sse) -> Sse:
    return _numbered(sse, str)


def _with_param(envelope: Callable[[PcError], Any], change: Callable[[str], str]) -> Callable[[PcError], Any]:
    def told(error: PcError) -> Any:
        whole = envelope(error)
        param = whole["error"]["param"]
        return {"error": {**whole["error"], "param": None if param is None else change(param)}}

    return told


def with_an_empty_param(envelope: Callable[[PcError], Any]) -> Callable[[PcError], Any]:
    return _with_param(envelope, lambda param: "")


def with_a_param_as_a_path(envelope: Callable[[PcError], Any]) -> Callable[[PcError], Any]:
    return _with_param(envelope, lambda param: f"body.{param}")


def without_x(headers: Headers) -> Headers:
    return lambda family, bucket, now: {
        name.removeprefix("x-"): value for name, value in headers(family, bucket, now).items()
    }
