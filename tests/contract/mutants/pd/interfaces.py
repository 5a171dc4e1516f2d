"""What stands in the place of paths, hosts and models of the mock of PD."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, PlainTextResponse, Response

from catalog_probe.mockserver.pd.errors import NOT_FOUND, PdError, invalid

if TYPE_CHECKING:
    from collections.abc import Callable

    from catalog_probe.mockserver.pd.auth.keys import Key, Team
    from catalog_probe.mockserver.pd.models import Host, Model


def as_text(original: type[Response]) -> Callable[..., Response]:
    return lambda content, status=200: PlainTextResponse(str(content), status)


def under_another_package(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda world, package, *more: original(world, "another_package", *more)


def empty_list(original: Callable[..., Any]) -> Callable[..., Any]:
    async def list_models(call: Any, request: Any) -> Response:
        return JSONResponse({"object": "list", "data": []})

    return list_models


def in_the_envelope_of_others(original: Callable[[PdError], Response]) -> Callable[[PdError], Response]:
    def response(error: PdError) -> Response:
        body = {"error": {"type": error.kind.code, "message": error.message}}
        return (
            JSONResponse(body, error.kind.status) if error.shape == "{code: string, error: string}" else original(error)
        )

    return response


def not_to_multi_agent(original: Callable[[Key, Model], None]) -> Callable[[Key, Model], None]:
    def admit(key: Key, model: Model) -> None:
        from catalog_probe.mockserver.pd.generation import rules

        original(key, model)
        rules.refuse_multi_agent(model)

    return admit


def the_inference_api(original: Callable[..., Any]) -> Callable[..., Any]:
    from catalog_probe.mockserver.pd.gateway import Gateway
    from catalog_probe.mockserver.pd.models import EVERYWHERE
    from catalog_probe.mockserver.pd.routes import ROUTES

    return lambda world: Gateway(EVERYWHERE, ROUTES)


def all_models(original: Callable[[Host, Team], list[Model]]) -> Callable[[Host, Team], list[Model]]:
    return lambda host, team: [replace(model, only_for=frozenset()) for model in host.models.values()]


def with_a_number(original: Callable[[], PdError]) -> Callable[[], PdError]:
    numbers = itertools.count()
    return lambda: PdError(NOT_FOUND, f"Not found, for reason {next(numbers)}.")


def is_400(original: Callable[[], PdError]) -> Callable[[], PdError]:
    return lambda: invalid(original().message)
