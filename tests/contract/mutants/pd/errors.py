"""What stands in the place of what the mock of PD refuses, and of its limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pd.errors import NO_CREDENTIALS, NOT_FOUND, UNPROCESSABLE, PdError
from catalog_probe.mockserver.pd.limits.rates import Meter, admit_generation

if TYPE_CHECKING:
    from starlette.responses import Response

Refusal = Callable[[str], PdError]


def wants_another_header(original: Callable[..., Any]) -> Callable[..., Any]:
    async def show(call: Any, request: Any) -> Response:
        if "x-api-key" not in request.headers:
            raise PdError(NO_CREDENTIALS, "Send the key in X-Api-Key.")
        answer: Response = await original(call, request)
        return answer

    return show


def unauthenticated(original: Refusal) -> Refusal:
    return lambda message: PdError(NO_CREDENTIALS, message)


def nowhere(original: Refusal) -> Refusal:
    return lambda message: PdError(NOT_FOUND, message)


def unprocessable_text(original: Refusal) -> Refusal:
    return lambda message: PdError(UNPROCESSABLE, message)


def unprocessable(original: Callable[..., None]) -> Callable[..., None]:
    def check(messages: Any) -> None:
        try:
            original(messages)
        except PdError as error:
            raise PdError(UNPROCESSABLE, error.message) from None

    return check


Admit = Callable[[Any, str], None]


def though_disabled(original: Admit) -> Admit:
    return lambda key, endpoint: original(replace(key, disabled=False), endpoint)


def though_blocked(original: Admit) -> Admit:
    return lambda key, endpoint: original(replace(key, blocked=False), endpoint)


def though_the_team_is_blocked(original: Admit) -> Admit:
    return lambda key, endpoint: original(replace(key, team=replace(key.team, blocked=False)), endpoint)


def whoever(original: frozenset[str]) -> Any:
    class Everybody(frozenset[str]):
        def __contains__(self, key: object) -> bool:
            return True

    return Everybody()


def with_retry_after(original: Callable[[PdError], Response]) -> Callable[[PdError], Response]:
    def response(error: PdError) -> Response:
        answer = original(error)
        if answer.status_code == 429:
            answer.headers["retry-after"] = "1"
        return answer

    return response


Meters = Callable[[Any, Any], Iterator[Meter]]


def over_all_models(original: Meters) -> Meters:
    return lambda call, model: original(call, replace(model, id="any"))


def per_key(original: Meters) -> Meters:
    def limits(call: Any, model: Any) -> Iterator[Meter]:
        team = replace(call.key.team, id=call.key.secret)
        return original(replace(call, key=replace(call.key, team=team)), model)

    return limits


def counted(original: Callable[..., Any]) -> Callable[..., Any]:
    async def create(call: Any, request: Any) -> Response:
        admit_generation(call, call.host.models["mock-small"], 1)
        answer: Response = await original(call, request)
        return answer

    return create
