"""Replacements for paths, versions and models of the mock of PB."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import PlainTextResponse, Response

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.pb.call import AsciiJsonResponse
from catalog_probe.mockserver.pb.errors import UNKNOWN_PATH
from catalog_probe.mockserver.pb.models import MODELS

Exists = Callable[[Any, str], bool]


def as_text(original: Callable[[Any], Awaitable[Response]]) -> Callable[[Any], Awaitable[Response]]:
    async def replacement(call: Any) -> Response:
        return PlainTextResponse(str(json.loads(bytes((await original(call)).body))))

    return replacement


def nowhere(original: re.Pattern[str]) -> re.Pattern[str]:
    return re.compile(r"/nowhere/(v1)")


def as_plain_text(original: Callable[..., Response]) -> Callable[..., Response]:
    def replacement(*args: Any) -> Response:
        answer = original(*args)
        answer.headers["content-type"] = "text/plain"
        return answer

    return replacement


def empty_list(original: Callable[..., Any]) -> Callable[..., Any]:
    async def replacement(call: Any) -> Response:
        return AsciiJsonResponse({"models": []})

    return replacement


def not_found(original: Callable[..., Any]) -> Callable[..., Any]:
    async def replacement(call: Any) -> Response:
        raise UNKNOWN_PATH()

    return replacement


def envelope_of_others(original: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
    return lambda refusal: {"type": "error", "code": refusal.row.type, "text": refusal.message}


def another_instead(original: Callable[..., Any]) -> Callable[..., Any]:
    def replacement(*args: Any, **options: Any) -> Any:
        try:
            return original(*args, **options)
        except Refusal:
            return MODELS["mock-lite"]

    return replacement


def without_previews(original: Exists) -> Exists:
    return lambda model, version: not model.preview


def previews_in_v1_alone(original: Exists) -> Exists:
    return lambda model, version: not model.preview or version == "v1"
