"""Replacements for paths, versions and models of the mock of PB."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.responses import PlainTextResponse, Response

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.pb.bodies import AsciiJsonResponse
from catalog_probe.mockserver.pb.errors import INVALID, UNKNOWN_PATH
from catalog_probe.mockserver.pb.models import MODELS

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow

Exists = Callable[[Any, str], bool]


def as_text(original: type[Response]) -> Callable[..., Response]:
    return lambda content, status=200: PlainTextResponse(str(content), status)


def nowhere(original: re.Pattern[str]) -> re.Pattern[str]:
    return re.compile(r"/nowhere/(v1)")


def as_plain_text(original: Callable[..., Response]) -> Callable[..., Response]:
    def replacement(*args: Any) -> Response:
        answer = original(*args)
        answer.headers["content-type"] = "text/plain"
        return answer

    return replacement


def invalid(original: ErrorRow) -> ErrorRow:
    return INVALID.with_message(original.message)


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
