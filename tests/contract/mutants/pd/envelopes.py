"""What stands in the place of the bodies of refusals of the mock of PD."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.pd.errors import Kind, PdError

Answer = Callable[[PdError], Response]
Envelope = Callable[[int, int, str], Response]


def _rewritten(original: Answer, rewrite: Callable[[dict[str, Any]], dict[str, Any]]) -> Answer:
    def response(error: PdError) -> Response:
        answer = original(error)
        body = json.loads(bytes(answer.body)) if error.shape == "{code: string, error: string}" else None
        return JSONResponse(rewrite(body), answer.status_code) if body else answer

    return response


def without_code(original: Answer) -> Answer:
    return _rewritten(original, lambda body: {"error": body["error"]})


def error_is_an_object(original: Answer) -> Answer:
    return _rewritten(original, lambda body: {**body, "error": {"message": body["error"]}})


def without_message(original: Envelope) -> Envelope:
    return lambda status, code, message: JSONResponse({"code": code, "details": []}, status)


def details_is_an_object(original: Envelope) -> Envelope:
    return lambda status, code, message: JSONResponse({"code": code, "message": message, "details": {}}, status)


def named_unprocessable(original: Kind) -> Kind:
    return replace(original, code="unprocessable")


def named_method_not_allowed(original: Kind) -> Kind:
    return replace(original, code="method-not-allowed")


def named_media_type(original: Kind) -> Kind:
    return replace(original, code="unsupported-media-type")


def named_internal(original: tuple[Kind, str]) -> tuple[Kind, str]:
    return replace(original[0], code="internal"), original[1]


def without_field(told: str) -> str:
    return re.sub(r"type: .*: invalid", "type: invalid", told)


def without_line(told: str) -> str:
    return re.sub(r" line \d+", "", told)


def without_column(told: str) -> str:
    return re.sub(r" column \d+", "", told)
