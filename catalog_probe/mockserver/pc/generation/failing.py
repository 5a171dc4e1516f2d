"""Streams of responses that fail after 200 (1:6, 2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.completions import make_response_start
from catalog_probe.mockserver.pc.envelopes import error_event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.mockserver.core.errors import Refusal

ERROR_EVENT_ONLY = frozenset({"cyber_policy"})
"""Codes of `error` events (1:6) that no response.failed carries: they are no stream error codes (2:7.5)."""

SERVER_ERROR_CODE = "server_error"  # the stream error code of a failure that has no code over HTTP (2:7.5)


def make_failing_events(response: Mapping[str, Any], failure: Refusal) -> Iterator[dict[str, Any]]:
    """Yield the events of a response that fails after it has begun."""
    yield from make_response_start(response)
    code = failure.row.code or SERVER_ERROR_CODE
    yield {**error_event(failure), "code": code}
    if code not in ERROR_EVENT_ONLY:
        error = {"code": code, "message": failure.message}
        failed_fields: dict[str, Any] = {
            "status": "failed",
            "output": [],
            "usage": None,
            "incomplete_details": None,
            "completed_at": None,
        }
        yield {"type": "response.failed", "response": {**response, **failed_fields, "error": error}}
