"""Replacements for refusals of the mock of PD, and for its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pd.errors import (
    NO_CREDENTIALS,
)
from catalog_probe.mockserver.pd.limits import admit_generation

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.limits import Limit, Meter


def wants_another_header(original: Callable[..., Any]) -> Callable[..., Any]:
    async def replacement(call: Any) -> Response:
        if "x-api-key" not in call.request.headers:
            raise NO_CREDENTIALS()
        answer: Response = await original(call)
        return answer

    return replacement


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


def with_retry_after(original: Callable[[Refusal], Response]) -> Callable[[Refusal], Response]:
    def replacement(refusal: Refusal) -> Response:
        answer = original(refusal)
        if answer.status_code == 429:
            answer.headers["retry-after"] = "1"
        return answer

    return replacement


LimitFinder = Callable[[Any, Any], "list[Meter[Limit]]"]


def over_all_models(original: LimitFinder) -> LimitFinder:
    return lambda call, model: original(call, replace(model, id="any"))


def per_key(original: LimitFinder) -> LimitFinder:
    def replacement(call: Any, model: Any) -> list[Meter[Limit]]:
        team = replace(call.key.team, id=call.key.secret)
        return original(replace(call, key=replace(call.key, team=team)), model)

    return replacement


def counted(original: Callable[..., Any]) -> Callable[..., Any]:
    async def replacement(call: Any) -> Response:
        admit_generation(call, call.host.models["mock-small"], 1)
        answer: Response = await original(call)
        return answer

    return replacement
