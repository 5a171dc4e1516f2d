"""What stands in the place of paths, versions and models of the mock of PB."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from starlette.responses import PlainTextResponse, Response, StreamingResponse

Exists = Callable[[Any, str], bool]


def as_text(original: type[Response]) -> Callable[..., Response]:
    return lambda content, status=200: PlainTextResponse(str(content), status)


def nowhere(original: re.Pattern[str]) -> re.Pattern[str]:
    return re.compile(r"/nowhere/(v1)")


def as_plain_text(original: type[StreamingResponse]) -> Callable[..., Response]:
    return lambda events, media_type: original(events, media_type="text/plain")


def empty_list(original: Callable[..., Any]) -> Callable[..., Any]:
    from catalog_probe.mockserver.pb.call import JsonAnswer

    async def list_models(call: Any) -> Response:
        return JsonAnswer({"models": []})

    return list_models


def not_found(original: Callable[..., Any]) -> Callable[..., Any]:
    from catalog_probe.mockserver.pb.errors import NOT_FOUND, PbError

    async def handler(call: Any) -> Response:
        raise PbError(NOT_FOUND, "The requested URL was not found on this server.")

    return handler


def envelope_of_others(original: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
    return lambda error: {"type": "error", "code": error.kind.status, "text": error.message}


def another_instead(original: Callable[..., Any]) -> Callable[..., Any]:
    from catalog_probe.mockserver.pb.errors import PbError
    from catalog_probe.mockserver.pb.models import MODELS

    def find_model(*args: Any, **options: Any) -> Any:
        try:
            return original(*args, **options)
        except PbError:
            return MODELS["mock-lite"]

    return find_model


def without_previews(original: Exists) -> Exists:
    return lambda model, version: not model.preview


def previews_in_v1_alone(original: Exists) -> Exists:
    return lambda model, version: not model.preview or version == "v1"
