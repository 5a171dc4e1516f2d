"""Replacements for deferred completions of the mock of PD."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.pd.completions import Deferred

Fetch = Callable[[Any, str], Any]


def with_a_status(original: Callable[..., Any]) -> Callable[..., Any]:
    return _with_a_body(original, {"status": "pending"})


def with_a_code(original: Callable[..., Any]) -> Callable[..., Any]:
    return _with_a_body(original, {"code": "pending", "error": "It is not ready."})


def _with_a_body(original: Callable[..., Any], body: dict[str, str], status: int = 202) -> Callable[..., Any]:
    async def replacement(call: Any) -> Response:
        answer: Response = await original(call)
        return JSONResponse(body, status) if answer.status_code == status else answer

    return replacement


def nothing_in_it(original: Callable[..., Any]) -> Callable[..., Any]:
    return _with_a_body(original, {}, 200)


def taken_while_pending(original: Fetch) -> Fetch:
    def replacement(call: Any, request_id: str) -> Any:
        result = original(call, request_id)
        _waiting(call).pop(request_id, None)
        return result

    return replacement


def kept_when_fetched(original: Fetch) -> Fetch:
    def replacement(call: Any, request_id: str) -> Any:
        kept = dict(_waiting(call))
        result = original(call, request_id)
        _waiting(call).update(kept)
        return result

    return replacement


def _waiting(call: Any) -> Any:
    return call.session.store(Deferred, call.key.team.id)
