"""Replacements for paths, hosts and models of the mock of PD."""

from __future__ import annotations

import itertools
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, PlainTextResponse, Response

from catalog_probe.mockserver.core.errors import ENVELOPE, ErrorRow, Refusal

if TYPE_CHECKING:
    from catalog_probe.mockserver.pd.keys import Key, Team
    from catalog_probe.mockserver.pd.models import Host, Model


def as_text(original: Callable[[Any], Awaitable[Response]]) -> Callable[[Any], Awaitable[Response]]:
    async def replacement(call: Any) -> Response:
        answer = await original(call)
        return PlainTextResponse(str(json.loads(bytes(answer.body)))) if isinstance(answer, JSONResponse) else answer

    return replacement


def under_another_package(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda world, package, *more: original(world, "another_package", *more)


def empty_list(original: Callable[..., Any]) -> Callable[..., Any]:
    async def replacement(call: Any) -> Response:
        return JSONResponse({"object": "list", "data": []})

    return replacement


def in_the_envelope_of_others(original: Callable[[Refusal], Response]) -> Callable[[Refusal], Response]:
    def replacement(refusal: Refusal) -> Response:
        body = {"error": {"type": refusal.row.code, "message": refusal.message}}
        enveloped = refusal.row.shape == ENVELOPE
        return JSONResponse(body, refusal.row.status) if enveloped else original(refusal)

    return replacement


def not_to_multi_agent(original: Callable[[Key, Model], None]) -> Callable[[Key, Model], None]:
    def replacement(key: Key, model: Model) -> None:
        from catalog_probe.mockserver.pd import completions

        original(key, model)
        completions.refuse_multi_agent(model)

    return replacement


def the_inference_api(original: Callable[..., Any]) -> Callable[..., Any]:
    from catalog_probe.mockserver.pd.gateway import Gateway
    from catalog_probe.mockserver.pd.models import EVERYWHERE
    from catalog_probe.mockserver.pd.provider import ROUTES

    return lambda world: Gateway(EVERYWHERE, ROUTES)


def all_models(original: Callable[[Host, Team], list[Model]]) -> Callable[[Host, Team], list[Model]]:
    return lambda host, team: [replace(model, only_for=frozenset()) for model in host.models.values()]


def with_a_number(original: ErrorRow) -> Callable[[], Refusal]:
    numbers = itertools.count()
    return lambda: Refusal(original, f"Not found, for reason {next(numbers)}.")
