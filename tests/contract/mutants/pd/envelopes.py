"""Replacements for the bodies of refusals of the mock of PD."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.errors import ENVELOPE, ErrorRow, Refusal

Respond = Callable[[Refusal], Response]
Envelope = Callable[[int, int, str], Response]


def _rewritten(original: Respond, rewrite: Callable[[dict[str, Any]], dict[str, Any]]) -> Respond:
    def replacement(refusal: Refusal) -> Response:
        answer = original(refusal)
        body = json.loads(bytes(answer.body)) if refusal.row.shape == ENVELOPE else None
        return JSONResponse(rewrite(body), answer.status_code) if body else answer

    return replacement


def without_code(original: Respond) -> Respond:
    return _rewritten(original, lambda body: {"error": body["error"]})


def error_is_an_object(original: Respond) -> Respond:
    return _rewritten(original, lambda body: {**body, "error": {"message": body["error"]}})


def without_message(original: Envelope) -> Envelope:
    return lambda status, code, message: JSONResponse({"code": code, "details": []}, status)


def details_is_an_object(original: Envelope) -> Envelope:
    return lambda status, code, message: JSONResponse({"code": code, "message": message, "details": {}}, status)


def named_unprocessable(original: ErrorRow) -> ErrorRow:
    return replace(original, code="unprocessable", shape=ENVELOPE)


def named_method_not_allowed(original: ErrorRow) -> ErrorRow:
    return replace(original, code="method-not-allowed", shape=ENVELOPE)


def named_media_type(original: ErrorRow) -> ErrorRow:
    return replace(original, code="unsupported-media-type", shape=ENVELOPE)


def named_internal(original: ErrorRow) -> ErrorRow:
    return replace(original, code="internal", shape=ENVELOPE)


def without_field(template: str) -> str:
    return template.replace("{field}", "")


def without_line(template: str) -> str:
    return template.replace(" line {line}", "")


def without_column(template: str) -> str:
    return template.replace(" column {column}", "")
